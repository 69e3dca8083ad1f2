package catalog

import (
	"strings"

	"github.com/knack-skills/knack/skill"
)

// A State is where an entry stands (spec K-1).
type State string

// The states.
const (
	Active      State = "active"
	Conditional State = "conditional"
	Disabled    State = "disabled"
	Shadowed    State = "shadowed"
)

// An Entry is one skill in its place in the catalog. ID is the id by which the
// catalog knows it, which differs from Skill.ID when the bare one was taken;
// of a shadowed entry it is the id that was lost. Ids are in Unicode normal
// form C. Entries never change.
type Entry struct {
	*skill.Skill
	ID         string
	Qualified  string // always resolvable, such as "project:deploy" (spec C-8)
	State      State  // a shadowed entry that is switched off as well is Disabled
	Visibility Visibility
	Winner     *Entry // who won; set for the entries that [Snapshot.Shadowed] yields
	Reason     Reason // Shadowed or Disabled: why

	claim    key     // order of claims
	show     key     // order of lists
	bare     string  // Skill.ID in normal form
	lost     *Reason // why Winner won; nil without one
	override string  // key of the override that applies
}

// A Reason names the rule behind a decision, with its source.
type Reason struct {
	Rule   string // spec id, such as "C-5"
	Detail string
	Path   string
	Line   int
}

// CurrentState returns State as of now: an entry whose Enabled callback says
// no is Disabled (spec C-9), a conditional entry that was activated is Active
// (spec D-3). active is asked for its [Entry.LastingID]; nil means that none was.
func (e *Entry) CurrentState(active func(id string) bool) State {
	switch {
	case e.Trigger.Enabled != nil && e.State != Disabled && !e.Trigger.Enabled():
		return Disabled
	case e.State == Conditional && active != nil && active(e.LastingID()):
		return Active
	}
	return e.State
}

// LastingID returns the id by which an activation of e is remembered (spec D-3):
// a name that means e and nothing else, also after a deeper directory has taken
// the bare id of a nested skill.
func (e *Entry) LastingID() string {
	if e.Winner != nil {
		return e.Qualified
	}
	if a := e.alias(); a != "" {
		return a
	}
	return e.ID
}

// alias returns the id of a nested skill with its directory, which means it
// even when it owns the bare id (spec D-1); otherwise "".
func (e *Entry) alias() string {
	if e.Origin.Below == "" {
		return ""
	}
	return nfc(e.Origin.Below) + ":" + e.bare
}

// tail returns the id without its namespace: "review" of "plugin:review". It
// is "" for an id without one.
func (e *Entry) tail() string {
	_, tail, _ := strings.Cut(e.bare, ":")
	return tail
}

// displayName returns the name that may stand for e besides its ids, or "" if
// the author gave none, or only repeated the id. A remote skill whose name
// repeats the tail of its id does not get the bare name by this door either.
func (e *Entry) displayName() string {
	if e.Name == "" || e.Name == e.bare {
		return ""
	}
	n := nfc(e.Name)
	if n == e.bare || n == e.ID || n == e.tail() {
		return ""
	}
	return n
}

// kind names where e comes from, for people: "user skill".
func (e *Entry) kind() string {
	switch o := &e.Origin; {
	case o.Below != "":
		return "nested " + string(o.Source) + " skill"
	case o.Source == skill.Legacy && o.Scope != "":
		return string(o.Scope) + " command file"
	case o.Source == skill.Legacy:
		return "command file"
	case o.Source == skill.MCP:
		return "MCP skill"
	default:
		return string(o.Source) + " skill"
	}
}

// where names e for people, with its file if it has one.
func (e *Entry) where() string {
	if e.Origin.Path == "" {
		return "the " + e.kind()
	}
	return "the " + e.kind() + " " + e.Origin.Path
}
