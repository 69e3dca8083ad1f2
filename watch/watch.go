// Package watch tells which files of skills, commands and settings changed
// (spec D-6, D-7, D-9). It finds them as package source/dir does, waits until
// they are quiet, and hands over what changed in batches. What the files say is
// the business of whoever loads them; this package never opens one.
//
// Native events are hints that something below a root may have changed, no
// more. What did change is found by looking at the root again and comparing, so
// that lost, late and doubled events make no difference, and polling is the same
// thing started by a clock.
//
// A [Watcher] is safe for concurrent use. Everything else is plain values.
package watch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// The values that stand in for zero in [Options].
const (
	DefaultStable   = time.Second
	DefaultDebounce = 300 * time.Millisecond
	DefaultPoll     = 2 * time.Second
)

// patience is how long an uninterrupted stream of events can put off looking.
const patience = 10 * time.Second

// A Root is one directory, or one file, to watch. It need not exist.
type Root struct {
	Path string // made absolute; may lead through links
	Kind Kind
	// Boundary is the directory that links below the root may not leave, see
	// package source/dir. Empty follows links anywhere.
	Boundary string
}

// Options are the settings of a [Watcher]. The zero value polls.
type Options struct {
	// Native opens the source of native events; nil polls. Roots on network
	// file systems, and all roots when native events fail, are polled anyway.
	Native Native
	// Stable is how long a file that is being written must be left alone
	// before it counts; zero means DefaultStable. A file that was put in its
	// place whole, by renaming, counts at once.
	Stable time.Duration
	// Debounce is how long to collect further changes; zero means DefaultDebounce.
	Debounce time.Duration
	// Poll is how often polled roots are looked at; zero means DefaultPoll.
	Poll time.Duration
	// Same reports whether the file has the content that the caller knows. It
	// is asked, one call at a time, before an existing file is reported as
	// changed; nil reports each. It may read the file.
	Same func(path string) bool
	// Notice is told, at most once, that native events failed and what to do.
	// Nil drops it. It must not block.
	Notice func(text string)
}

// A Batch is what changed since the batch before, each list in byte order.
type Batch struct {
	// Changed are the files that appeared, changed or disappeared, by the
	// path below their root, whatever links it leads through.
	Changed []string
	// Dirs are the directories that appeared, disappeared, or became readable
	// or unreadable: roots, categories and the directories of skills.
	Dirs []string
	// Generation is a number that grows, see [Watcher.Generation].
	Generation uint64
}

// Status is how a [Watcher] is doing.
type Status struct {
	Native  bool   // native events work
	Watches int    // directories that are watched natively
	Files   int    // files that are there
	Dirs    int    // directories that are there
	Polled  int    // roots that are polled
	Err     string // the last thing that failed, or ""
}

// A Watcher watches roots until it is closed.
type Watcher struct {
	opts       Options
	batches    chan Batch
	sets       chan setting
	cancel     context.CancelFunc
	ended      chan struct{}
	generation atomic.Uint64

	// What follows belongs to the goroutine of run.
	roots     []*root
	settle    settle
	remotes   map[uint64]bool // by device: a network file system
	out       *ready          // waits to be received
	rest      time.Time       // no look before
	due       time.Time       // when something pending may be ready; zero: nothing is
	lastPoll  time.Time
	strikes   int    // errors of the backend
	distrust  bool   // events were lost before this look
	failed    error  // of the native watches, noticed while looking
	announced uint64 // settle.version of the last generation

	posts posts
}

// A setting is a call of [Watcher.SetRoots] on its way.
type setting struct {
	ctx   context.Context
	roots []Root
	done  chan error
}

// Start watches roots until ctx ends or [Watcher.Close] is called. What is
// there when it returns is known and is not reported; whatever changes later is.
// So start first and load then, or load once more. The error is that of ctx.
func Start(ctx context.Context, roots []Root, o Options) (*Watcher, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := open(ctx, cancel, roots, o)
	if err != nil {
		cancel()
		return nil, err
	}
	go w.run(ctx)
	return w, nil
}

// open makes a watcher that knows what is there.
func open(ctx context.Context, cancel context.CancelFunc, roots []Root, o Options) (*Watcher, error) {
	o.Stable = positive(o.Stable, DefaultStable)
	o.Debounce = positive(o.Debounce, DefaultDebounce)
	o.Poll = positive(o.Poll, DefaultPoll)
	w := &Watcher{
		opts: o, cancel: cancel,
		batches: make(chan Batch), sets: make(chan setting), ended: make(chan struct{}),
		remotes: make(map[uint64]bool),
		settle:  settle{stable: o.Stable, debounce: o.Debounce},
	}
	w.posts.open()
	if o.Native != nil {
		b, err := o.Native(w.posts.hint)
		if err != nil {
			w.degrade(err)
		} else {
			w.posts.backend = b
		}
	}
	if err := w.set(ctx, roots); err != nil {
		return nil, errors.Join(err, w.posts.close())
	}
	return w, nil
}

func positive(d, instead time.Duration) time.Duration {
	if d <= 0 {
		return instead
	}
	return d
}

// Batches returns the channel of batches. While nobody receives, changes are
// merged into the batch that waits, and what was undone drops out of it. The
// channel is closed when the watcher has ended.
func (w *Watcher) Batches() <-chan Batch { return w.batches }

// Generation is the number of the newest batch. While it is greater than that
// of the batch being worked on, another one waits to be received: what has been
// loaded for the older one may be out of date already.
func (w *Watcher) Generation() uint64 { return w.generation.Load() }

// Status reports how the watcher is doing.
func (w *Watcher) Status() Status { return w.posts.report() }

// SetRoots replaces the roots. As with [Start], what is below a new root when
// SetRoots returns is known; roots that stay keep what they have not reported
// yet. The error is that of ctx, or says that the watcher has ended.
func (w *Watcher) SetRoots(ctx context.Context, roots []Root) error {
	s := setting{ctx, slices.Clone(roots), make(chan error, 1)}
	select {
	case w.sets <- s:
		return <-s.done
	case <-ctx.Done():
		return ctx.Err()
	case <-w.ended:
		return errEnded
	}
}

var errEnded = errors.New("set the roots to watch: the watcher has ended")

// Close ends the watcher and returns when everything it held is released.
func (w *Watcher) Close() {
	w.cancel()
	<-w.ended
}

// set makes the roots those of list, and learns what is below the new ones.
func (w *Watcher) set(ctx context.Context, list []Root) error {
	old := make(map[Root]*root)
	for _, r := range w.roots {
		old[r.Root] = r
	}
	next, fresh := make([]*root, 0, len(list)), []*root(nil)
	for _, spec := range list {
		if abs, err := filepath.Abs(spec.Path); err == nil {
			spec.Path = abs
		}
		r := old[spec]
		switch {
		case slices.ContainsFunc(next, func(n *root) bool { return n.Root == spec }):
			continue
		case r == nil:
			r = &root{Root: spec, nodes: make(map[string]*node), pending: make(map[string]*node)}
			fresh = append(fresh, r)
		}
		delete(old, spec)
		next = append(next, r)
	}
	for _, r := range fresh {
		if err := w.walk(ctx, r); err != nil {
			for _, r := range fresh {
				w.posts.forget(r)
			}
			return err
		}
		w.settle.accept(r)
	}
	for _, r := range old {
		w.posts.forget(r)
	}
	w.roots = next
	w.conclude(time.Now())
	return nil
}

// remedies say what helps against a limit, by the error that it causes.
var remedies = []struct {
	err error
	fix string
}{
	{syscall.ENOSPC, "raise fs.inotify.max_user_watches"},
	{syscall.EMFILE, "raise fs.inotify.max_user_instances or the limit of open files"},
	{syscall.ENFILE, "raise the limit of open files"},
}

// degrade gives up native events, and polls from now on.
func (w *Watcher) degrade(err error) {
	text := fmt.Sprintf("native file events are off: %v; files are looked at every %v instead", err, w.opts.Poll)
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			text += " (" + r.fix + ")"
			break
		}
	}
	if w.opts.Notice != nil {
		w.opts.Notice(text)
	}
	w.failed = nil
	w.posts.fail(err)
	if cerr := w.posts.close(); cerr != nil {
		w.posts.fail(errors.Join(err, cerr))
	}
}
