package dir

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/index"
)

// The policy of remembering; docs/design has the measurements.
const (
	// indexFrom is from how many files of a root on an index is written. Below,
	// reading the files is as fast.
	indexFrom = 500
	// indexAfter is which part of a root's files must have been read for its
	// index to be written again, as one in so many.
	indexAfter = 20
	// indexAge is how long an index that nobody wrote stays.
	indexAge = 90 * 24 * time.Hour
	// Two changes within one tick of a file system's clock leave one stamp. A
	// file that was read so soon after its last change is read again.
	fineTick   = 100 * time.Millisecond
	coarseTick = 2100 * time.Millisecond // where times are whole seconds
)

// A Cache remembers what the files of roots said (see [Root.Cache]). While it
// lives, a file that an edit broke keeps its last good version (spec D-8). It
// is safe for concurrent use. A nil Cache remembers nothing.
type Cache struct {
	dir string // of indexes; empty without

	mu    sync.Mutex
	roots map[Root]*known // by root, without its Cache

	shared shelf // the roots have files in common

	only atomic.Pointer[func(string) bool] // see Limit; nil is no limit
	keep atomic.Int64                      // see Preserve; 0 keeps no text
	held atomic.Int64                      // bytes of it
}

// NewCache returns an empty cache. It looks for indexes of earlier processes in
// dir, and [Cache.Save] writes them there; empty means none.
func NewCache(dir string) *Cache { return &Cache{dir: dir, roots: map[Root]*known{}} }

// known is what one load of a root found. It does not change.
type known struct {
	fence   *fence // nil: there was no such root
	entries []*entry
	refused map[string]finding // files of which nothing was loaded, by path

	once   sync.Once
	byPath map[string]*entry
}

func (k *known) find(path string) *entry {
	k.once.Do(func() {
		k.byPath = make(map[string]*entry, len(k.entries))
		for _, e := range k.entries {
			k.byPath[e.path] = e
		}
	})
	return k.byPath[path]
}

// An entry is one file that a load read. It does not change but for the last
// two fields.
type entry struct {
	path, real string
	stamp      index.Stamp
	linked     bool
	settled    bool // an equal stamp means equal bytes
	blank      bool
	skill      *skill.Skill
	fields     int
	problems   []skill.Problem        // of the file
	more       []skill.Problem        // all of them, with those of its name
	good       *entry                 // the version that is kept; nil when this one counts itself
	stored     atomic.Bool            // the index has it
	text       atomic.Pointer[string] // the whole file, see Preserve
}

func (e *entry) finding() finding { return finding{skill: e.skill, problems: e.more, entry: e} }

// entry remembers what the file at p became.
func (s *scan) entry(p place, rd reading, sk *skill.Skill, problems []skill.Problem) *entry {
	e := &entry{
		path: p.path, real: p.real, linked: p.linked,
		stamp: rd.stamp, settled: rd.stored || settled(rd.stamp, rd.at), blank: rd.blank,
		skill: sk, fields: rd.fields, problems: rd.problems, more: problems,
	}
	e.stored.Store(rd.stored)
	return e
}

// settled reports whether a file that was read at a time, in nanoseconds since
// 1970, had not just changed.
func settled(st index.Stamp, at int64) bool {
	tick := fineTick
	if st.ModTime%int64(time.Second) == 0 && st.ChangeTime%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return max(st.ModTime, st.ChangeTime) < at-int64(tick)
}

// recall finds what the last load of the root left, or else an earlier process.
func (s *scan) recall() {
	c := s.root.Cache
	if c == nil {
		return
	}
	c.mu.Lock()
	s.before = c.roots[s.root.key()]
	c.mu.Unlock()
	switch {
	case s.before == nil:
		s.index = c.open(s.root)
		s.only = nil // all of it is new
	case s.before.fence == nil:
	case *s.before.fence != *s.fence:
		s.before, s.only = nil, nil // links lead elsewhere now, and every body holds the fence
	default:
		s.fence = s.before.fence
	}
}

// key is r without what does not decide what is found.
func (r Root) key() Root {
	r.Cache = nil
	return r
}

// again returns the entry of the file at p, if the file is as it was.
func (s *scan) again(p place) *entry {
	if s.before == nil {
		return nil
	}
	e := s.before.find(p.path)
	if !s.may(p.path) {
		return e
	}
	if e == nil || !e.settled || e.real != p.real || e.linked != p.linked {
		return nil
	}
	var in info
	if err := lstat(p.real, &in); err != nil || !in.regular || in.Stamp != e.stamp {
		return nil
	}
	return e
}

// take notes what this load made of a file.
func (s *scan) take(f finding) {
	if s.root.Cache == nil {
		return
	}
	if f.entry != nil {
		s.now = append(s.now, f.entry)
	}
	if f.refused != "" {
		if s.refused == nil {
			s.refused = map[string]finding{}
		}
		s.refused[f.refused] = f
	}
}

// remember keeps what s found for the next load of its root.
func (c *Cache) remember(ctx context.Context, s *scan) {
	if c == nil {
		return
	}
	k := &known{fence: s.fence, entries: s.now, refused: s.refused}
	c.mu.Lock()
	before := c.roots[s.root.key()]
	c.roots[s.root.key()] = k
	c.mu.Unlock()
	c.drop(before, k)
	c.hold(ctx, k)
}

// forget lets go of a root that is gone: what appears there later is new.
func (c *Cache) forget(r Root) {
	if c == nil {
		return
	}
	c.mu.Lock()
	before := c.roots[r.key()]
	c.roots[r.key()] = &known{}
	c.mu.Unlock()
	c.drop(before, nil)
}
