package discovery

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/knack-skills/knack/skill"
)

// NestedOptions says where nested skills are looked for.
type NestedOptions struct {
	WorkDir    string // absolute; only what lies below it counts
	Repository string // top of the repository that WorkDir lies in; empty without one
	Home       string // where git's own configuration is; empty means nowhere

	Getenv func(string) string // environment that git would see; nil means an empty one
	Files  Files               // nil means OS
}

// Nested remembers, for one session, which directories were looked into for
// skills of their own (spec D-1). It is safe for concurrent use.
type Nested struct {
	o    NestedOptions
	work string // WorkDir without links

	mu      sync.Mutex       // guards the fields below
	places  map[string]place // directories as they were named
	checked map[string]bool  // directories without links
	roots   map[string]bool  // skills directories that were returned
	ignores *ignores         // nil until a skills directory is found
}

// A place is a directory that is known: nothing about it is asked again.
type place struct {
	real   string // without links
	inside bool   // below the working directory
}

// Found is a directory that has skills of its own.
type Found struct {
	Dir   string   // without links
	Below string   // relative to the working directory, with slashes
	Roots []string // its skills directories that count, .claude before .agents
	// Problems tell of skills directories that do not.
	Problems []skill.Problem
}

// NewNested returns a memory in which no directory is known.
func NewNested(o NestedOptions) *Nested {
	if o.Files == nil {
		o.Files = OS{}
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	n := &Nested{o: o, work: filepath.Clean(o.WorkDir)}
	if real, err := o.Files.Real(n.work); err == nil {
		n.work = real
	}
	if real, err := o.Files.Real(o.Repository); err == nil && o.Repository != "" {
		n.o.Repository = real
	}
	n.forgetAll()
	n.roots = map[string]bool{}
	return n
}

// Touch says that a file was read or written. It returns the file's names (as
// given and, when that differs, with the links among its directories resolved)
// and the directories with skills that nobody has asked about before, deeper
// ones first. A file in a directory that is known costs no system call. The file
// need not exist, and the path must be absolute.
func (n *Nested) Touch(file string) (names []string, found []Found) {
	file = filepath.Clean(file)
	dir := filepath.Dir(file)
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.places[dir]
	if !known {
		p, known = n.locate(dir)
		if p.inside {
			found = n.look(p.real)
		}
		if known { // one that is gone may come back
			n.places[dir] = p
		}
	}
	return p.names(file, dir), found
}

// Names returns the names of a file as [Nested.Touch] does, without looking for
// skills.
func (n *Nested) Names(file string) []string {
	file = filepath.Clean(file)
	dir := filepath.Dir(file)
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.places[dir]
	if !known {
		p, _ = n.locate(dir)
	}
	return p.names(file, dir)
}

func (p place) names(file, dir string) []string {
	if p.real == dir {
		return []string{file}
	}
	return []string{file, filepath.Join(p.real, filepath.Base(file))}
}

// locate follows the links of a directory; of one that does not exist, those of
// the nearest that does. exists is false then.
func (n *Nested) locate(dir string) (p place, exists bool) {
	p.real, exists = dir, true
	for at := dir; ; at = filepath.Dir(at) {
		if real, err := n.o.Files.Real(at); err == nil {
			p.real = filepath.Join(real, dir[len(at):])
			break
		}
		exists = false
		if at == filepath.Dir(at) {
			break
		}
	}
	_, p.inside = Relative(n.work, p.real)
	return p, exists
}

// look checks the directories from real up to the working directory, that not
// included, once each.
func (n *Nested) look(real string) (out []Found) {
	for dir := real; ; dir = filepath.Dir(dir) {
		rel, inside := Relative(n.work, dir)
		if !inside {
			return out
		}
		if n.checked[dir] {
			continue
		}
		if _, err := n.o.Files.Lstat(dir); err != nil {
			continue // nothing to check, now
		}
		n.checked[dir] = true
		if !searchable(rel) {
			continue
		}
		f := Found{Dir: dir, Below: rel}
		for _, twin := range twins {
			n.ask(&f, filepath.Join(dir, twin, "skills"))
		}
		if len(f.Roots)+len(f.Problems) > 0 {
			out = append(out, f)
		}
	}
}

// ask adds a skills directory to f if there is one.
func (n *Nested) ask(f *Found, root string) {
	info, err := n.o.Files.Lstat(root)
	if err != nil || !info.IsDir() && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return
	}
	if n.ignores == nil {
		n.ignores = newIgnores(n.o, n.work, n.o.Repository)
	}
	names := []string{root}
	if real, err := n.o.Files.Real(root); err == nil && real != root {
		names = append(names, real) // a link must not lead to what is ignored, either
	}
	for i, name := range names {
		rel, inside := Relative(n.ignores.top, name)
		if !inside {
			continue // the source says whether a link may lead there
		}
		if pattern, file, yes := n.ignores.ignored(rel, info.IsDir() || i > 0); yes {
			f.Problems = append(f.Problems, ignoredRoot(root, pattern, file))
			return
		}
	}
	if !n.roots[root] {
		n.roots[root] = true
		f.Roots = append(f.Roots, root)
	}
}

func ignoredRoot(root, pattern, file string) skill.Problem {
	return skill.Problem{Code: "nested-ignored", Severity: skill.Info, Path: root,
		Message: fmt.Sprintf("git ignores this directory by the pattern %q of %s, so its skills are not used", pattern, file),
		Fix:     "take the directory out of the pattern, or add it to git, if its skills are meant to be used"}
}

// Forget makes the next touch look again: at the directories that paths belong
// to, and at what lies below them; without paths, at every directory. A path may
// lead into .claude or .agents of its directory. Skills directories that were
// found are not found again, as they are sources already.
func (n *Nested) Forget(paths ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(paths) == 0 {
		n.forgetAll()
		return
	}
	n.ignores = nil // cheap, and what holds for a directory stands above it
	for _, p := range paths {
		dir := owner(filepath.Clean(p))
		if real, err := n.o.Files.Real(dir); err == nil {
			dir = real
		}
		for at := range n.checked {
			if at == dir || isBelow(dir, at) {
				delete(n.checked, at)
			}
		}
		for name, p := range n.places {
			if p.real == dir || isBelow(dir, p.real) {
				delete(n.places, name)
			}
		}
	}
}

// forgetAll is Forget of everything. The caller holds mu, or owns n.
func (n *Nested) forgetAll() {
	n.places, n.checked, n.ignores = map[string]place{}, map[string]bool{}, nil
}

// owner is the directory to which a path in .claude or .agents belongs.
func owner(path string) string {
	const separator = string(filepath.Separator)
	for _, twin := range twins {
		if i := strings.Index(path+separator, separator+twin+separator); i >= 0 {
			path = path[:i+1]
		}
	}
	return filepath.Clean(path)
}

func isBelow(dir, path string) bool {
	_, below := Relative(dir, path)
	return below
}
