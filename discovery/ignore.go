package discovery

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/gitignore"
)

// maxIgnore is how much of one ignore file counts.
const maxIgnore = 1 << 20

// ignores answers as `git check-ignore` does, without running git: by the
// .gitignore files on the way, info/exclude and the person's own excludes. What
// git tracks is never ignored. Outside a repository the same files count, but
// for info/exclude. It is not safe for concurrent use.
type ignores struct {
	files  Files
	top    string // what paths are relative to
	fold   bool   // core.ignoreCase
	outer  []list // info/exclude, then the person's own; the first that speaks decides
	levels map[string]list
	index  func() *index
}

// A list is one ignore file.
type list struct {
	path string
	m    *gitignore.Matcher // nil when there is no such file
}

// newIgnores reads what holds for the whole tree. repository is the top of the
// repository, or empty; then top is work.
func newIgnores(o NestedOptions, work, repository string) *ignores {
	g := &ignores{files: o.Files, top: work, levels: map[string]list{}, index: func() *index { return nil }}
	git := gitFiles{}
	if repository != "" {
		g.top = repository
		git = gitFilesOf(o.Files, repository)
	}
	c := readConfig(o, git)
	g.fold = c.fold
	if repository != "" {
		g.outer = append(g.outer, g.read(filepath.Join(git.common, "info", "exclude")))
		var ix *index
		g.index = func() *index { // most questions need none
			if ix == nil {
				ix = readIndex(o.Files, git.own, c.hashSize)
			}
			return ix
		}
	}
	if c.excludes != "" {
		path := c.excludes
		if !filepath.IsAbs(path) {
			path = filepath.Join(g.top, path)
		}
		g.outer = append(g.outer, g.read(path))
	}
	return g
}

// read compiles an ignore file, wherever links lead.
func (g *ignores) read(path string) list {
	data, err := g.files.Read(path)
	if err != nil {
		return list{path: path}
	}
	text := string(data[:min(len(data), maxIgnore)])
	if g.fold {
		return list{path, gitignore.CompileFileFold(text)}
	}
	return list{path, gitignore.CompileFile(text)}
}

// level returns the .gitignore of a directory. Git follows no link there.
func (g *ignores) level(rel string) list {
	l, ok := g.levels[rel]
	if !ok {
		l.path = filepath.Join(g.top, filepath.FromSlash(rel), ".gitignore")
		if info, err := g.files.Lstat(l.path); err == nil && info.Mode().IsRegular() {
			l = g.read(l.path)
		}
		g.levels[rel] = l
	}
	return l
}

// ignored reports whether git would ignore a path relative to top, and by which
// pattern of which file. A pattern that takes it out again is returned, too.
func (g *ignores) ignored(rel string, isDir bool) (pattern, file string, yes bool) {
	parts := strings.Split(rel, "/")
	for i := range parts {
		last := i+1 == len(parts)
		pattern, file, yes = g.speak(parts[:i+1], isDir || !last)
		if yes { // and so is all below
			break
		}
	}
	if yes && g.index().tracks(rel) {
		return "", "", false
	}
	return pattern, file, yes
}

// speak asks the deepest file first.
func (g *ignores) speak(parts []string, isDir bool) (pattern, file string, yes bool) {
	for depth := len(parts) - 1; depth >= 0; depth-- {
		l := g.level(strings.Join(parts[:depth], "/"))
		if pattern, yes, said := l.speak(parts[depth:], isDir); said {
			return pattern, l.path, yes
		}
	}
	for _, l := range g.outer {
		if pattern, yes, said := l.speak(parts, isDir); said {
			return pattern, l.path, yes
		}
	}
	return "", "", false
}

func (l list) speak(parts []string, isDir bool) (pattern string, yes, said bool) {
	if l.m == nil {
		return "", false, false
	}
	pattern, yes = l.m.MatchSelf(strings.Join(parts, "/"), isDir)
	return pattern, yes, pattern != ""
}

// gitFiles are the directories in which git keeps what it knows.
type gitFiles struct {
	own    string // of this worktree; empty outside a repository
	common string // of all worktrees
}

// gitFilesOf follows a .git file, which a worktree or a submodule has.
func gitFilesOf(files Files, repository string) gitFiles {
	own := filepath.Join(repository, ".git")
	if info, err := files.Lstat(own); err == nil && !info.IsDir() {
		if text, ok := line(files, own); ok {
			if name, ok := strings.CutPrefix(text, "gitdir:"); ok {
				own = joined(repository, strings.TrimSpace(name))
			}
		}
	}
	g := gitFiles{own, own}
	if name, ok := line(files, filepath.Join(own, "commondir")); ok {
		g.common = joined(own, name)
	}
	return g
}

func line(files Files, path string) (string, bool) {
	data, err := files.Read(path)
	return strings.TrimSpace(string(data)), err == nil
}

func joined(dir, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// searchable reports whether skills may lie below a directory at all: not what
// packages bring along (spec C-3), nor the files of skills themselves.
func searchable(rel string) bool {
	parts := strings.Split(rel, "/")
	if slices.Contains(parts, "node_modules") || slices.Contains(parts, ".git") {
		return false
	}
	for i, p := range parts[:len(parts)-1] {
		if slices.Contains(twins, p) && parts[i+1] == "skills" {
			return false
		}
	}
	return true
}

// twins are the directories that hold skills, the first one first (spec C-2).
var twins = []string{".claude", ".agents"}
