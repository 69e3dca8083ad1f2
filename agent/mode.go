package agent

import "github.com/knack-skills/knack/permission"

// A Mode decides what happens to calls that the rules leave open (spec S-10).
type Mode string

// The modes.
const (
	ModeDefault     Mode = "default"
	ModeAcceptEdits Mode = "acceptEdits"
	ModePlan        Mode = "plan"
	ModeDontAsk     Mode = "dontAsk"
	ModeBypass      Mode = "bypassPermissions"
)

// Modes lists the modes.
func Modes() []Mode {
	return []Mode{ModeDefault, ModeAcceptEdits, ModePlan, ModeDontAsk, ModeBypass}
}

// of is the mode of a subagent whose type asks for one: a type can be stricter
// than the agent that starts it, and wider only where that one still asks.
func (m Mode) of(want string, noBypass bool) Mode {
	w := Mode(want)
	switch {
	case w == "", w == ModeBypass && noBypass:
		return m
	case m == ModePlan, w == ModePlan:
		return ModePlan
	case m == ModeDontAsk, w == ModeDontAsk:
		return ModeDontAsk
	case m == ModeBypass:
		return ModeBypass // the person's word for the whole session
	}
	return w
}

// edits are the tools that acceptEdits lets through in the working directory.
var edits = map[string]bool{"Edit": true, "Write": true, "MultiEdit": true, "NotebookEdit": true}

// Judge applies the mode to what the rules decided about a call, as the loop does.
func (m Mode) Judge(d permission.Decision, p Plan) permission.Decision { return m.judge(d, p) }

// judge applies the mode to what the rules decided. A deny stays a deny and a
// firm question stays a question in every mode.
func (m Mode) judge(d permission.Decision, p Plan) permission.Decision {
	if m == ModePlan && d.Verdict != permission.Deny && !p.ReadOnly && (permission.Rules{}).Decide(p.Ask).Verdict != permission.Allow {
		d.Verdict, d.Reason = permission.Deny, "plan mode only reads; leave it to change anything"
		return d
	}
	if d.Verdict != permission.Ask {
		return d
	}
	switch {
	case p.Free && d.Rule == nil:
		d.Verdict = permission.Allow
	case m == ModeDontAsk:
		d.Verdict = permission.Deny
	case d.Firm:
	case m == ModeBypass, m == ModeAcceptEdits && edits[p.Ask.Tool] && inside(p.Ask):
		d.Verdict = permission.Allow
	}
	return d
}

// inside reports whether a path call stays in its working directory: rules that
// allow nothing but reading there decide it, links included.
func inside(r permission.Request) bool {
	r.Tool = "Read"
	return (permission.Rules{}).Decide(r).Verdict == permission.Allow
}
