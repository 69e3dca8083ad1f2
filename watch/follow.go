package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links one path may lead through.
const maxLinks = 40

var errLoop = errors.New("too many links")

// follow returns the path rest below base without links; base has none.
//
// The entries that decide where the path leads are watched on the way, so that
// a change of any of them is noticed: each link, the first name that does not
// exist, and the last few names, which somebody may replace as a whole.
func (l *look) follow(base, rest string, last int) (string, error) {
	for links := 0; rest != ""; {
		name, after, _ := strings.Cut(rest, separator)
		switch name {
		case "", ".":
			rest = after
			continue
		case "..":
			base, rest = filepath.Dir(base), after
			continue
		}
		path := join(base, name)
		info, err := lstat(path)
		link := err == nil && isLink(info.Mode())
		if err != nil || link || names(after) < last {
			if l.standFor(base, name) {
				continue // look again, now that nothing can be missed
			}
		}
		if err != nil {
			return "", err
		}
		if after != "" && !link && !info.IsDir() {
			return "", fs.ErrNotExist
		}
		if !link {
			base, rest = path, after
			continue
		}
		if links++; links > maxLinks {
			return "", errLoop
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		target = filepath.FromSlash(target)
		if vol := filepath.VolumeName(target); filepath.IsAbs(target) {
			base, target = vol+separator, target[len(vol):]
		}
		rest = target + separator + after
	}
	return base, nil
}

// names returns how many names a path has.
func names(path string) int {
	path = strings.TrimSuffix(path, separator)
	if path == "" {
		return 0
	}
	return 1 + strings.Count(path, separator)
}

// standFor watches one entry of a directory. It reports whether that is new.
func (l *look) standFor(dir, name string) bool {
	if l.w.posts.backend == nil || l.w.posts.wholly(dir, l.root) && l.rule.enter(name) {
		return false
	}
	added, _ := l.post(dir, want{names: []string{name}})
	return added
}

// stand watches a directory before it is looked into. It reports false when
// there is no such directory.
func (l *look) stand(g *group, w want) (there bool) {
	if l.w.posts.backend == nil {
		return true
	}
	w.root, w.look = l.root, l.root.look
	if g.parent != nil && g.parent.same && !g.link && l.w.posts.keep(g.real, w) {
		g.same = true
		return true
	}
	added, there := l.post(g.real, w)
	g.same = there && !added && !l.distrust && !l.root.remote
	return there
}

// post watches a directory. It reports whether something new is watched, and
// whether there is such a directory.
func (l *look) post(dir string, w want) (added, there bool) {
	at, err := identify(dir)
	if err != nil {
		return false, !errors.Is(err, fs.ErrNotExist)
	}
	if !l.root.remote && l.w.remote(at, dir) {
		l.root.remote = true
	}
	if l.root.remote || l.w.failed != nil {
		return false, true
	}
	w.root, w.look = l.root, l.root.look
	added, err = l.w.posts.stand(dir, at, w)
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		return false, false
	case errors.Is(err, fs.ErrPermission):
		l.root.locked = true
	default:
		l.w.failed = err
	}
	return added, true
}

// remote reports whether the directory lies on a network file system; each
// device is asked about once.
func (w *Watcher) remote(at id, dir string) bool {
	if at == none {
		return isRemote(dir)
	}
	r, known := w.remotes[at.dev]
	if !known {
		r = isRemote(dir)
		w.remotes[at.dev] = r
	}
	return r
}

// isRemote reports whether the nearest existing directory of a path lies on a
// network file system.
func (w *Watcher) isRemote(path string) bool {
	for {
		info, err := os.Stat(path)
		if err == nil {
			return w.remote(idOf(info), path)
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}
