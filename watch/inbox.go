package watch

import (
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"time"
)

// maxTouched bounds what is remembered of a flood of events. Files whose
// events were not remembered count as growing.
const maxTouched = 20_000

// hint takes what the backend says. It keeps only what concerns a root.
func (p *posts) hint(h Hint) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.Err != nil {
		if errors.Is(h.Err, ErrOverflow) {
			p.lost = true
		} else {
			p.errs = append(p.errs, h.Err)
		}
		p.arrived(now)
		return
	}
	hit := false
	if at := p.byPath[h.Path]; at != nil && h.Op != Write {
		at.lost = at.lost || h.Op != Attrib
		for _, w := range at.wants {
			w.root.dirty, hit = true, true
		}
	}
	dir, name := filepath.Split(h.Path)
	if at := p.byPath[trim(dir)]; at != nil {
		for i := range at.wants {
			if w := &at.wants[i]; w.concerns(name, h.Op) {
				w.root.dirty, hit = true, true
			}
		}
	}
	if hit && p.touch(h, now) {
		p.arrived(now)
	}
}

// trim removes the separator at the end of a directory, except a root's.
func trim(dir string) string {
	if len(dir) > 1+len(filepath.VolumeName(dir)) {
		return strings.TrimSuffix(dir, string(filepath.Separator))
	}
	return dir
}

// touch remembers a hint. It reports whether that is news since the last look:
// a file that is written to all the time does not put off looking.
func (p *posts) touch(h Hint, now time.Time) bool {
	t, known := p.touched[h.Path]
	if !known && len(p.touched) >= maxTouched {
		return true
	}
	news := !t.fresh
	t.fresh, t.at = true, now
	switch h.Op {
	case Write:
		t.wrote, t.whole = now, false
	case Create:
		t.wrote, t.whole = time.Time{}, true
	case Other:
		t.whole = false
	}
	p.touched[h.Path] = t
	return news
}

// arrived notes that there is something to look at.
func (p *posts) arrived(now time.Time) {
	if p.firstHint.IsZero() {
		p.firstHint = now
	}
	p.lastHint = now
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// begin empties the inbox for a look. It returns the roots to look at, out of
// all, whether events were lost, and the errors of the backend.
func (p *posts) begin(all []*root) (dirty []*root, lost bool, errs []error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range all {
		if r.dirty || p.lost {
			dirty = append(dirty, r)
		}
		r.dirty = false
	}
	for path, t := range p.touched {
		t.fresh = false
		p.touched[path] = t
	}
	lost, errs = p.lost, p.errs
	p.lost, p.errs, p.firstHint = false, nil, time.Time{}
	return dirty, lost, errs
}

// hinted is when to look because of hints; zero is never.
func (p *posts) hinted(debounce time.Duration) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.firstHint.IsZero() {
		return time.Time{}
	}
	return earlier(p.lastHint.Add(debounce), p.firstHint.Add(patience))
}

// heard returns what native events said about everything pending. What they
// said is forgotten when nothing is.
func (p *posts) heard(roots []*root, polled func(*root) bool) map[*node]touch {
	out := make(map[*node]touch)
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := false
	for _, r := range roots {
		pending = pending || len(r.pending) > 0
		if polled(r) {
			continue
		}
		for _, n := range r.pending {
			out[n] = p.about(n.real)
		}
	}
	if !pending {
		maps.DeleteFunc(p.touched, func(_ string, t touch) bool { return !t.fresh })
	}
	return out
}

// about returns what was said about path. A directory above it that was
// renamed took it along: then its time counts, if it is later.
func (p *posts) about(path string) touch {
	t := p.touched[path]
	for {
		up := filepath.Dir(path)
		if up == path {
			return t
		}
		path = up
		if above, ok := p.touched[path]; ok && above.at.After(t.at) {
			t.at = above.at
		}
	}
}
