package invoke

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/catalog"
)

// A Caller is who started the skill (spec I-1).
type Caller string

// The callers.
const (
	ByUser      Caller = "user"          // typed /name, or -p "/name"
	ByModel     Caller = "model"         // the Skill tool
	BySchedule  Caller = "schedule"      // a timer
	ByAgent     Caller = "agent-preload" // the skills: field of an agent definition
	ByKeyword   Caller = "keyword"       // a word in a person's message
	ByMCPClient Caller = "mcp-client"    // another agent
	// ByMCPPrompt is a person who picked a prompt in another agent (spec X-8).
	ByMCPPrompt Caller = "mcp-client-prompt"
)

// A person is behind these callers: what they typed needs no approval, and the
// switches that hide a skill from people apply (spec S-5, I-3). Any other
// caller, known or not, is held to the rules for models.
var persons = map[Caller]bool{ByUser: true, ByKeyword: true, ByMCPPrompt: true}

// Person reports whether a person's words started the skill.
func (c Caller) Person() bool { return persons[c] }

// called names the callers in messages.
var called = map[Caller]string{
	ByUser:      "a person",
	ByModel:     "a model",
	BySchedule:  "a schedule",
	ByAgent:     "an agent definition",
	ByKeyword:   "a keyword",
	ByMCPClient: "an MCP client",
	ByMCPPrompt: "a person at an MCP client",
}

// A RefusedError reports that the skill exists but may not be started by this
// caller (spec I-3, S-2). Its text is written for whoever asked.
type RefusedError struct {
	ID     string // what to call the skill by
	By     Caller
	Rule   string // spec id
	Reason string // what refused, and where
	Fix    string // what to do instead
}

// Error states what was refused, why, and what to do.
func (e *RefusedError) Error() string {
	by, known := called[e.By]
	if !known {
		by = fmt.Sprintf("the caller %q", string(e.By))
	}
	s := fmt.Sprintf("skill %q cannot be started by %s: %s", e.ID, by, e.Reason)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Named cleans the name a model passed to the Skill tool: surrounding blanks
// and one leading slash are dropped (spec I-3).
func Named(name string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "/"))
}

// idOf is what e is called by. A shadowed skill has lost its id: what is
// allowed or activated under that id concerns the winner (spec C-8).
func idOf(e *catalog.Entry) string {
	if e.Winner != nil {
		return e.Qualified
	}
	return e.ID
}

// find resolves the name and checks who may start the skill (spec I-3).
func find(req Request, env Env) (*catalog.Entry, error) {
	e, err := env.Catalog.Resolve(Named(req.Name))
	if err != nil {
		return nil, err
	}
	reason, fix := whyOff(e)
	switch {
	case reason != "":
		return nil, &RefusedError{ID: idOf(e), By: req.By, Rule: "C-9", Reason: reason, Fix: fix}
	case persons[req.By]:
		reason, fix = whyNotPerson(e)
	default:
		reason, fix = whyNotModel(e, req.By, env)
	}
	if reason != "" {
		return nil, &RefusedError{ID: idOf(e), By: req.By, Rule: "I-3", Reason: reason, Fix: fix}
	}
	return e, nil
}

// whyOff says why nobody can start e now, or "" (spec C-9).
func whyOff(e *catalog.Entry) (reason, fix string) {
	switch {
	case e.State == catalog.Disabled:
		reason = e.Reason.Detail
		if e.Reason.Path != "" {
			reason += " in " + e.Reason.Path
		}
		return reason, "change that setting if the skill should run"
	case e.Trigger.Enabled != nil && !e.Trigger.Enabled():
		return "it says that it is not available now", "run `knack explain " + idOf(e) + "` to see its state"
	}
	return "", ""
}

// Both switches together leave nobody who could start a skill.
const (
	nobodyMay  = "it is hidden from people and from models, so nobody can start it"
	fixForBoth = "take one of the two back: `user-invocable: false` in its file, or what hides it from models"
)

// whyNotPerson says why a person may not start e, or "".
func whyNotPerson(e *catalog.Entry) (reason, fix string) {
	switch {
	case !e.Trigger.HiddenFromUser:
		return "", ""
	case e.Trigger.HiddenFromModel, e.Visibility == catalog.UserInvocableOnly:
		return nobodyMay, fixForBoth
	}
	return "it says `user-invocable: false`, so only the model can use it",
		"describe the task instead and the model will call it when it fits"
}

// whyNotModel says why a model, or whoever is held to its rules, may not start
// e, or "".
func whyNotModel(e *catalog.Entry, by Caller, env Env) (reason, fix string) {
	onlyPerson := ""
	switch {
	case e.Trigger.HiddenFromModel:
		onlyPerson = "disable-model-invocation"
	case e.Visibility == catalog.UserInvocableOnly:
		onlyPerson = "skillOverrides"
		if _, r := env.Catalog.VisibleToModel(e, nil); r.Rule == "C-9" && r.Path != "" {
			onlyPerson += " in " + r.Path
		}
	}
	switch {
	case onlyPerson != "" && e.Trigger.HiddenFromUser:
		return nobodyMay, fixForBoth
	case onlyPerson != "" && by == ByModel:
		return "only the person can run it (" + onlyPerson + ")",
			"do not imitate it or do its steps by hand: tell the person to type /" + idOf(e)
	case onlyPerson != "":
		return "only a person can run it (" + onlyPerson + ")", "type /" + idOf(e) + " to run it"
	case e.Trigger.Conditional && !env.active(e.LastingID()):
		return "it applies only to files that match " + patterns(e.Trigger.Paths) + " and none was touched yet",
			"read or edit such a file first"
	}
	return "", ""
}

func patterns(p []string) string {
	if len(p) == 0 {
		return "no usable pattern"
	}
	return strings.Join(p, ", ")
}
