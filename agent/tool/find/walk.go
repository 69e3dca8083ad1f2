package find

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A walk visits the files below a directory in the order of their names.
type walk struct {
	hidden bool                                    // also look at names that begin with a dot, but .git
	depth  int                                     // levels to go down; zero is all
	visit  func(rel string, d fs.DirEntry)         // called for what is no directory
	found  struct{ ignored, unreadable, dots int } // directories and files left out
}

// run walks from root, an absolute path without links; home is where the
// person's own excludes are.
func (w *walk) run(ctx context.Context, root, home string) error {
	return w.dir(ctx, root, "", 1, above(root, home))
}

func (w *walk) dir(ctx context.Context, dir, rel string, depth int, l levels) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.found.unreadable++ // what was read before the error is looked at
	}
	l = l.with(dir, filepath.Join(dir, ".gitignore"))
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") && (!w.hidden || name == ".git") {
			w.found.dots++
			continue
		}
		path := filepath.Join(dir, name)
		if l.ignored(filepath.ToSlash(path), e.IsDir()) {
			w.found.ignored++
			continue
		}
		below := name
		if rel != "" {
			below = rel + "/" + name
		}
		if !e.IsDir() {
			w.visit(below, e)
			continue
		}
		if w.depth > 0 && depth >= w.depth {
			continue
		}
		if err := w.dir(ctx, path, below, depth+1, l); err != nil {
			return err
		}
	}
	return nil
}

// explain says what was left out, for a result that is empty or not complete.
func (w *walk) explain(n *notes, empty bool) {
	if empty && w.found.ignored > 0 {
		n.add("left out because of ignore files: %s; give one as path to look there", count(w.found.ignored, "name"))
	}
	if empty && w.found.dots > 0 {
		n.add("left out because the name begins with a dot: %d", w.found.dots)
	}
	if w.found.unreadable > 0 {
		n.add("could not be read: %d directories", w.found.unreadable)
	}
}

// namesHidden reports whether a pattern asks for names that begin with a dot.
func namesHidden(pattern string) bool {
	for i := range len(pattern) {
		if pattern[i] != '.' || i > 0 && !strings.ContainsRune("/{,!\\", rune(pattern[i-1])) {
			continue
		}
		switch rest := pattern[i:]; {
		case rest == "." || rest == ".." || strings.HasPrefix(rest, "./") || strings.HasPrefix(rest, "../"):
		default:
			return true
		}
	}
	return false
}
