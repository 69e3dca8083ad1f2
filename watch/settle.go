package watch

import (
	"maps"
	"slices"
	"time"
)

// A kind is what lies at a path.
type kind uint8

const (
	absent     kind = iota
	file            // a regular file
	directory       // one that could be listed
	unreadable      // a directory that could not
	other           // a link that leads nowhere allowed, a device, ...
)

// A print tells two states of one path apart. Of directories it holds only
// the kind: what is in them has paths of its own.
type print struct {
	kind        kind
	perm        uint16
	size, mtime int64
	dev, ino    uint64
}

// A node is one path below a root.
type node struct {
	real  string  // without links
	base  print   // what the receiver of batches knows
	now   print   // what was last seen
	first *moment // when it was first seen like this
	seen  uint32  // the look of the root that last saw it
	asked bool    // Options.Same said no about now
}

// A moment is the time of a look, and that of the look before.
type moment struct{ at, before time.Time }

// A root is what is known of one [Root]. nodes holds every path that is there
// or was reported; pending those whose base is not what they are now.
type root struct {
	Root
	nodes   map[string]*node
	pending map[string]*node
	look    uint32
	when    *moment // of the look
	remote  bool    // on a network file system
	locked  bool    // a directory cannot be watched
	dirty   bool    // since the last look; guarded by posts.mu
}

// begin begins a look.
func (r *root) begin(now time.Time) {
	m := &moment{at: now}
	if r.when != nil {
		m.before = r.when.at
	}
	r.look++
	r.when = m
}

// A settle decides when a change is ready to be reported (spec D-7). It knows
// no file system and no clock: what was seen and when is told to it.
type settle struct {
	stable, debounce time.Duration
	version          uint64    // counts every difference found
	firstReady       time.Time // since when something waits for the rest
}

// A touch is what native events said about one path.
type touch struct {
	at    time.Time // the last event
	wrote time.Time // the last write
	whole bool      // it appeared, and was not written to since
	fresh bool      // since the last look
}

// saw notes what lies at path now.
func (s *settle) saw(r *root, path, real string, p print) {
	n := r.nodes[path]
	if n == nil {
		n = new(node)
		r.nodes[path] = n
	}
	n.seen, n.real = r.look, real
	s.update(r, path, n, p)
}

// sweep ends one look: what it did not see is not there.
func (s *settle) sweep(r *root) {
	for path, n := range r.nodes {
		if n.seen != r.look {
			s.update(r, path, n, print{})
		}
	}
}

func (s *settle) update(r *root, path string, n *node, p print) {
	if p == n.now {
		return
	}
	n.now, n.first, n.asked = p, r.when, false
	s.version++
	s.sort(r, path, n)
}

// sort puts the node where it belongs.
func (s *settle) sort(r *root, path string, n *node) {
	if n.now != n.base {
		r.pending[path] = n
		return
	}
	delete(r.pending, path)
	if n.now.kind == absent {
		delete(r.nodes, path)
	}
}

// accept makes everything that was seen known.
func (s *settle) accept(r *root) {
	for path, n := range r.pending {
		n.base = n.now
		s.sort(r, path, n)
	}
}

// due is when the change of n counts, if nothing more happens. t is what events
// said about it, or about a directory it is in; zero when they are not relied on.
func (s *settle) due(n *node, t touch, now time.Time) time.Time {
	// Calm since the last event, if that can have been about this change:
	// since the change was first seen otherwise.
	calm := n.first.at
	if !t.at.IsZero() && !t.at.Before(n.first.before) {
		calm = t.at
	}
	if n.now.kind != file || t.whole && n.now.size > 0 {
		return calm.Add(s.debounce)
	}
	// It may be growing. Events say when it was last written to. Without them
	// its own time does; one in the future says nothing.
	quiet, own := n.first.at, time.Unix(0, n.now.mtime)
	switch {
	case !t.wrote.IsZero():
		quiet = t.wrote
		if own.After(quiet) && !own.After(now) {
			quiet = own
		}
	case own.Before(quiet):
		quiet = own
	}
	quiet = quiet.Add(s.stable)
	if quiet.Before(calm) {
		quiet = calm
	}
	return quiet.Add(s.debounce)
}

// A ready is a batch with all that its delivery changes.
type ready struct {
	batch Batch
	items []item
}

type item struct {
	root *root
	path string
	node *node
	now  print
}

// collect returns what can be reported now, or nil, and when to ask again; zero
// is never.
//
// What is ready waits a little for what is not, so that one action of somebody
// is one batch; a file that grows on and on does not hold up the others.
func (s *settle) collect(roots []*root, touched map[*node]touch, now time.Time) (*ready, time.Time) {
	var out ready
	var next time.Time
	for _, r := range roots {
		for path, n := range r.pending {
			if due := s.due(n, touched[n], now); due.After(now) {
				next = earlier(next, due)
				continue
			}
			out.items = append(out.items, item{r, path, n, n.now})
		}
	}
	if len(out.items) == 0 {
		s.firstReady = time.Time{}
		return nil, next
	}
	if s.firstReady.IsZero() {
		s.firstReady = now
	}
	if end := s.firstReady.Add(s.stable + s.debounce); !next.IsZero() && now.Before(end) {
		return nil, earlier(next, end)
	}
	out.list()
	return &out, next
}

// earlier returns the earlier time; a zero one does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// list fills in the batch.
func (y *ready) list() {
	files, dirs := make(map[string]bool), make(map[string]bool)
	for _, i := range y.items {
		for _, p := range []print{i.node.base, i.now} {
			switch p.kind {
			case directory, unreadable:
				dirs[i.path] = true
			case file, other:
				files[i.path] = true
			}
		}
	}
	y.batch.Changed = slices.Sorted(maps.Keys(files))
	y.batch.Dirs = slices.Sorted(maps.Keys(dirs))
}

// deliver notes that the receiver knows what y says.
func (s *settle) deliver(y *ready) {
	for _, i := range y.items {
		if i.root.nodes[i.path] != i.node {
			continue
		}
		i.node.base = i.now
		s.sort(i.root, i.path, i.node)
	}
	s.firstReady = time.Time{}
}
