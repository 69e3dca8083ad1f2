package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const separator = string(filepath.Separator)

// A group is one directory whose entries are looked at.
type group struct {
	dir    string // as found
	real   string // without links
	depth  int    // below the root
	parent *group
	link   bool // found as a link
	same   bool // watched since the last look, and nobody put another in its place
}

// A candidate is a directory, or a link, that may be looked into.
type candidate struct {
	in   *group
	name string
	link bool
}

// A look is one walk through one root, in the way in which package source/dir
// reads it: the same directories, the same links, the same limits.
type look struct {
	w        *Watcher
	root     *root
	rule     *rule
	real     string // of the root
	boundary string // without links; empty: none
	looked   int    // directories so far
	distrust bool   // events were lost: anything may have been replaced
}

// walk looks at all of r and notes what is there. The error is that of ctx.
func (w *Watcher) walk(ctx context.Context, r *root) error {
	r.begin(time.Now())
	l := &look{w: w, root: r, rule: &rules[r.Kind], distrust: w.distrust}
	r.remote, r.locked = w.isRemote(r.Path), false
	if r.Boundary != "" {
		l.boundary = r.Boundary
		if b, err := filepath.EvalSymlinks(r.Boundary); err == nil {
			l.boundary = b
		}
	}
	if err := l.top(ctx); err != nil {
		return err
	}
	w.settle.sweep(r)
	w.posts.sweep(r)
	return nil
}

// top looks at the root itself, and through it level by level.
func (l *look) top(ctx context.Context) error {
	path := l.root.Path
	vol := filepath.VolumeName(path) + separator
	real, err := l.follow(vol, strings.TrimPrefix(path, vol), 2)
	if l.root.Kind == File {
		if err == nil {
			l.regular(path, real)
		}
		return ctx.Err()
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.directory(path, path, unreadable)
		}
		return ctx.Err()
	}
	l.real = real
	if l.boundary != "" && !inside(l.boundary, real) {
		return ctx.Err() // such a root is not read at all
	}
	level := l.list(&group{dir: path, real: real})
	for len(level) > 0 {
		level = level[:min(len(level), maxDirectories-l.looked)]
		l.looked += len(level)
		var next []candidate
		for _, c := range level {
			if err := ctx.Err(); err != nil {
				return err
			}
			next = append(next, l.visit(c)...)
		}
		level = next
	}
	return ctx.Err()
}

// visit looks at one directory below the root.
func (l *look) visit(c candidate) []candidate {
	g := &group{dir: join(c.in.dir, c.name), depth: c.in.depth + 1, parent: c.in, link: c.link}
	switch {
	case c.link:
		target, err := l.follow(c.in.real, c.name, 0)
		if err != nil || !l.mayFollow(c.in, target) {
			return nil
		}
		g.real = target
	case c.in.real == c.in.dir:
		g.real = g.dir
	default:
		g.real = join(c.in.real, c.name)
	}
	if !l.rule.early {
		return l.list(g)
	}
	if !l.stand(g, want{whole: true}) {
		return nil
	}
	info, err := lstat(join(g.real, skillFile))
	switch {
	case err == nil:
		l.skill(g, skillFile, info)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return l.list(g)
	case errors.Is(err, fs.ErrPermission):
		l.directory(g.dir, g.real, unreadable)
	}
	return nil // no directory, or none any more
}

// skill notes a directory with a skill in it; nothing else there matters.
func (l *look) skill(g *group, name string, info fs.FileInfo) {
	path := join(g.dir, name)
	real := path
	if g.real != g.dir {
		real = join(g.real, name)
	}
	l.directory(path[:len(g.dir)], g.real, directory)
	l.w.posts.narrow(g.real, l.root)
	l.entry(path, real, g.real, name, info)
}

// list looks at the entries of a directory, and returns those to look into.
func (l *look) list(g *group) []candidate {
	if !l.stand(g, want{whole: true}) {
		return nil
	}
	entries, err := os.ReadDir(g.real)
	if err != nil && len(entries) == 0 {
		if !errors.Is(err, fs.ErrNotExist) {
			l.unlisted(g, err)
		}
		return nil
	}
	if l.rule.leaf && g.parent != nil {
		for _, e := range entries {
			if e.Name() == skillFile || l.rule.early && !e.IsDir() && isSkillFile(e.Name()) {
				if info, err := e.Info(); err == nil {
					l.skill(g, e.Name(), info)
					return nil
				}
			}
		}
	}
	l.directory(g.dir, g.real, directory)
	if l.rule.early && g.parent != nil && isPlugin(g.real, entries) {
		return nil
	}
	return l.sort(g, entries)
}

// unlisted notes a directory that cannot be listed. What is no directory is
// not there, except as a root, whose reader will say so.
func (l *look) unlisted(g *group, err error) {
	if info, serr := os.Stat(g.real); serr == nil && !info.IsDir() && g.parent != nil {
		return
	}
	l.directory(g.dir, g.real, unreadable)
}

func isPlugin(real string, entries []os.DirEntry) bool {
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == pluginDir }) {
		return false
	}
	_, err := lstat(filepath.Join(real, pluginDir, pluginMark))
	return err == nil
}

// sort notes the files among entries, and returns what may be a directory.
func (l *look) sort(g *group, entries []os.DirEntry) []candidate {
	var out []candidate
	for _, e := range entries {
		name, link := e.Name(), isLink(e.Type())
		switch {
		case !l.rule.early && !e.IsDir() && l.rule.file(name) && name != skillFile:
			if info, err := e.Info(); err == nil {
				l.entry(join(g.dir, name), join(g.real, name), g.real, name, info)
			}
		case (e.IsDir() || link) && l.rule.enter(name) && (l.rule.depth < 0 || g.depth < l.rule.depth):
			out = append(out, candidate{g, name, link})
		}
	}
	return out
}

// entry notes a file that may be a link.
func (l *look) entry(path, real, dir, name string, info fs.FileInfo) {
	if !isLink(info.Mode()) {
		l.w.settle.saw(l.root, path, real, l.w.printOf(real, info))
		return
	}
	target, err := l.follow(dir, name, 1)
	if err == nil && (l.boundary == "" || inside(l.real, target) || inside(l.boundary, target)) {
		l.regular(path, target)
		return
	}
	l.w.settle.saw(l.root, path, real, print{kind: other})
}

// regular notes the file to which a link or the root leads.
func (l *look) regular(path, real string) {
	if info, err := lstat(real); err == nil {
		l.w.settle.saw(l.root, path, real, l.w.printOf(real, info))
	}
}

func (l *look) directory(path, real string, k kind) {
	l.w.settle.saw(l.root, path, real, print{kind: k})
}

// mayFollow reports whether a link found in g may lead to target (spec C-7).
func (l *look) mayFollow(g *group, target string) bool {
	if l.boundary != "" && !inside(l.real, target) && !inside(l.boundary, target) {
		return false
	}
	for ; g != nil; g = g.parent {
		if inside(target, g.real) {
			return false // it leads to where it lies
		}
	}
	return true
}

// inside reports whether path is dir or lies below it. Both are free of links.
func inside(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

func join(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + separator + name
}
