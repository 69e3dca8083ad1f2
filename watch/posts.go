package watch

import (
	"io/fs"
	"slices"
	"sync"
	"time"
)

// An id tells directories apart; zero where the system has none.
type id struct{ dev, ino uint64 }

var none id

// A post is one directory that is watched natively.
type post struct {
	path  string // without links
	id    id
	lost  bool // the watch may be gone, or may be that of another directory
	wants []want
}

// A want says which entries of a post one root cares about.
type want struct {
	root  *root
	look  uint32
	whole bool     // files and directories, by the root's rule
	files bool     // files by the root's rule
	names []string // these: links, and what a path to a root leads through
}

// concerns reports whether something that happened to an entry matters.
func (w *want) concerns(name string, op Op) bool {
	rule := &rules[w.root.Kind]
	switch {
	case slices.Contains(w.names, name):
		return true
	case (w.files || w.whole) && rule.file(name):
		return true
	}
	return w.whole && op != Write && (rule.enter(name) || name == pluginDir)
}

// Posts are all watched directories, and the inbox of hints. Only the
// goroutine of [Watcher.run] changes what is watched.
type posts struct {
	backend Backend       // nil: polling
	wake    chan struct{} // holds a token when there is something in the inbox

	mu        sync.Mutex
	byPath    map[string]*post
	byID      map[id]*post
	touched   map[string]touch // by path without links
	firstHint time.Time        // since the last look; zero: none
	lastHint  time.Time
	lost      bool    // everything is dirty
	errs      []error // of the backend
	status    Status
}

func (p *posts) open() {
	p.wake = make(chan struct{}, 1)
	p.byPath, p.byID = make(map[string]*post), make(map[id]*post)
	p.touched = make(map[string]touch)
}

// stand watches the directory path for root before anybody looks into it, so
// that nothing can happen in between. It reports whether that is new. The
// error is one of those that [Backend.Watch] names.
func (p *posts) stand(path string, is id, w want) (bool, error) {
	if p.backend == nil {
		return false, nil
	}
	if at := p.post(path, is); at != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		return at.add(w), nil
	}
	at := &post{path: path, id: is, wants: []want{w}}
	p.mu.Lock()
	p.byPath[path] = at
	if at.id != none {
		p.byID[is] = at
	}
	p.mu.Unlock()
	if err := p.backend.Watch(path); err != nil {
		p.drop(at)
		return false, err
	}
	return true, nil
}

// keep goes on watching a directory that no event called into question. It
// reports false when that is not certain.
func (p *posts) keep(path string, w want) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.byPath[path]
	if at == nil || at.lost {
		return false
	}
	at.add(w)
	return true
}

// post returns the post that watches the directory already. Those that watch
// something else by now, or lost their watch, are removed: a directory that
// was renamed keeps its watch under the old name, which must not be taken for
// the new one.
func (p *posts) post(path string, want id) *post {
	known := want != none
	p.mu.Lock()
	at, twin := p.byPath[path], p.byID[want]
	stale := at != nil && (at.lost || known && at.id != want)
	p.mu.Unlock()
	if stale {
		p.leave(at)
		if twin == at {
			twin = nil
		}
		at = nil
	}
	if at != nil || !known || twin == nil {
		return at
	}
	// The same directory under another path: mounted twice, or renamed.
	if now, err := identify(twin.path); err == nil && now == want && !twin.lost {
		return twin
	}
	p.leave(twin)
	return nil
}

// add merges a want. It reports whether something new is wanted.
func (at *post) add(w want) bool {
	i := slices.IndexFunc(at.wants, func(o want) bool { return o.root == w.root })
	if i < 0 {
		at.wants = append(at.wants, w)
		return true
	}
	o := &at.wants[i]
	if o.look != w.look { // of an older look: replaced
		names := w.names
		fresh := w.whole && !o.whole || w.files && !o.files && !o.whole ||
			slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(o.names, n) })
		*o = w
		return fresh
	}
	fresh := w.whole && !o.whole || w.files && !o.files && !o.whole
	o.whole, o.files = o.whole || w.whole, o.files || w.files
	for _, n := range w.names {
		if !slices.Contains(o.names, n) {
			o.names, fresh = append(o.names, n), true
		}
	}
	return fresh
}

// narrow says that the directory turned out to be a leaf: only files in it matter.
func (p *posts) narrow(path string, r *root) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.byPath[path]; at != nil {
		for i := range at.wants {
			if w := &at.wants[i]; w.root == r {
				w.whole, w.files = false, true
			}
		}
	}
}

// wholly reports whether the root wants all entries of the directory anyway.
func (p *posts) wholly(path string, r *root) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.byPath[path]
	return at != nil && slices.ContainsFunc(at.wants, func(w want) bool {
		return w.root == r && w.look == r.look && w.whole
	})
}

// sweep ends one look of r: what it did not want again is not watched for it.
func (p *posts) sweep(r *root) {
	p.without(func(w want) bool { return w.root == r && w.look != r.look })
}

// forget watches nothing for r any more.
func (p *posts) forget(r *root) { p.without(func(w want) bool { return w.root == r }) }

func (p *posts) without(gone func(want) bool) {
	var idle []*post
	p.mu.Lock()
	for _, at := range p.byPath {
		at.wants = slices.DeleteFunc(at.wants, gone)
		if len(at.wants) == 0 {
			idle = append(idle, at)
		}
	}
	p.mu.Unlock()
	for _, at := range idle {
		p.leave(at)
	}
}

func (p *posts) leave(at *post) {
	p.drop(at)
	p.backend.Unwatch(at.path)
}

func (p *posts) drop(at *post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byPath, at.path)
	if p.byID[at.id] == at {
		delete(p.byID, at.id)
	}
}

// close gives up native events.
func (p *posts) close() error {
	if p.backend == nil {
		return nil
	}
	err := p.backend.Close()
	p.backend = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.byPath)
	clear(p.byID)
	clear(p.touched)
	return err
}

func (p *posts) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Err = err.Error()
}

// identify returns the id of a directory.
func identify(path string) (id, error) {
	info, err := lstat(path)
	if err != nil {
		return id{}, err
	}
	if !info.IsDir() {
		return id{}, fs.ErrNotExist
	}
	return idOf(info), nil
}

// publish replaces the status; the last error stays.
func (p *posts) publish(s Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Err = p.status.Err
	p.status = s
}

// report returns the status, with what is watched now.
func (p *posts) report() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Watches = len(p.byPath)
	return s
}
