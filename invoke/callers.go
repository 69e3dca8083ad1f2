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
)

// A person is behind these callers: what they typed needs no approval, and the
// switches that hide a skill from people apply (spec S-5, I-3).
var persons = map[Caller]bool{ByUser: true, ByKeyword: true}

// A RefusedError reports that the skill exists but may not be started by this
// caller (spec I-3, S-2). Its text is written for whoever asked.
type RefusedError struct {
	ID     string
	By     Caller
	Rule   string // spec id
	Reason string // what refused, and where
	Fix    string // what to do instead
}

// Error states what was refused, why, and what to do.
func (e *RefusedError) Error() string {
	s := fmt.Sprintf("skill %q cannot be started by %s: %s", e.ID, article(e.By), e.Reason)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

func article(c Caller) string {
	switch c {
	case ByUser:
		return "a person"
	case ByModel:
		return "a model"
	case BySchedule:
		return "a schedule"
	case ByAgent:
		return "an agent definition"
	case ByMCPClient:
		return "an MCP client"
	}
	return "a keyword"
}

// Named cleans the name a model passed to the Skill tool: surrounding blanks
// and one leading slash are dropped (spec I-3).
func Named(name string) string {
	return strings.TrimPrefix(strings.TrimSpace(name), "/")
}

// find resolves the name and checks who may start the skill (spec I-3).
func find(req Request, env Env) (*catalog.Entry, error) {
	name := Named(req.Name)
	e, err := env.Catalog.Resolve(name)
	if err != nil {
		return nil, err
	}
	if e.State == catalog.Disabled || (e.Trigger.Enabled != nil && !e.Trigger.Enabled()) {
		return nil, &RefusedError{ID: e.ID, By: req.By, Rule: "C-9", Reason: disabledReason(e),
			Fix: "run `knack explain " + e.ID + "` to see which setting decides"}
	}
	if persons[req.By] {
		return e, userMay(e, req)
	}
	return e, modelMay(e, req, env)
}

func disabledReason(e *catalog.Entry) string {
	r := e.Reason.Detail
	if r == "" {
		r = "it is disabled"
	}
	if e.Reason.Path != "" {
		r += " (" + e.Reason.Path + ")"
	}
	return r
}

func userMay(e *catalog.Entry, req Request) error {
	if !e.Trigger.HiddenFromUser {
		return nil
	}
	return &RefusedError{ID: e.ID, By: req.By, Rule: "I-3",
		Reason: "it says `user-invocable: false`, so only the model can use it",
		Fix:    "describe the task instead and the model will call it when it fits"}
}

func modelMay(e *catalog.Entry, req Request, env Env) error {
	switch {
	case e.Trigger.HiddenFromModel || e.Visibility == catalog.UserInvocableOnly:
		return &RefusedError{ID: e.ID, By: req.By, Rule: "I-3",
			Reason: "only the person can run it",
			Fix: fmt.Sprintf("do not imitate it or do its steps by hand: tell the person to type /%s",
				e.ID)}
	case e.Trigger.Conditional && !env.Session.Active(e.ID):
		return &RefusedError{ID: e.ID, By: req.By, Rule: "I-3",
			Reason: "it applies only to files that match " + patterns(e.Trigger.Paths) + " and none was touched yet",
			Fix:    "read or edit such a file first"}
	}
	return nil
}

func patterns(p []string) string {
	if len(p) == 0 {
		return "no usable pattern"
	}
	return strings.Join(p, ", ")
}
