// Package catalog holds the skills of a workspace. It merges sources in order
// of precedence and publishes the result as immutable snapshots (spec chapter 2).
//
// Who wins an id is decided by the table in precedence.go alone; nothing
// depends on the order in which sources are given or finish loading. Nothing
// is dropped: a skill that loses its id stays in [Snapshot.Shadowed] with the
// reason, and [Snapshot.Explain] tells every rule that had a say.
//
// Where the files are is the business of the packages below source/, what a
// permission rule says that of package permission ([Options].Denied), and how
// the model is told that of package listing. A [Catalog] and a [Snapshot] may
// be used from any goroutine.
package catalog

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/knack-skills/knack/skill"
)

// A Source supplies skills. Packages below source/ implement it without
// importing this package. Load may run in parallel with other sources.
// Package sourcetest checks an implementation.
type Source interface {
	Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error)
}

// A Catalog owns the current snapshot. It is safe for concurrent use.
type Catalog struct {
	current atomic.Pointer[Snapshot]

	mu        sync.Mutex // guards the fields below
	opts      Options
	sources   []Source
	results   []result // what each source gave last, by index
	listeners []func(*Snapshot)
	next      *wave    // the load that has not begun; nil if nobody waits for one
	busy      bool     // a load is running or about to
	stale     []Source // to be read again by the next load
}

// A result is what one source gave.
type result struct {
	loaded   bool
	skills   []*skill.Skill
	problems []skill.Problem
}

// A wave is one load and all the calls that share it.
type wave struct {
	ctx    context.Context // ends when nobody waits any more
	cancel context.CancelFunc
	done   chan struct{} // closed when snapshot is set
	// snapshot is written before done is closed and read after it.
	snapshot *Snapshot

	waiters int  // guarded by Catalog.mu
	all     bool // every source, or only those never loaded; guarded by Catalog.mu
}

// New returns an empty catalog over sources. Their order does not matter.
func New(opts Options, sources ...Source) *Catalog {
	c := &Catalog{
		opts:    opts,
		sources: slices.Clone(sources),
		results: make([]result, len(sources)),
	}
	c.current.Store(&Snapshot{})
	return c
}

// Snapshot returns the current snapshot, without locking. Before the first
// Refresh it is empty, with generation 0.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Refresh loads all sources in parallel and publishes a new snapshot. A source
// that fails becomes a problem and the rest still load. The only error is that
// of ctx.
//
// Concurrent calls share one load: all that arrive before it begins. Calls
// that arrive while a load is running share the next one, since the running
// load may have read a file before they saw it change. So a caller always gets
// what was there when it called, and any number of calls costs at most two loads.
func (c *Catalog) Refresh(ctx context.Context) (*Snapshot, error) {
	return c.wait(ctx, true, nil)
}

// Add joins sources that were discovered later (spec D-1) and publishes a new
// snapshot. Only sources that were never loaded are read; the others keep what
// they gave last. If ctx ends first, the sources are still part of the next load.
func (c *Catalog) Add(ctx context.Context, sources ...Source) (*Snapshot, error) {
	return c.wait(ctx, false, sources)
}

// Reload reads these sources again, and no others, and publishes a new snapshot.
// It is for sources that say themselves that they changed. Each is one that was
// given to New or Add, and is known by its pointer.
func (c *Catalog) Reload(ctx context.Context, sources ...Source) (*Snapshot, error) {
	c.mu.Lock()
	c.stale = append(c.stale, sources...)
	c.mu.Unlock()
	return c.wait(ctx, false, nil)
}

// SetOptions replaces the policy from the next snapshot on. Add without
// sources publishes that one without reading any source again.
func (c *Catalog) SetOptions(opts Options) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts = opts
}

// OnChange calls f with every later snapshot, never under a lock, before the
// Refresh or Add that caused it returns. f may itself call Refresh. Calls may
// overlap and come out of order: Generation tells which snapshot is newer.
func (c *Catalog) OnChange(f func(*Snapshot)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, f)
}

// wait joins the next wave and waits for its end or that of ctx.
func (c *Catalog) wait(ctx context.Context, all bool, added []Source) (*Snapshot, error) {
	c.mu.Lock()
	c.sources = append(c.sources, added...)
	c.results = append(c.results, make([]result, len(added))...)
	if err := ctx.Err(); err != nil {
		c.mu.Unlock()
		return nil, err
	}
	w := c.next
	if w == nil {
		w = &wave{done: make(chan struct{})}
		// The load belongs to all its waiters, so the first one's ctx must not
		// end it for the others.
		w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
		c.next = w
		c.start()
	}
	w.waiters++
	w.all = w.all || all
	c.mu.Unlock()

	select {
	case <-w.done:
		return w.snapshot, nil
	case <-ctx.Done():
		c.leave(w)
		return nil, ctx.Err()
	}
}

// leave takes one waiter off w and ends the load when it was the last.
func (c *Catalog) leave(w *wave) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.waiters--; w.waiters > 0 {
		return
	}
	w.cancel()
	if c.next == w {
		c.next = nil
	}
}

// start runs the next wave unless one is running. c.mu is held.
func (c *Catalog) start() {
	if c.next != nil && !c.busy {
		c.busy = true
		go c.run()
	}
}

// run loads the next wave, publishes its snapshot and tells the listeners.
func (c *Catalog) run() {
	c.mu.Lock()
	w := c.next
	if w == nil { // its last waiter left before it began
		c.busy = false
		c.mu.Unlock()
		return
	}
	c.next = nil
	sources, results, opts := slices.Clone(c.sources), slices.Clone(c.results), c.opts
	all, stale := w.all, c.stale
	c.stale = nil
	c.mu.Unlock()
	for i, src := range sources {
		results[i].loaded = results[i].loaded && !slices.Contains(stale, src)
	}

	load(w.ctx, sources, results, all)
	var snapshot *Snapshot
	if w.ctx.Err() == nil {
		snapshot = merge(results, opts)
		snapshot.Generation = c.current.Load().Generation + 1
	}

	c.mu.Lock()
	if snapshot != nil {
		copy(c.results, results) // Add may have appended meanwhile
		c.current.Store(snapshot)
	} else {
		c.stale = append(c.stale, stale...) // nobody has read them
	}
	listeners := slices.Clone(c.listeners)
	c.busy = false
	c.start()
	c.mu.Unlock()

	w.cancel()
	if snapshot == nil { // everybody has left
		return
	}
	w.snapshot = snapshot
	for _, f := range listeners {
		f(snapshot)
	}
	close(w.done)
}

// load fills results, in parallel and by index (spec C-11).
func load(ctx context.Context, sources []Source, results []result, all bool) {
	var wg sync.WaitGroup
	for i, src := range sources {
		if results[i].loaded && !all {
			continue
		}
		wg.Go(func() {
			skills, problems, err := src.Load(ctx)
			if err != nil {
				problems = append(slices.Clip(problems), sourceFailed(err))
			}
			results[i] = result{loaded: true, skills: skills, problems: problems}
		})
	}
	wg.Wait()
}
