package watch

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// A world is a tree without a file system, and one who receives batches and
// then reads what they name.
type world struct {
	now     time.Time
	settle  settle
	root    *root
	polled  bool
	tree    map[string]print
	changed map[string]time.Time // last write that grows a file
	touched map[string]touch
	known   map[string]print // what the receiver read
	inode   uint64
}

func newWorld(polled bool) *world {
	w := &world{
		now:    time.Unix(1e9, 0),
		settle: settle{stable: DefaultStable, debounce: DefaultDebounce},
		root:   &root{nodes: make(map[string]*node), pending: make(map[string]*node)}, polled: polled,
		tree: make(map[string]print), changed: make(map[string]time.Time),
		touched: make(map[string]touch), known: make(map[string]print),
	}
	for i := range 3 {
		w.create(path(i), 1)
	}
	w.look()
	w.settle.accept(w.root)
	maps.Copy(w.known, w.tree)
	clear(w.touched)
	return w
}

func path(i int) string { return fmt.Sprintf("f%d", i%6) }

// hinted notes that there was an event.
func (w *world) hinted(p string, t touch) {
	if !w.polled {
		t.at = w.now
		w.touched[p] = t
	}
}

func (w *world) create(p string, size int64) {
	w.inode++
	w.tree[p] = print{kind: file, size: size, mtime: w.now.UnixNano(), ino: w.inode}
	w.changed[p] = w.now
	w.hinted(p, touch{wrote: w.now})
}

// do carries out one step.
func (w *world) do(op byte, p string) {
	at := w.tree[p]
	switch op % 8 {
	case 0: // unlink and create anew
		w.create(p, 1)
	case 1: // write more
		if at.kind == file {
			at.size, at.mtime = at.size+1, w.now.UnixNano()
			w.tree[p], w.changed[p] = at, w.now
			w.hinted(p, touch{wrote: w.now})
		}
	case 2: // rename another file over it: whole from the beginning
		w.inode++
		w.tree[p] = print{kind: file, size: 7, mtime: w.now.UnixNano(), ino: w.inode}
		delete(w.changed, p)
		w.hinted(p, touch{whole: true})
	case 3:
		if at.kind != absent {
			delete(w.tree, p)
			w.hinted(p, touch{})
		}
	case 4: // a directory instead
		if at.kind == absent {
			w.tree[p] = print{kind: directory}
			w.hinted(p, touch{})
		}
	case 5:
		w.look()
	case 6: // undo: what the receiver knows is there again
		if was := w.known[p]; was != at {
			w.tree[p] = was
			if was.kind == absent {
				delete(w.tree, p)
			}
			delete(w.changed, p)
			w.hinted(p, touch{whole: true})
		}
	}
}

// look looks, as a watcher does.
func (w *world) look() {
	w.root.begin(w.now)
	for p, at := range w.tree {
		w.settle.saw(w.root, p, p, at)
	}
	w.settle.sweep(w.root)
}

// receive takes the batch that is ready. It returns its size, and when to ask
// again.
func (w *world) receive(t *testing.T) (int, time.Time) {
	touched := make(map[*node]touch)
	for p, n := range w.root.pending {
		touched[n] = w.touched[p]
	}
	y, next := w.settle.collect([]*root{w.root}, touched, w.now)
	if y == nil {
		return 0, next
	}
	for _, i := range y.items {
		p := i.path
		if i.now == i.node.base {
			t.Errorf("%s is reported, but did not change", p)
		}
		if at := w.tree[p]; at == i.now && at.kind == file && !w.changed[p].IsZero() {
			if quiet := w.now.Sub(w.changed[p]); quiet < DefaultStable {
				t.Errorf("%s is reported %v after it was written to", p, quiet)
			}
		}
		w.known[p] = w.tree[p]
		if w.known[p].kind == absent {
			delete(w.known, p)
		}
	}
	if !slices.IsSorted(y.batch.Changed) || len(y.batch.Changed)+len(y.batch.Dirs) < len(y.items) {
		t.Errorf("batch %+v of %d items", y.batch, len(y.items))
	}
	w.settle.deliver(y)
	return len(y.items), next
}

// FuzzSettle: whatever happens, nothing is reported while it is being written,
// and once all is quiet the receiver knows the tree as it is.
func FuzzSettle(f *testing.F) {
	f.Add([]byte("\x00\x01\x02"), false)
	f.Add([]byte{3, 0, 40, 0, 0, 40, 5, 0, 10, 1, 0, 10, 5, 0, 255}, false) // unlink, create
	f.Add([]byte{0, 4, 5, 5, 0, 200, 3, 4, 0, 5, 0, 0, 6, 4, 90}, true)
	f.Add([]byte{2, 1, 0, 5, 0, 0, 4, 5, 100, 3, 5, 100, 0, 5, 100}, true)
	f.Fuzz(func(t *testing.T, script []byte, polled bool) {
		w := newWorld(polled)
		for len(script) >= 3 {
			w.do(script[0], path(int(script[1])))
			w.now = w.now.Add(time.Duration(script[2]) * 10 * time.Millisecond)
			if script[1]&0x80 != 0 {
				w.look()
				w.receive(t)
			}
			script = script[3:]
		}
		for range 100 { // quiet: looks as often as the machine asks for it
			w.look()
			_, next := w.receive(t)
			if next.IsZero() && len(w.root.pending) == 0 {
				break
			}
			if w.now = w.now.Add(time.Millisecond); next.After(w.now) {
				w.now = next
			}
		}
		if len(w.root.nodes) != len(w.tree) {
			t.Errorf("%d nodes for %d paths", len(w.root.nodes), len(w.tree))
		}
		if len(w.root.pending) > 0 || !maps.Equal(w.known, w.tree) {
			t.Errorf("quiet: pending %d\nknown %v\ntree  %v", len(w.root.pending), w.known, w.tree)
		}
		for p, n := range w.root.nodes {
			if n.base != w.tree[p] || n.base != n.now {
				t.Errorf("%s: base %v, now %v, tree %v", p, n.base, n.now, w.tree[p])
			}
		}
	})
}

// TestDue: only an event that can have been about a change says when it was.
func TestDue(t *testing.T) {
	s := settle{stable: DefaultStable, debounce: DefaultDebounce}
	at := func(ms int) time.Time { return time.Unix(1e9, 0).Add(time.Duration(ms) * time.Millisecond) }
	n := &node{base: print{kind: file}, first: &moment{at: at(9000), before: at(5000)}}
	for event, want := range map[int]int{1000: 9300, 4999: 9300, 5000: 5300, 8800: 9100, 9100: 9400} {
		if got := s.due(n, touch{at: at(event)}, at(9000)); !got.Equal(at(want)) {
			t.Errorf("a removal with an event at %d is due at %v, want %v", event, got, at(want))
		}
	}
	if got := s.due(n, touch{}, at(9000)); !got.Equal(at(9300)) {
		t.Errorf("a removal without an event is due at %v", got)
	}
}
