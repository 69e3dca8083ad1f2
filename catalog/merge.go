package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/knack-skills/knack/skill"
)

// A merger builds one snapshot. Its methods run in the order in which merge
// calls them; each says what it decides.
type merger struct {
	opts     Options
	problems []skill.Problem

	all    []*Entry // every skill, in the order of claims
	unique []*Entry // without files that were reached before
	same   []*Entry // those files (spec C-7)
	lost   []*Entry // shadowed by name (spec C-5)
	index
}

// merge builds the snapshot of results. It depends on what they hold, not on
// their order (spec C-11).
func merge(results []result, opts Options) *Snapshot {
	var m merger
	m.opts, m.problems = opts.checked()
	m.collect(results)
	m.dedupe()
	m.claim()
	m.qualify()
	for _, e := range m.all {
		m.opts.apply(e)
	}
	return m.snapshot()
}

// collect makes an entry of every skill and sorts them for claiming.
func (m *merger) collect(results []result) {
	n := 0
	roots := map[string]uint64{}
	last := ""
	for _, r := range results {
		m.problems = append(m.problems, r.problems...)
		n += len(r.skills)
		for _, s := range r.skills {
			if s != nil && s.Origin.Root != last {
				last = s.Origin.Root
				roots[last] = 0
			}
		}
	}
	order := newOrder(&m.opts, roots)
	slab := make([]Entry, n) // one allocation instead of n
	claims := make([]claimant, 0, n)
	for _, r := range results {
		for _, s := range r.skills {
			if s == nil || s.ID == "" {
				m.problems = append(m.problems, withoutID(s))
				continue
			}
			e := &slab[len(claims)]
			e.Skill, e.bare = s, nfc(s.ID)
			e.ID = e.bare
			e.claim, e.show = order.keys(&s.Origin)
			claims = append(claims, claimant{e.claim, s.Origin.Path, e})
		}
	}
	slices.SortFunc(claims, compareClaims)
	m.all = make([]*Entry, len(claims))
	for i, c := range claims {
		m.all[i] = c.entry
	}
}

// A fileID is a device and an inode.
type fileID struct{ device, inode uint64 }

// dedupe keeps the first entry of each physical file (spec C-7).
func (m *merger) dedupe() {
	byReal := make(map[string]*Entry, len(m.all))
	byInode := make(map[fileID]*Entry, len(m.all))
	m.unique = make([]*Entry, 0, len(m.all))
	for _, e := range m.all {
		real, file := e.Origin.Real, fileID{e.Origin.Device, e.Origin.Inode}
		var first *Entry
		if real != "" {
			first = byReal[real]
		}
		if first == nil && file != (fileID{}) {
			first = byInode[file]
		}
		if first == nil {
			first = e
			m.unique = append(m.unique, e)
		} else {
			m.same = append(m.same, e)
			e.Winner = first
			e.lost = &Reason{
				Rule:   "C-7",
				Detail: fmt.Sprintf("the same file as %s, which comes first", first.where()),
				Path:   first.Origin.Path,
			}
		}
		// Also for a later one: a third route may share only its other key.
		if real != "" && byReal[real] == nil {
			byReal[real] = first
		}
		if file != (fileID{}) && byInode[file] == nil {
			byInode[file] = first
		}
	}
}

// claim gives each id to the first that asks for it.
func (m *merger) claim() {
	m.byID = make(map[string]*Entry, len(m.unique))
	for _, e := range m.unique {
		m.claimOne(e)
	}
	for _, e := range m.lost {
		e.Winner = m.byID[e.ID]
		e.lost = whyLost(e, m.opts.AllowBundledOverride)
	}
}

// claimOne gives e its id, or puts it among the lost.
func (m *merger) claimOne(e *Entry) {
	holder := m.byID[e.bare]
	switch {
	case holder == nil:
		m.byID[e.bare] = e
	case m.opts.AllowBundledOverride && holder.Origin.Source == skill.Bundled &&
		slices.Contains(replacesBundled, e.Origin.Source) && e.Origin.Below == "":
		m.byID[e.bare] = e
		m.lost = append(m.lost, holder)
	case e.claim.class() == classNested && holder.Origin.Below != e.Origin.Below:
		m.claimNested(e)
	default:
		m.lost = append(m.lost, e)
	}
}

// claimNested gives a nested skill whose bare id is taken the id with its
// directory, or failing that, one that nobody can have but a twin (spec D-1).
func (m *merger) claimNested(e *Entry) {
	alias := e.alias()
	for _, id := range [...]string{alias, string(e.Origin.Source) + ":" + alias} {
		holder := m.byID[id]
		if holder == nil {
			e.ID = id
			m.byID[id] = e
			return
		}
		if holder.Origin.Below == e.Origin.Below && holder.bare == e.bare {
			e.ID = id // of .claude and .agents in one directory the first stays
			break
		}
	}
	m.lost = append(m.lost, e)
}

// whyLost compares a shadowed entry with its winner, for people.
func whyLost(e *Entry, override bool) *Reason {
	w := e.Winner
	o, p := &w.Origin, &e.Origin
	why := "its path comes first in byte order"
	switch {
	case e.claim.class() == classRetired:
		why = "bundled skills are switched off and give up their ids"
	case e.claim.class() == classNamespaced && w.claim.class() == classLocal:
		why = "skills of plugins and MCP servers never take the id of another skill"
	case e.claim.class() == classNested && w.claim.class() != classNested:
		why = "skills known from the start keep their ids"
	case override && p.Source == skill.Bundled && slices.Contains(replacesBundled, o.Source):
		why = "allowBundledOverride lets it replace a bundled skill"
	case o.Source != p.Source:
		why = fmt.Sprintf("%s comes before %s", o.Source, p.Source)
	case o.Scope != p.Scope:
		why = fmt.Sprintf("%s comes before %s", cmp.Or(o.Scope, "another scope"), cmp.Or(p.Scope, "another scope"))
	case isTwin(o.Root) != isTwin(p.Root) && owner(o.Root) == owner(p.Root):
		why = ".claude comes before .agents"
	case o.Distance != p.Distance && p.Source == skill.Project:
		why = "the directory nearer to the working directory comes first"
	case o.Distance != p.Distance:
		why = "its directory comes first"
	}
	return &Reason{
		Rule:   "C-5",
		Detail: fmt.Sprintf("%s has the id %q: %s", w.where(), e.ID, why),
		Path:   o.Path,
	}
}
