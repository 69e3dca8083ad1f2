package watch

import (
	"context"
	"slices"
	"time"
)

// Files returns the files that matter, and those that stand for one, such as a
// link that leads nowhere. It is for watchers to which nothing happens.
func (w *Watcher) Files() (files, odd []string) {
	for _, r := range w.roots {
		for path, n := range r.nodes {
			switch n.now.kind {
			case file:
				files = append(files, path)
			case other:
				odd = append(odd, path)
			}
		}
	}
	slices.Sort(files)
	slices.Sort(odd)
	return files, odd
}

// A Still is a watcher without its goroutine: a benchmark says when to look.
type Still struct{ w *Watcher }

// Stop turns a watcher into a still one. Native events go on.
func Stop(o Options, roots []Root) (*Still, error) {
	w, err := open(context.Background(), func() {}, roots, o)
	return &Still{w}, err
}

// Look looks at all roots, and returns what would be received.
func (s *Still) Look() (Batch, error) {
	for _, r := range s.w.roots {
		if err := s.w.walk(context.Background(), r); err != nil {
			return Batch{}, err
		}
	}
	s.w.conclude(time.Now())
	if s.w.out == nil {
		return Batch{}, nil
	}
	b := s.w.out.batch
	s.w.settle.deliver(s.w.out)
	s.w.out = nil
	return b, nil
}

// Close releases what the watcher holds.
func (s *Still) Close() error { return s.w.posts.close() }

// Remote pretends that all file systems seen so far are network file systems.
func (s *Still) Remote() {
	for dev := range s.w.remotes {
		s.w.remotes[dev] = true
	}
}

// Status is that of the watcher.
func (s *Still) Status() Status { return s.w.Status() }
