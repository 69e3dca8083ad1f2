package knack

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
	"github.com/knack-skills/knack/watch"
)

// The sources of a change (spec H-2, ConfigChange).
const (
	sourceSkills  = "skills"
	sourceUser    = "user_settings"
	sourceProject = "project_settings"
	sourceLocal   = "local_settings"
	sourcePolicy  = "policy_settings"
)

// A Change is what became different on the disk, and what the engine made of it.
type Change struct {
	// Sources says what kind of files they are: skills, user_settings,
	// project_settings, local_settings or policy_settings.
	Sources []string
	Files   []string // absolute, sorted
	// Added, Changed and Removed are ids of skills; empty before the change took
	// effect.
	Added, Changed, Removed []string
}

// WatchOptions configures [Engine.Watch]. The zero value polls and lets every
// change happen.
type WatchOptions struct {
	Native watch.Native // native events; nil polls
	// Allow is asked before a change takes effect; its error keeps what there
	// was, and is told (spec D-8). Nil allows all.
	Allow func(context.Context, Change) error
	// Done is told of changes that took effect.
	Done func(Change)
	// Files are further files to watch, absolute; File is told of each that
	// changed.
	Files []string
	File  func(ctx context.Context, path string)
	// Notice is told what a person should know. Nil drops it.
	Notice func(string)
}

// Watch keeps the engine up to date with what happens on the disk, until ctx
// ends (spec D-6 to D-8): skills and settings that change while it runs count
// from then on, invocations that have begun keep what they began with. It
// returns when it watches, with a function that ends it and waits until
// everything it held is released. The error is that of ctx.
//
// What the directories of the workspace, the plugins and the trust of the
// workspace follow from is read once, by [New].
func (e *Engine) Watch(ctx context.Context, o WatchOptions) (stop func(), err error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	w, err := watch.Start(ctx, e.watched(o.Files), watch.Options{Native: o.Native, Notice: o.Notice})
	if err != nil {
		return nil, err
	}
	// What changed between loading and now would never be reported.
	if _, err := e.catalog.Refresh(ctx); err != nil {
		w.Close()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.preserve(ctx)
		for b := range w.Batches() {
			e.take(ctx, b, o)
			_ = w.SetRoots(ctx, e.watched(o.Files)) // ctx ended: so do the batches
		}
	}()
	return func() { w.Close(); <-done }, nil
}

// watched lists the roots of skills and commands, those found on the way
// included, the settings files, and the files that the host adds.
func (e *Engine) watched(files []string) []watch.Root {
	var out []watch.Root
	for _, f := range files {
		out = append(out, watch.Root{Path: f, Kind: watch.File})
	}
	for _, r := range slices.Concat(e.skillRoots(e.place.Roots()), e.nestedRoots()) {
		kind := watch.Skills
		if r.Source == skill.Legacy {
			kind = watch.Commands
		}
		out = append(out, watch.Root{Path: r.Path, Kind: kind, Boundary: r.Boundary})
	}
	for _, a := range e.active {
		out = append(out, watch.Root{Path: filepath.Join(a.Dir, "skills"), Kind: watch.Skills, Boundary: a.Dir},
			watch.Root{Path: filepath.Join(a.Dir, "commands"), Kind: watch.Commands, Boundary: a.Dir},
			watch.Root{Path: filepath.Join(a.Dir, "SKILL.md"), Kind: watch.File, Boundary: a.Dir})
	}
	for _, f := range e.conf().settings.Files {
		if filepath.IsAbs(f.Path) {
			out = append(out, watch.Root{Path: f.Path, Kind: watch.File})
		}
	}
	return out
}

// nestedRoots are the roots that touched files led to (spec D-1).
func (e *Engine) nestedRoots() (out []dir.Root) {
	for _, below := range e.session.Below() {
		at := filepath.Join(e.real, filepath.FromSlash(below))
		for _, twin := range []string{".claude", ".agents"} {
			out = append(out, dir.Root{Path: filepath.Join(at, twin, "skills"), Source: skill.Project, Boundary: e.project})
		}
	}
	return out
}

// forget makes the next touch look again at directories that changed (spec D-1).
func (e *Engine) forget(dirs []string) {
	e.touch.mu.Lock()
	defer e.touch.mu.Unlock()
	if e.touch.nested != nil && len(dirs) > 0 {
		e.touch.nested.Forget(dirs...)
	}
}

// sourceOf says what kind of change a file is.
func (e *Engine) sourceOf(file string) string {
	for _, f := range e.conf().settings.Files {
		if f.Path != file {
			continue
		}
		switch f.Level {
		case settings.ManagedLevel:
			return sourcePolicy
		case settings.LocalLevel:
			return sourceLocal
		case settings.ProjectLevel:
			return sourceProject
		}
		return sourceUser
	}
	return sourceSkills
}

// take makes one batch of changes count, unless somebody objects.
func (e *Engine) take(ctx context.Context, b watch.Batch, o WatchOptions) {
	c := Change{}
	for _, f := range b.Changed {
		if slices.Contains(o.Files, f) && o.File != nil {
			o.File(ctx, f)
		}
		if !slices.Contains(o.Files, f) || e.sourceOf(f) != sourceSkills {
			c.Files = append(c.Files, f)
		}
	}
	for _, f := range slices.Concat(c.Files, b.Dirs) {
		if s := e.sourceOf(f); !slices.Contains(c.Sources, s) {
			c.Sources = append(c.Sources, s)
		}
	}
	slices.Sort(c.Sources)
	if len(c.Sources) == 0 {
		return
	}
	// Nobody stands between an administrator and the policy (spec S-11).
	if o.Allow != nil && !slices.Contains(c.Sources, sourcePolicy) {
		if err := o.Allow(ctx, c); err != nil {
			o.Notice(fmt.Sprintf("changes of %s are not taken over: %v", strings.Join(c.Sources, ", "), err))
			return
		}
	}
	e.forget(b.Dirs)
	before := e.Snapshot()
	if slices.ContainsFunc(c.Sources, func(s string) bool { return s != sourceSkills }) {
		e.reconfigure(o.Notice)
	}
	after, err := e.Refresh(ctx)
	if err != nil {
		return // ctx ended
	}
	c.compare(before, after)
	if o.Done != nil {
		o.Done(c)
	}
}

// reconfigure reads the settings again, and tells what is wrong with them now
// and was not before.
func (e *Engine) reconfigure(notice func(string)) {
	fresh := &Engine{opts: e.opts, real: e.real, project: e.project, place: e.place, trusted: e.trusted, decided: true}
	fresh.configure()
	c := fresh.conf()
	known := e.conf().problems
	for _, p := range c.problems {
		if !slices.Contains(known, p) && p.Severity != skill.Info {
			notice(p.String())
		}
	}
	e.config.Store(c)
	e.catalog.SetOptions(e.catalogOptions())
}

// compare fills in which skills came, changed and went.
func (c *Change) compare(before, after *catalog.Snapshot) {
	was := map[string]*catalog.Entry{}
	for e := range before.All() {
		was[e.ID] = e
	}
	for e := range after.All() {
		old, ok := was[e.ID]
		delete(was, e.ID)
		switch {
		case !ok:
			c.Added = append(c.Added, e.ID)
		case old.Skill != e.Skill && slices.Contains(c.Files, e.Origin.Path):
			c.Changed = append(c.Changed, e.ID)
		}
	}
	for id := range was {
		c.Removed = append(c.Removed, id)
	}
	slices.Sort(c.Added)
	slices.Sort(c.Changed)
	slices.Sort(c.Removed)
}
