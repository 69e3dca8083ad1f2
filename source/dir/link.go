package dir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// inside reports whether path is dir or lies below it. Both are free of links.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// A fence says where links below one root may lead (spec C-7). Both paths are
// free of links.
type fence struct {
	root     string
	boundary string // empty lets links lead anywhere
}

// check refuses a target outside the fence.
func (f *fence) check(target string) error {
	if f.boundary == "" || inside(f.root, target) || inside(f.boundary, target) {
		return nil
	}
	return refuse(leavesRoot, "the link leads to %s, outside %s", target, f.boundary)
}

// target returns where the link leads, if it may, and what is there.
func (f *fence) target(link string) (string, fs.FileInfo, error) {
	target, err := resolve(link)
	if err == nil {
		err = f.check(target)
	}
	if err != nil {
		return "", nil, err
	}
	st, err := os.Stat(target)
	return target, st, err
}

// file returns the regular file to which the link leads, if it may. The check
// comes before opening: opening a device can have effects of its own.
func (f *fence) file(link string) (string, error) {
	target, st, err := f.target(link)
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() {
		return "", refuse(notRegular, "the link leads to %s, which is not a regular file", target)
	}
	return target, nil
}

// directory resolves the link found in group from. It refuses targets that are
// outside the fence, or in which the link itself lies, and returns errNotDir
// for a link to something other than a directory.
func (f *fence) directory(from *group, link string) (string, error) {
	target, st, err := f.target(link)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", errNotDir
	}
	for g := from; g != nil; g = g.parent {
		if inside(target, g.real) {
			return "", refuse(linkLoop, "the link leads to %s, in which it lies itself", target)
		}
	}
	return target, nil
}

var errNotDir = errors.New("not a directory")

// resolve returns path without links. A link that leads nowhere or in circles
// is a refusal, and so is a link of path itself whose text is not a path.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		return real, nil
	case tooManyLinks(err):
		return "", refuse(linkLoop, "the link %s leads back to itself", filepath.Base(path))
	case errors.Is(err, fs.ErrNotExist):
		if target, lerr := os.Readlink(path); lerr == nil {
			return "", refuse(danglingLink, "the link leads to %s, which does not exist", target)
		}
	}
	return "", err
}

// tooManyLinks reports whether err means a loop. EvalSymlinks counts links
// itself and has no sentinel for it; the kernel says ELOOP.
func tooManyLinks(err error) bool {
	return isLoop(err) || strings.Contains(err.Error(), "too many links")
}

// resolveDir returns the directory path without links.
func resolveDir(path string) (string, error) {
	real, err := resolve(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", refuse(notDirectory, "%s is not a directory", filepath.Base(path))
	}
	return real, nil
}

// absent reports whether err says that nothing has the name path: it is
// missing, or something above it is not a directory.
func absent(path string, err error) bool {
	if _, ok := errors.AsType[*refusal](err); ok {
		return false
	}
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	parent, perr := os.Stat(filepath.Dir(path))
	return perr == nil && !parent.IsDir()
}
