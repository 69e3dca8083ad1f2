package knack

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/knack-skills/knack/catalog"
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
	// Allow is asked before a change takes effect, once for each kind of source;
	// its error holds the files of that change, and is told (spec D-8). What is
	// held counts as it was, whatever else changes, until a change of the same
	// file is allowed or it is undone. Of policy Allow is told, but it cannot
	// hold it (spec S-11). Nil allows all.
	Allow func(context.Context, Change) error
	// Done is told of changes that took effect.
	Done func(Change)
	// Files returns further files to watch, absolute; File is told of each that
	// changed, after the change took effect.
	Files func() []string
	File  func(ctx context.Context, path string)
	// Notice is told what a person should know, in a line. Nil drops it. It must
	// not block.
	Notice func(string)
	// Stable, Debounce and Poll are those of [watch.Options].
	Stable, Debounce, Poll time.Duration
}

// Watch keeps the engine up to date with what happens on the disk, until ctx
// ends (spec D-6 to D-8): skills and settings that change while it runs count
// from then on, invocations that have begun keep what they began with. It
// returns when it watches, with a function that ends it and waits until
// everything it held is released. The error is that of ctx.
//
// A settings file that cannot be read any more still says what it said, one of
// the administrator fails closed. Read once, by [New], are: which further
// directories and which plugins belong to the workspace, and whether it is
// trusted. When settings say something else of these, Notice is told that it
// counts from the next session on.
func (e *Engine) Watch(ctx context.Context, o WatchOptions) (stop func(), err error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Files == nil {
		o.Files = func() []string { return nil }
	}
	moved := e.live.join()
	l := &liveness{e: e, o: o, sums: map[string]sum{}}
	w, err := watch.Start(ctx, e.watched(o.Files()), watch.Options{Native: o.Native, Notice: o.Notice, Same: l.same,
		Stable: o.Stable, Debounce: o.Debounce, Poll: o.Poll})
	if err != nil {
		e.live.leave(moved)
		return nil, err
	}
	l.reconfigure(nil, func(string) bool { return true }) // what changed between loading and now is never reported
	e.touch.turn.Lock()
	before := e.Snapshot()
	after, err := e.catalog.Refresh(ctx)
	e.touch.turn.Unlock()
	if err != nil {
		e.live.leave(moved)
		w.Close()
		return nil, err
	}
	l.missed(before, after)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer e.live.leave(moved)
		e.preserve(ctx)
		for batches := w.Batches(); ; {
			select {
			case b, more := <-batches:
				if !more {
					return
				}
				l.take(ctx, b)
				_ = w.SetRoots(ctx, e.watched(o.Files())) // ctx ended: so do the batches
			case <-moved:
				_ = w.SetRoots(ctx, e.watched(o.Files()))
				// What changed between loading them and now is never reported.
				_, _ = e.refresh(ctx, e.belowNested())
			}
		}
	}()
	return func() { w.Close(); <-done }, nil
}

// WatchMore says that [WatchOptions.Files] names others than before. Whoever
// watches asks for them soon; what was done to them until then counts.
func (e *Engine) WatchMore() { e.live.call() }

// watching is who wants to know that there is more to watch.
type watching struct {
	mu  sync.Mutex
	all []chan struct{}
}

func (w *watching) join() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{}, 1)
	w.all = append(w.all, c)
	return c
}

func (w *watching) leave(c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(o chan struct{}) bool { return o == c })
}

func (w *watching) call() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.all {
		select {
		case c <- struct{}{}:
		default: // it has been called already
		}
	}
}

// missed tells of skills that changed between loading and watching: nobody was
// asked about them, since they count already.
func (l *liveness) missed(before, after *catalog.Snapshot) {
	c := Change{Sources: []string{sourceSkills}}
	was := map[string]*skill.Skill{}
	for e := range before.All() {
		was[e.ID] = e.Skill
	}
	for e := range after.All() {
		// A file that was written a moment ago is read again without a change.
		if old := was[e.ID]; old == nil || old.Summary != e.Summary {
			c.Files = append(c.Files, e.Origin.Path)
		}
	}
	slices.Sort(c.Files)
	c.compare(before, after)
	if l.o.Done != nil && len(c.Added)+len(c.Changed)+len(c.Removed) > 0 {
		l.o.Done(c)
	}
}

// watched lists the roots of skills and commands, those found on the way
// included, the settings files, and the files that the host adds.
func (e *Engine) watched(files []string) []watch.Root {
	out := e.watchedSettings()
	for _, f := range files {
		out = append(out, watch.Root{Path: f, Kind: watch.File})
	}
	return append(out, e.watchedSkills()...)
}

func (e *Engine) watchedSkills() (out []watch.Root) {
	roots := e.place.Roots()
	if e.opts.Bare {
		place := e.place
		place.AddDirs = e.opts.AddDirs
		roots = place.Additional()
	}
	for _, r := range slices.Concat(roots, e.nestedRoots()) {
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
	return out
}

// watchedSettings are the files that there are or may be, and the directories in
// which an administrator may put more.
func (e *Engine) watchedSettings() (out []watch.Root) {
	for _, f := range e.settingsFiles() {
		out = append(out, watch.Root{Path: f.path, Kind: watch.File})
	}
	for _, d := range e.dropIns() {
		out = append(out, watch.Root{Path: d, Kind: watch.Settings})
	}
	return out
}

// belowNested tells the files below nested roots from others.
func (e *Engine) belowNested() func(path string) bool {
	roots := e.nestedRoots()
	return func(path string) bool {
		return slices.ContainsFunc(roots, func(r dir.Root) bool { return strings.HasPrefix(path, r.Path+string(filepath.Separator)) })
	}
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
