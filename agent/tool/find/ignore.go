package find

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/knack-skills/knack/gitignore"
)

// maxIgnore is how much of an ignore file is read.
const maxIgnore = 1 << 20

// A level is the patterns of one ignore file and the directory they hold for.
type level struct {
	dir string // absolute, with slashes
	m   *gitignore.Matcher
}

// levels stack from the one that counts least to the one that counts most.
type levels []level

// ignored reports whether git would ignore an absolute path, of which the
// directories above are not ignored.
func (l levels) ignored(path string, isDir bool) bool {
	for _, one := range slices.Backward(l) {
		rel, ok := strings.CutPrefix(path, strings.TrimSuffix(one.dir, "/")+"/")
		if !ok {
			continue
		}
		if pattern, ok := one.m.MatchSelf(rel, isDir); pattern != "" {
			return ok
		}
	}
	return false
}

// with adds an ignore file, if it is there. The old levels are not changed.
func (l levels) with(dir, file string) levels {
	text, ok := readIgnore(file)
	if !ok {
		return l
	}
	return append(slices.Clip(l), level{filepath.ToSlash(dir), gitignore.CompileFile(text)})
}

// above returns what holds for a directory from outside it: the person's own
// excludes, those of the repository, and the ignore files from its top down to
// the parent of dir. Outside a repository there is nothing above.
func above(dir, home string) levels {
	root := repository(dir)
	if root == "" {
		return nil
	}
	var l levels
	if home != "" {
		l = l.with(root, filepath.Join(home, ".config", "git", "ignore"))
	}
	l = l.with(root, filepath.Join(gitDir(root), "info", "exclude"))
	var down []string
	for d := dir; d != root; {
		d = filepath.Dir(d)
		down = append(down, d)
	}
	for _, d := range slices.Backward(down) {
		l = l.with(d, filepath.Join(d, ".gitignore"))
	}
	return l
}

// repository returns the top of the repository that dir lies in, or "".
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitDir returns the directory that holds info/exclude. In a worktree .git is a
// file that names another directory, and that one names the common one.
func gitDir(root string) string {
	dir := filepath.Join(root, ".git")
	text, ok := readIgnore(dir)
	if !ok {
		return dir
	}
	if name, ok := strings.CutPrefix(text, "gitdir:"); ok {
		dir = joined(root, strings.TrimSpace(name))
	}
	if text, ok := readIgnore(filepath.Join(dir, "commondir")); ok {
		dir = joined(dir, strings.TrimSpace(text))
	}
	return dir
}

func joined(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// readIgnore reads a small regular file and does not wait for a pipe.
func readIgnore(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	return string(text), err == nil && f.Close() == nil
}
