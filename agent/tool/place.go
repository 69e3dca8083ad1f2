package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
)

// A Base is where a session works: what names are relative to.
type Base struct {
	Dir  string // working directory, absolute
	Home string // home directory; empty when unknown
	// More are further directories of the workspace; see [permission.Request].
	More []string
}

// Abs makes the path in the input field absolute and clean. "~" and "~/x" are
// below the home directory.
func (b Base) Abs(field, name string) (string, error) {
	below, atHome := skill.CutHome(name)
	switch {
	case strings.ContainsRune(name, 0):
		return "", fmt.Errorf("%q holds a NUL character, which no path can", field)
	case atHome:
		if b.Home == "" {
			return "", fmt.Errorf("%q begins with ~, but the home directory is not known: write the whole path", field)
		}
		name = filepath.Join(b.Home, below)
	case !filepath.IsAbs(name):
		name = filepath.Join(b.Dir, name)
	}
	return filepath.Clean(name), nil
}

// Show writes an absolute path as people read it: relative to the working
// directory when it lies below it. File tools take it back in either form.
func (b Base) Show(path string) string {
	rel, err := filepath.Rel(b.Dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	if strings.HasPrefix(rel, "~") { // "~x" would be read as something else
		return path
	}
	return filepath.ToSlash(rel)
}

// Request is what a file tool asks permission for: the path, and where links
// lead (spec S-8). A path whose links cannot be followed is an error.
func (b Base) Request(tool, path string) (permission.Request, error) {
	real, err := Real(path)
	if err != nil {
		return permission.Request{}, err
	}
	return permission.Request{
		Tool:     tool,
		Input:    permission.Input{Path: path, RealPath: real},
		WorkDir:  b.Dir,
		Home:     b.Home,
		MoreDirs: b.More,
	}, nil
}

// maxLinks is how many links one path may lead through, as in Linux.
const maxLinks = 40

// Real follows all links of an absolute path. What does not exist yet is kept
// as it is, also behind a link that points to nothing: writing there would
// create it.
func Real(path string) (string, error) {
	rest := filepath.Clean(path)
	done := filepath.VolumeName(rest) + string(filepath.Separator)
	rest = strings.TrimPrefix(rest[len(filepath.VolumeName(rest)):], string(filepath.Separator))
	for links := 0; rest != ""; {
		name, after, _ := strings.Cut(rest, string(filepath.Separator))
		rest = after
		if name == ".." { // of a link's target
			done = filepath.Dir(done)
			continue
		}
		if name == "" || name == "." {
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) && !isNotDir(err) {
				return "", err
			}
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many links, they may form a loop", path)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			done = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(filepath.VolumeName(target)):]
		}
		// Not joined: a ".." of the target counts after its links are followed.
		rest = strings.TrimPrefix(target, string(filepath.Separator)) + string(filepath.Separator) + rest
	}
	return done, nil
}

// Behind is [Real] for [permission.Request]: a path whose links lead nowhere
// stands for itself.
func Behind(path string) string {
	real, err := Real(path)
	if err != nil {
		return path
	}
	return real
}

// Unmoved reports an error when the links of a path no longer lead where they
// led when permission was asked: what was approved is not what would be touched.
func Unmoved(req permission.Request) error {
	real, err := Real(req.Input.Path)
	if err != nil {
		return err
	}
	if real != req.Input.RealPath {
		return fmt.Errorf("%s now leads to %s; permission was asked for %s: call the tool again", req.Input.Path, real, req.Input.RealPath)
	}
	return nil
}
