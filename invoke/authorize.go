package invoke

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
)

// An Asker puts a question to the person. The host implements it.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// A Question is what needs a person's word: a skill, one inline command of it,
// or a tool call of the agent.
type Question struct {
	Skill   string   // catalog id; empty for a tool call
	Tool    string   // the tool; empty for a skill
	Input   []byte   // its input, as JSON
	Command string   // the exact command; empty when the skill itself is in question
	Unsafe  []string // the properties that need approval (spec S-4)
	Reason  string   // why the rules left it open
	Suggest []string // rules that would allow it from now on
	Source  skill.Source
	Path    string   // SKILL.md; empty if none
	Details []string // what would be granted, registered and run, one line each
	Changed []string // what differs from what was approved before (spec S-14)
	Diff    string   // the same, for reading
	Note    string   // what the person should know before they answer
	Keeps   []Keep   // how long a yes may hold, besides once
	// Firm marks what no permission mode and no hook may allow in the person's
	// place (spec S-10).
	Firm bool
}

// ErrNobody is what an [Asker] returns when nobody is there to answer.
var ErrNobody = errors.New("nobody is here to ask")

// An Answer is what the person said.
type Answer struct {
	Allow  bool
	Keep   Keep // one of Question.Keeps, or Once
	Reason string
}

// authorize applies the permission rules to the skill itself (spec S-2, S-5),
// before its body is read. decided is false when the rules leave it open.
func authorize(e *catalog.Entry, req Request, env Env) (decided bool, err error) {
	rules := env.Rules
	if persons[req.By] {
		// What a person typed needs no approval; their own rules speak to the
		// model. An administrator's deny speaks to everybody.
		rules = permission.Rules{Deny: managed(rules.Deny)}
	}
	d := rules.Decide(skillRequest(e, req, env))
	switch d.Verdict {
	case permission.Deny:
		env.noteDecision(agentOf(req), "Skill", e, d, "deny", "")
		return true, &RefusedError{ID: idOf(e), By: req.By, Rule: "S-2", Reason: d.Reason,
			Fix: "change that rule if the skill should run"}
	case permission.Allow:
		env.noteDecision(agentOf(req), "Skill", e, d, "allow", "")
		return true, nil
	}
	// Bundled and managed skills are trusted (C-13, docs/design/004), but an
	// explicit ask rule stays a question.
	asked := d.Rule != nil
	decided = persons[req.By] || !asked && e.Origin.ShippedOrManaged()
	if decided {
		d.Reason = "bundled and managed skills need no approval"
		if persons[req.By] {
			d.Reason = called[req.By] + " started it"
		}
		env.noteDecision(agentOf(req), "Skill", e, d, "allow", "")
	}
	return decided, nil
}

func managed(rules []permission.Rule) []permission.Rule {
	var out []permission.Rule
	for _, r := range rules {
		if r.Scope == "managed" {
			out = append(out, r)
		}
	}
	return out
}

func skillRequest(e *catalog.Entry, req Request, env Env) permission.Request {
	return permission.Request{
		Tool:    "Skill",
		Input:   permission.Input{Skill: idOf(e), Aliases: Aliases(e), Args: req.Args},
		WorkDir: env.WorkDir, Home: env.Home,
	}
}

// Aliases returns the other names under which a refusing rule may speak of e
// (spec S-3).
func Aliases(e *catalog.Entry) []string {
	var out []string
	for _, n := range []string{e.ID, e.Skill.ID, e.Name, e.Qualified} {
		if n != "" && n != idOf(e) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// howToAllow names what would let the skill run where nobody can be asked. No
// allow rule lifts an ask rule.
func howToAllow(d permission.Decision) string {
	if d.Rule != nil {
		return "remove that ask rule, or start the skill where somebody can answer"
	}
	quoted := make([]string, len(d.Suggest))
	for i, s := range d.Suggest {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	if len(quoted) == 0 {
		return "start it where somebody can answer"
	}
	return "to allow it, add " + strings.Join(quoted, " or ") + " to permissions.allow in a settings file"
}

func declined(a Answer) string {
	if a.Reason == "" {
		return "the person declined"
	}
	return "the person declined: " + a.Reason
}

func list(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Unsafe names what keeps e from being allowed without asking (spec S-4): its
// unsafe properties, and inline commands that the rules do not allow without
// the skill's own grants.
func Unsafe(e *catalog.Entry, in skill.Instructions, env Env) []string {
	unsafe := permission.UnsafeProperties(e.Skill)
	for _, line := range prompt.Lines(e.Skill, in, vars(e, in, env), env.Environ) {
		if env.Rules.Decide(commandRequest(e, line, env)).Verdict != permission.Allow {
			return append(unsafe, "inline commands")
		}
	}
	return unsafe
}

// commandTool is the tool whose rules speak of a skill's inline commands.
func commandTool(e *catalog.Entry) string {
	if e.Run.Shell == "powershell" {
		return "PowerShell"
	}
	return "Bash"
}

func commandRequest(e *catalog.Entry, line string, env Env) permission.Request {
	return permission.Request{Tool: commandTool(e), Input: permission.Input{Command: line}, WorkDir: env.WorkDir, Home: env.Home, Links: env.Links}
}
