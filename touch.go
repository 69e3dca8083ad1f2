package knack

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/discovery"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
)

// A Discovery is what followed from files that were read or written.
type Discovery struct {
	Found     []FoundSkills     // deeper directories first
	Activated []ActivatedSkills // in the order of the files
	// Refused tells of skills directories that git ignores.
	Refused []skill.Problem
}

// FoundSkills are the skills of a directory below the working directory that
// nobody had touched before (spec D-1).
type FoundSkills struct {
	Below  string           // the directory, relative to the working directory, with slashes
	Skills []*catalog.Entry // those that have an id; there may be none
}

// ActivatedSkills are the conditional skills that one file activated (spec D-3).
type ActivatedSkills struct {
	File   string // relative to the working directory, with slashes; outside of it as given
	Skills []*catalog.Entry
}

// IDs returns the ids of the skills that were activated.
func (d Discovery) IDs() []string { return d.activated(func(e *catalog.Entry) string { return e.ID }) }

// Lasting returns the ids by which the session remembers them.
func (d Discovery) Lasting() []string { return d.activated((*catalog.Entry).LastingID) }

func (d Discovery) activated(id func(*catalog.Entry) string) (out []string) {
	for _, a := range d.Activated {
		for _, e := range a.Skills {
			out = append(out, id(e))
		}
	}
	return out
}

// Below returns the directories that were found.
func (d Discovery) Below() (out []string) {
	for _, f := range d.Found {
		out = append(out, f.Below)
	}
	return out
}

// Notices says it for the person, one line each (spec D-5).
func (d Discovery) Notices() (out []string) {
	for _, f := range d.Found {
		if len(f.Skills) > 0 {
			out = append(out, "skills found in "+f.Below+": "+someOf(f.Skills))
		}
	}
	for _, a := range d.Activated {
		out = append(out, "activated by "+a.File+": "+someOf(a.Skills))
	}
	return out
}

// maxNamed is how many skills a notice names.
const maxNamed = 5

func someOf(entries []*catalog.Entry) string {
	var ids []string
	for _, e := range entries[:min(len(entries), maxNamed)] {
		ids = append(ids, e.ID)
	}
	s := strings.Join(ids, ", ")
	if more := len(entries) - len(ids); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// touching is what an engine remembers of touched files.
type touching struct {
	// turn is taken by discoveries and by reloads, before mu, so that a skill is
	// told of by one of them (spec D-5).
	turn    sync.Mutex
	mu      sync.Mutex          // one touch at a time, until its skills are loaded
	nested  *discovery.Nested   // nil until needed, and without project skills
	refused map[string]*refusal // by skills directory

	set        *discovery.Set            // of the conditional skills of one snapshot
	rules      []discovery.Rule          // that it was made of
	entries    map[string]*catalog.Entry // by lasting id
	generation uint64                    // of that snapshot
}

// A refusal is a source without skills that says why a directory has none.
type refusal struct {
	mu      sync.Mutex
	problem skill.Problem
}

// Load returns the problem.
func (r *refusal) Load(context.Context) ([]*skill.Skill, []skill.Problem, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.problem.Code == "" {
		return nil, nil, nil
	}
	return nil, []skill.Problem{r.problem}, nil
}

func (r *refusal) set(p skill.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problem = p
}

// Touch is [Engine.Discover] for a host that wants to know only which
// conditional skills were activated: it returns their ids.
func (e *Engine) Touch(files ...string) []string {
	d, _ := e.Discover(context.Background(), files...) // its error is that of the context
	return d.IDs()
}

// Discover tells the session that files were read or written. The skills of the
// directories on the way to them join the catalog (spec D-1), and those
// conditional skills become active that a file matches (spec D-3). Paths are
// relative to the workspace or absolute, and need not exist. A directory is
// looked into once; a file in a known one costs no system call.
//
// The error is that of ctx. What was found is part of the next load then.
// A listener of the catalog must not call Discover.
func (e *Engine) Discover(ctx context.Context, files ...string) (Discovery, error) {
	t := &e.touch
	t.turn.Lock()
	defer t.turn.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	var d Discovery
	names := make([][]string, len(files))
	var found []discovery.Found
	for i, f := range files {
		if !filepath.IsAbs(f) {
			f = filepath.Join(e.opts.Dir, f)
		}
		var more []discovery.Found
		names[i], more = e.nested().Touch(f)
		found = append(found, more...)
	}
	if len(found) > 0 && e.mayNest() {
		if err := e.join(ctx, &d, found); err != nil {
			return d, err
		}
	}
	set := e.conditional()
	for i, file := range files {
		var a []*catalog.Entry
		for _, name := range names[i] {
			for _, id := range set.Match(name) {
				if !e.session.Active(id) {
					e.session.Activate(id)
					a = append(a, t.entries[id])
				}
			}
		}
		if len(a) > 0 {
			if rel, inside := discovery.Relative(e.opts.Dir, names[i][0]); inside {
				file = rel
			}
			d.Activated = append(d.Activated, ActivatedSkills{file, a})
		}
	}
	return d, nil
}

// join makes the catalog load what was found, and says in d what came of it.
func (e *Engine) join(ctx context.Context, d *Discovery, found []discovery.Found) error {
	d.Refused = problemsOf(found)
	at := map[string]int{} // by skills directory
	for _, f := range found {
		for _, root := range f.Roots {
			at[root] = len(d.Found)
		}
		if len(f.Roots) > 0 {
			d.Found = append(d.Found, FoundSkills{Below: f.Below})
		}
	}
	e.session.FoundBelow(d.Below()...)
	snap, err := e.catalog.Add(ctx, e.sourcesOf(found)...)
	e.live.call()
	if err != nil {
		return err
	}
	for entry := range snap.All() {
		if i, ok := at[entry.Origin.Root]; ok && entry.State != catalog.Disabled {
			d.Found[i].Skills = append(d.Found[i].Skills, entry)
		}
	}
	return nil
}

func problemsOf(found []discovery.Found) (out []skill.Problem) {
	for _, f := range found {
		out = append(out, f.Problems...)
	}
	return out
}

// sourcesOf makes sources of what was found: project skills, as trusted as the
// others of the workspace (spec S-9).
func (e *Engine) sourcesOf(found []discovery.Found) (out []catalog.Source) {
	t := &e.touch
	for _, f := range found {
		for _, root := range f.Roots {
			out = append(out, e.open(dir.Root{Path: root, Source: skill.Project, Below: f.Below, Boundary: e.project}))
			if r := t.refused[root]; r != nil {
				r.set(skill.Problem{})
			}
		}
		for _, p := range f.Problems {
			if r := t.refused[p.Path]; r != nil {
				r.set(p)
				continue
			}
			if t.refused == nil {
				t.refused = map[string]*refusal{}
			}
			r := &refusal{problem: p}
			t.refused[p.Path] = r
			out = append(out, r)
		}
	}
	return out
}

// foundBefore returns the sources of directories that a resumed session found
// earlier. They are held against git's rules again.
func (e *Engine) foundBefore() (out []catalog.Source) {
	if !e.mayNest() {
		return nil
	}
	e.touch.mu.Lock()
	defer e.touch.mu.Unlock()
	for _, below := range e.session.Below() {
		if filepath.IsLocal(filepath.FromSlash(below)) {
			_, found := e.nested().Touch(filepath.Join(e.real, filepath.FromSlash(below), "any"))
			out = append(out, e.sourcesOf(found)...)
		}
	}
	return out
}

// mayNest reports whether directories of the project may bring skills: not in a
// bare run, nor against the settings or the administrator.
func (e *Engine) mayNest() bool {
	return !e.opts.Bare && !e.place.NoProject && len(e.skillRoots([]dir.Root{{Source: skill.Project}})) > 0
}

// nested is made when the first file is touched. The caller holds touch.mu.
func (e *Engine) nested() *discovery.Nested {
	if e.touch.nested == nil {
		repository := dir.RepositoryRoot(e.real)
		e.touch.nested = discovery.NewNested(discovery.NestedOptions{
			WorkDir: e.real, Repository: repository, Home: e.opts.Home, Getenv: e.opts.Getenv,
		})
	}
	return e.touch.nested
}

// conditional returns the compiled patterns of the current snapshot. The caller
// holds touch.mu.
func (e *Engine) conditional() *discovery.Set {
	t, snap := &e.touch, e.Snapshot()
	if t.set != nil && t.generation == snap.Generation {
		return t.set
	}
	var rules []discovery.Rule
	t.entries = map[string]*catalog.Entry{}
	for entry := range snap.All() {
		if entry.Trigger.Conditional {
			id := entry.LastingID()
			t.entries[id] = entry
			rules = append(rules, discovery.Rule{ID: id, Base: e.baseOf(entry), Patterns: entry.Trigger.Paths})
		}
	}
	// Most reloads change no condition, and compiling ten thousand takes long.
	if t.set == nil || !slices.EqualFunc(t.rules, rules, sameRule) {
		t.set, t.rules = discovery.NewSet(rules), rules
	}
	t.generation = snap.Generation
	return t.set
}

func sameRule(a, b discovery.Rule) bool {
	return a.ID == b.ID && a.Base == b.Base && slices.Equal(a.Patterns, b.Patterns)
}

// baseOf is what the patterns of a skill are relative to (spec D-4).
func (e *Engine) baseOf(entry *catalog.Entry) string {
	if entry.Origin.Below == "" {
		return e.project
	}
	return filepath.Join(e.real, filepath.FromSlash(entry.Origin.Below))
}

// TouchedBy returns the first of files that activates a conditional skill, and
// the pattern that it matches; both are empty when none does. Patterns are
// relative to the project root, or to the directory a nested skill lies below
// (spec D-4).
func (e *Engine) TouchedBy(entry *catalog.Entry, files ...string) (file, pattern string) {
	e.touch.mu.Lock()
	defer e.touch.mu.Unlock()
	for _, f := range files {
		abs := f
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(e.opts.Dir, f)
		}
		for _, name := range e.nested().Names(abs) {
			if p, ok := discovery.Activates(entry.Skill, e.baseOf(entry), name); ok {
				return f, p
			}
		}
	}
	return "", ""
}

// Forget makes the next touch look again into directories for skills of their
// own: into those that paths belong to, as when files have changed there, or
// into all without paths.
func (e *Engine) Forget(paths ...string) {
	e.touch.mu.Lock()
	defer e.touch.mu.Unlock()
	if e.touch.nested != nil {
		e.touch.nested.Forget(paths...)
	}
}
