package extract

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// resolve puts copies in the place of links: nothing that is installed is a
// link, so that nothing can lead out of it later.
func (w *Writer) resolve() error {
	pending := w.links
	for len(pending) > 0 {
		var later []link
		for _, l := range pending {
			done, err := w.replace(l, pending)
			if err != nil {
				return err
			}
			if !done {
				later = append(later, l)
			}
		}
		if len(later) == len(pending) { // each waits for another one
			for _, l := range later {
				if err := w.leave(l, "leads to nothing, or to itself"); err != nil {
					return err
				}
			}
			break
		}
		pending = later
	}
	w.links = nil
	return nil
}

// replace copies what a link leads to. It is not done while that still holds, or
// is, a link.
func (w *Writer) replace(l link, pending []link) (done bool, err error) {
	target := path.Join(path.Dir(l.name), l.target)
	if path.IsAbs(l.target) || strings.Contains(l.target, `\`) || target != "." && !filepath.IsLocal(filepath.FromSlash(target)) {
		return true, w.leave(l, "is a link that leads out")
	}
	if target == "." || target == l.name || strings.HasPrefix(l.name, target+"/") {
		return true, w.leave(l, "is a link to what it lies in")
	}
	waits := slices.ContainsFunc(pending, func(o link) bool {
		return o.name != l.name && !w.gone(o.name) && (o.name == target || strings.HasPrefix(o.name, target+"/") || strings.HasPrefix(target, o.name+"/"))
	})
	info, err := w.root.Lstat(filepath.FromSlash(target))
	if waits || err != nil {
		return false, nil
	}
	delete(w.seen, fold(l.name)) // the copy takes the name
	delete(w.plain, l.name)
	w.entries--
	if info.Mode().IsRegular() {
		return true, w.copy(target, l.name)
	}
	return true, fs.WalkDir(w.root.FS(), target, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := l.name + strings.TrimPrefix(name, target)
		if e.IsDir() {
			return w.Dir(to)
		}
		return w.copy(name, to)
	})
}

// gone reports whether a link was replaced, or left out.
func (w *Writer) gone(name string) bool { return !w.plain[name] || w.hashes[name] != "" }

func (w *Writer) copy(from, to string) error {
	f, err := w.root.Open(filepath.FromSlash(from))
	if err != nil {
		return err
	}
	defer f.Close()
	return w.File(to, slices.Contains(w.programs, from), f)
}

// leave leaves a link out, or refuses everything.
func (w *Writer) leave(l link, why string) error {
	if !w.limits.Lenient {
		return refuse(l.name, "%s: %.200q", why, l.target)
	}
	delete(w.plain, l.name)
	w.Skip(l.name, why)
	return nil
}

// Skip notes that something was left out.
func (w *Writer) Skip(name, why string) { w.skipped = append(w.skipped, name+" "+why) }

// Executable gives files that were written the right to be started by their
// owner. dir is where they lie; names are those of [Summary].Programs.
func Executable(dir string, names ...string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		if err := root.Chmod(filepath.FromSlash(name), 0o700); err != nil {
			return err
		}
	}
	return nil
}
