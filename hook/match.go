package hook

import (
	"regexp"
	"slices"
	"strings"
)

// subjects says, for each event, what of the input a matcher is held against
// (spec H-3). Events that are not here have no subject: a matcher on them
// changes nothing. FileChanged has a pattern instead, see [Matches].
var subjects = map[Event]func(Input) string{
	PreToolUse:          toolName,
	PostToolUse:         toolName,
	PostToolUseFailure:  toolName,
	PermissionRequest:   toolName,
	SubagentStart:       func(in Input) string { return in.AgentType },
	SubagentStop:        func(in Input) string { return in.AgentType },
	SessionStart:        sourceOf,
	SessionEnd:          sourceOf,
	PreCompact:          sourceOf,
	PostCompact:         sourceOf,
	ConfigChange:        sourceOf,
	Notification:        sourceOf,
	UserPromptExpansion: commandName,
	SkillInvoked:        commandName,
}

func toolName(in Input) string    { return in.ToolName }
func sourceOf(in Input) string    { return in.Source }
func commandName(in Input) string { return in.CommandName }

// Matches reports whether a matcher holds for in, an event of the kind e
// (spec H-3): empty and "*" hold for all; letters, digits, "_", "-" and spaces
// with "," and "|" between are exact names; anything else is a regular
// expression, unanchored. One that cannot be read matches nothing. The matcher
// of FileChanged is a gitignore pattern, which files decides: it is given the
// pattern and the path as in has it, and nil matches nothing.
func Matches(e Event, matcher string, in Input, files func(pattern, path string) bool) bool {
	matcher = strings.TrimSpace(matcher)
	subject := subjects[e]
	switch {
	case matcher == "" || matcher == "*":
		return true
	case e == FileChanged:
		return files != nil && files(matcher, in.FilePath)
	case subject == nil:
		return true
	case namesOnly(matcher):
		return slices.Contains(exactNames(matcher), subject(in))
	}
	re, err := regexp.Compile(matcher)
	return err == nil && re.MatchString(subject(in))
}

// namesOnly reports whether a matcher is a list of exact names.
func namesOnly(matcher string) bool { return exact.MatchString(matcher) }

// exactNames takes a list of names apart. An empty name, as between two
// separators, is none.
func exactNames(matcher string) []string {
	names := strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' })
	for i, n := range names {
		names[i] = strings.TrimSpace(n)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// FiresFor reports whether a declaration for declared runs at the event at. An
// agent and a skill in a fork end with SubagentStop, so what they declare for
// Stop runs then; own says that the declaration is of such an agent.
func FiresFor(declared, at Event, own bool) bool {
	return declared == at || own && declared == Stop && at == SubagentStop
}

// notForSkills are the events that are over when a skill is invoked, with the
// event to use instead. Hooks of a skill are registered at its invocation
// (spec H-8), so these could only run by accident, such as after a compaction.
var notForSkills = map[Event]string{
	SessionStart: "run the command in the skill's text, or declare the hook in settings",
}

// ForSkill takes out of a skill's hooks what cannot run there, with a fault
// for each group. The others stay.
func ForSkill(c Config) (Config, []Fault) {
	var kept Config
	var faults []Fault
	count := map[Event]int{}
	for _, g := range c {
		fix, held := notForSkills[g.Event]
		if !held {
			kept = append(kept, g)
			continue
		}
		if count[g.Event]++; count[g.Event] > 1 {
			continue // said already
		}
		faults = append(faults, Fault{Code: "hook-unavailable-event", Path: []string{string(g.Event)}, Fix: fix,
			Message: string(g.Event) + ": event not available for skill hooks, they are registered when the skill is invoked; the entry is ignored"})
	}
	return kept, faults
}
