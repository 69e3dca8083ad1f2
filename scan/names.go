package scan

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// squatLength is the shortest name that a near spelling counts against: short
// words are near to many others by chance.
const squatLength = 6

// names are those of the skills that are there already.
type names struct {
	byLook map[string][]*catalog.Entry
	all    []*catalog.Entry
}

func newNames(snap *catalog.Snapshot) *names {
	n := &names{byLook: map[string][]*catalog.Entry{}}
	if snap == nil {
		return n
	}
	for e := range snap.All() {
		n.all = append(n.all, e)
		look := text.Skeleton(bare(e.ID))
		n.byLook[look] = append(n.byLook[look], e)
	}
	return n
}

// bare returns an id without its namespace.
func bare(id string) string { return id[strings.LastIndexByte(id, ':')+1:] }

// check compares the names of a skill with those of others (spec S-16). Skills
// of one plugin or one directory are of one author, who may use near names.
func (n *names) check(sk *skill.Skill) []Finding {
	if sk.Origin.ShippedOrManaged() {
		return nil
	}
	for _, name := range []string{sk.ID, sk.Name} {
		if name == "" {
			continue
		}
		if e, why := n.imitated(sk, name); e != nil {
			return []Finding{whole(lookAlikeName, skill.Warning, sk.Origin.Path, InFrontmatter,
				fmt.Sprintf("the name %q %s %q (%s skill)", text.Terminal(name)+shownHidden(name), why, e.ID, e.Origin.Source))}
		}
	}
	return nil
}

// shownHidden adds the letters that only look Latin.
func shownHidden(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r > 0x7F {
			fmt.Fprintf(&b, " U+%04X", r)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return " (" + b.String()[1:] + ")"
}

// imitated returns the skill that name can be taken for, and why.
func (n *names) imitated(sk *skill.Skill, name string) (*catalog.Entry, string) {
	short := bare(name)
	for _, e := range n.byLook[text.Skeleton(short)] {
		switch {
		case n.same(sk, e):
		case bare(e.ID) != short:
			return e, "looks like"
		case name == sk.Name && sk.Name != sk.ID && bare(sk.ID) != short:
			return e, "is that of"
		case e.Origin.ShippedOrManaged() && !strings.Contains(sk.ID, ":"):
			return e, "is that of"
		}
	}
	if len(short) < squatLength {
		return nil, ""
	}
	for _, e := range n.all {
		if id := bare(e.ID); len(id) >= squatLength && !n.same(sk, e) && !plural(id, short) && text.Edits(short, id, 1) == 1 {
			return e, "is one letter from"
		}
	}
	return nil, ""
}

// plural reports names that differ by an s or a digit at the end: variants and
// versions of one thing.
func plural(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == len(b) {
		return a[:len(a)-1] == b[:len(b)-1] && digit(a[len(a)-1]) && digit(b[len(b)-1])
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "s" || digit(rest[0]))
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// same reports whether an entry is the skill itself, or of the same author.
func (n *names) same(sk *skill.Skill, e *catalog.Entry) bool {
	a, b := sk.Origin, e.Origin
	if a.Path != "" && a.Path == b.Path || a.Real != "" && a.Real == b.Real {
		return true
	}
	if a.Source == skill.Plugin || b.Source == skill.Plugin {
		return a.Source == b.Source && a.Owner == b.Owner
	}
	return a.Root != "" && a.Root == b.Root
}
