package watch

import (
	"context"
	"slices"
	"time"
)

// run is the one goroutine of a watcher. While nothing happens it waits
// without a clock, unless something is polled.
func (w *Watcher) run(ctx context.Context) {
	defer close(w.ended)
	defer close(w.batches)
	defer func() { _ = w.posts.close() }()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		var clock <-chan time.Time
		timer.Stop()
		if next := w.next(); !next.IsZero() {
			timer.Reset(time.Until(next))
			clock = timer.C
		}
		var out chan Batch
		var batch Batch
		if w.out != nil {
			out, batch = w.batches, w.out.batch
		}
		select {
		case <-ctx.Done():
			return
		case out <- batch:
			w.settle.deliver(w.out)
			w.conclude(time.Now())
		case s := <-w.sets:
			s.done <- w.set(s.ctx, s.roots)
		case <-w.posts.wake:
		case <-clock:
			if w.lookAgain(ctx) != nil {
				return
			}
		}
	}
}

// next is when to look again; zero is never.
func (w *Watcher) next() time.Time {
	next := earlier(w.posts.hinted(w.opts.Debounce), w.due)
	if w.polls() {
		next = earlier(next, w.lastPoll.Add(w.opts.Poll))
	}
	if !next.IsZero() && next.Before(w.rest) {
		return w.rest
	}
	return next
}

// polled reports whether events of the root cannot be relied on.
func (w *Watcher) polled(r *root) bool { return w.posts.backend == nil || r.remote || r.locked }

func (w *Watcher) polls() bool {
	for _, r := range w.roots {
		if w.polled(r) {
			return true
		}
	}
	return false
}

// share is how much of one core looking may take, at most: one part in share.
const share = 10

// lookAgain looks at the roots with hints, those with something pending, and
// those whose turn it is to be polled.
func (w *Watcher) lookAgain(ctx context.Context) error {
	begin := time.Now()
	dirty, lost, errs := w.posts.begin(w.roots)
	if w.complaints(errs) {
		dirty, lost = w.roots, true
	}
	w.distrust = lost
	turn := !begin.Before(w.lastPoll.Add(w.opts.Poll))
	if turn {
		w.lastPoll = begin
	}
	for _, r := range w.roots {
		if slices.Contains(dirty, r) || len(r.pending) > 0 || turn && w.polled(r) {
			if err := w.walk(ctx, r); err != nil {
				return err
			}
		}
	}
	end := time.Now()
	w.rest = end.Add((share - 1) * end.Sub(begin))
	w.conclude(end)
	return nil
}

// complaints deals with errors of the backend, after which events may be
// missing: the first is forgiven, the second ends its use. It reports whether
// there were any.
func (w *Watcher) complaints(errs []error) bool {
	for _, err := range errs {
		if w.posts.backend == nil {
			break
		}
		w.posts.fail(err)
		if w.strikes++; w.strikes > 1 {
			w.degrade(err)
		}
	}
	return len(errs) > 0
}

// conclude decides what can be received, after a look or a delivery.
func (w *Watcher) conclude(now time.Time) {
	if w.failed != nil {
		w.degrade(w.failed)
	}
	if w.lastPoll.IsZero() {
		w.lastPoll = now
	}
	touched := w.posts.heard(w.roots, w.polled)
	for {
		w.out, w.due = w.settle.collect(w.roots, touched, now)
		if w.out == nil || !w.unchanged() {
			break
		}
	}
	if w.out != nil {
		if w.announced != w.settle.version {
			w.announced = w.settle.version
			w.generation.Add(1)
		}
		w.out.batch.Generation = w.generation.Load()
	}
	var s Status
	s.Native = w.posts.backend != nil
	for _, r := range w.roots {
		if w.polled(r) {
			s.Polled++
		}
		for _, n := range r.nodes {
			switch n.now.kind {
			case file, other:
				s.Files++
			case directory, unreadable:
				s.Dirs++
			}
		}
	}
	w.posts.publish(s)
}

// unchanged drops files that have the content which the receiver knows. It
// reports whether it dropped any.
func (w *Watcher) unchanged() (any bool) {
	if w.opts.Same == nil {
		return false
	}
	for _, i := range w.out.items {
		n := i.node
		if n.asked || n.base.kind != file || n.now.kind != file {
			continue
		}
		n.asked = true
		if w.opts.Same(i.path) {
			n.base, any = n.now, true
			w.settle.sort(i.root, i.path, n)
		}
	}
	return any
}
