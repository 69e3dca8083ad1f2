package catalog

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/skill"
)

// A Snapshot is the set of skills at one moment. It never changes, and may be
// read from any goroutine (spec C-12). The zero value is empty and usable.
type Snapshot struct {
	Generation uint64
	Problems   []skill.Problem // of all sources and of the merge, sorted

	ordered  []*Entry
	shadowed []*Entry
	index
	names  map[string][]*Entry // by display name
	nested map[string][]*Entry // by bare id
	opts   Options

	tailsOnce sync.Once
	tails     map[string][]*Entry // plugin skills by their ids without the plugin
}

// snapshot puts the parts together and adds the problems of the merge.
func (m *merger) snapshot() *Snapshot {
	s := &Snapshot{
		ordered:  make([]*Entry, 0, len(m.byID)),
		shadowed: make([]*Entry, 0, len(m.lost)+len(m.same)),
		index:    m.index,
		names:    map[string][]*Entry{},
		nested:   map[string][]*Entry{},
		opts:     m.opts,
	}
	for _, e := range m.all {
		if e.Winner != nil {
			s.shadowed = append(s.shadowed, e)
			continue
		}
		s.ordered = append(s.ordered, e)
		if e.Origin.Below != "" {
			s.nested[e.bare] = append(s.nested[e.bare], e)
		}
	}
	// For claims the class comes first, and within a root the path; people look
	// for sources and ids.
	slices.SortFunc(s.ordered, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.show>>1, b.show>>1), strings.Compare(a.ID, b.ID))
	})
	for _, e := range s.ordered {
		if n := e.displayName(); n != "" {
			s.names[n] = append(s.names[n], e)
		}
	}
	m.problems = append(m.problems, shadowProblems(m.lost)...)
	m.problems = append(m.problems, nameProblems(s)...)
	m.problems = append(m.problems, requireProblems(s)...)
	slices.SortFunc(m.problems, compareProblems)
	s.Problems = slices.Compact(m.problems)
	return s
}

// All yields every entry that is not shadowed, in order of precedence then id.
func (s *Snapshot) All() iter.Seq[*Entry] { return slices.Values(s.ordered) }

// Shadowed yields the losers (spec C-8), highest claim first: skills that lost
// their id (Reason C-5) and files that were reached before (Reason C-7).
func (s *Snapshot) Shadowed() iter.Seq[*Entry] { return slices.Values(s.shadowed) }

// Len is the number of entries that All yields.
func (s *Snapshot) Len() int { return len(s.ordered) }

// Variants returns the nested skills that share e's bare id (spec D-1), without
// e itself and without those that are switched off; deeper directories first.
func (s *Snapshot) Variants(e *Entry) []*Entry {
	if e == nil || e.Skill == nil {
		return nil
	}
	var out []*Entry
	for _, v := range s.nested[nfc(e.Skill.ID)] {
		if v != e && v.State != Disabled {
			out = append(out, v)
		}
	}
	return out
}

// ProblemsOf returns the problems of one file. The result must not be changed.
func (s *Snapshot) ProblemsOf(path string) []skill.Problem {
	byPath := func(p skill.Problem, path string) int { return strings.Compare(p.Path, path) }
	from, found := slices.BinarySearchFunc(s.Problems, path, byPath)
	if !found {
		return nil
	}
	to := from
	for to < len(s.Problems) && s.Problems[to].Path == path {
		to++
	}
	return s.Problems[from:to:to]
}
