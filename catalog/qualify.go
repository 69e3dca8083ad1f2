package catalog

import (
	"strconv"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// An index finds entries by id and by qualified id.
type index struct {
	byID map[string]*Entry // winners
	// qualified holds ids with a directory and those qualified ids that differ
	// from "source:id" or do not belong to a winner; the others follow from byID.
	qualified map[string]*Entry
}

// byQualified returns the entry that has q as qualified id, or nil.
func (x *index) byQualified(q string) *Entry {
	if e := x.qualified[q]; e != nil {
		return e
	}
	if _, id, ok := strings.Cut(q, ":"); ok {
		if e := x.byID[id]; e != nil && e.Qualified == q {
			return e
		}
	}
	return nil
}

// qualify gives every entry a qualified id that means it and no other (spec
// C-8). The usual form is "source:id", of nested skills "source:directory:id".
// When that is taken, by an id or by an entry that chose before, more of the
// place where the skill was found is named. Winners choose first, then losers
// by precedence, then files reached twice, so that these never displace a
// skill of their own.
func (m *merger) qualify() {
	m.qualified = map[string]*Entry{}
	var rest []*Entry
	for _, e := range m.unique {
		q := string(e.Origin.Source) + ":" + e.bare
		if e.Winner != nil || e.Origin.Below != "" || m.byID[q] != nil {
			rest = append(rest, e)
			continue
		}
		e.Qualified = q
	}
	for _, e := range rest {
		m.qualifyOne(e)
	}
	for _, e := range m.same {
		m.qualifyOne(e)
	}
	for _, e := range m.unique {
		if a := e.alias(); a != "" && m.free(a, e) {
			m.qualified[a] = e
		}
	}
}

func (m *merger) qualifyOne(e *Entry) {
	prefix := string(e.Origin.Source) + ":"
	id := e.bare
	if a := e.alias(); a != "" {
		id = a
	}
	q := prefix + id
	if !m.free(q, e) {
		q = m.longer(prefix, id, e)
	}
	e.Qualified = q
	m.qualified[q] = e
}

// longer tries the labels of e's place, then numbers.
func (m *merger) longer(prefix, id string, e *Entry) string {
	for _, label := range labels(&e.Origin) {
		if q := prefix + label + ":" + id; m.free(q, e) {
			return q
		}
	}
	for n := 2; ; n++ {
		if q := prefix + strconv.Itoa(n) + ":" + id; m.free(q, e) {
			return q
		}
	}
}

// free reports whether q may mean e: no other entry has it as id or qualified id.
func (m *merger) free(q string, e *Entry) bool {
	if holder := m.byID[q]; holder != nil && holder != e {
		return false
	}
	return m.byQualified(q) == nil
}

// labels returns names for the place of o, from short to long: its scope, then
// the ends of its root without "/.claude/skills". The twin keeps its ".agents".
func labels(o *skill.Origin) []string {
	var out []string
	if o.Scope != "" {
		out = append(out, string(o.Scope))
	}
	parts := strings.FieldsFunc(nfc(o.Root), func(r rune) bool { return r == '/' || r == '\\' })
	if n := len(parts); n > 0 && (parts[n-1] == "skills" || parts[n-1] == "commands") {
		parts = parts[:n-1]
	}
	if n := len(parts); n > 0 && parts[n-1] == ".claude" {
		parts = parts[:n-1]
	}
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, strings.Join(parts[i:], "/"))
	}
	return out
}
