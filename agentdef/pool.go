package agentdef

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/permission"
)

// harmless are the tools that change nothing outside the conversation. They
// stay in the pool of a fork whatever its skill lists (spec I-9).
var harmless = []string{"Read", "Grep", "Glob", "LS", "NotebookRead", "Skill", "SkillSearch", "TodoWrite", "TodoRead", "AskUserQuestion"}

// companions are tools that serve another one: they are there when it is.
var companions = map[string]string{"BashOutput": "Bash", "KillShell": "Bash", "KillBash": "Bash"}

// covers are the tools that a permission rule for the first one speaks of as
// well (spec S-8).
var covers = map[string][]string{
	"Edit":  {"Write", "MultiEdit", "NotebookEdit"},
	"Read":  {"Grep", "Glob", "LS", "NotebookRead"},
	"Task":  {"Agent"},
	"Agent": {"Task"},
}

// A Fork is what a skill that runs as a subagent says of its tools (spec I-9).
// The zero value is a subagent that no skill started.
type Fork struct {
	Skill string // catalog id, for reasons
	Dir   string // of the skill, which "/x" in its rules is relative to
	// Allowed is allowed-tools as declared, variables expanded, also when the
	// grants themselves are not in force (spec S-9): what limits needs no
	// trust. Nil means that the skill declares none; an empty list is one.
	Allowed    []string
	Disallowed []string // disallowed-tools
}

// A Pool is what one subagent may call.
type Pool struct {
	Names  []string  // tools, in the order in which they were given
	Left   []Left    // tools that it does not get, each with the reason
	Limits []Limit   // what the calls of its tools have to satisfy, all of them
	Deny   []string  // rules that refuse single calls
	Grants []string  // rules that are allowed without asking, if grants are in force
	Absent []Missing // entries of lists that name none of the tools
}

// Left is a tool that a subagent does not get.
type Left struct{ Tool, Reason string }

// Missing is an entry of the field that names no tool.
type Missing struct{ Field, Entry string }

// A Limit allows calls of one tool only as one of its rules says.
type Limit struct {
	Tool  string
	Rules []string
	From  string // for reasons: "tools of agent review"
	root  string // that "/x" in rules is relative to
}

// PoolOf works out the tools of a subagent of kind def that starts with all
// tools there are, for a main agent, or with those of the subagent that starts
// it (spec I-9). It is a pure function.
func PoolOf(def *Definition, fork Fork, all []string) Pool {
	var p Pool
	p.Grants = slices.Clone(fork.Allowed)
	agent, skill := "agent "+def.Name, "skill "+fork.Skill
	for _, tool := range all {
		reason, limits := "", []Limit(nil)
		keep := func(l Limit, ok bool, why string) {
			if !ok && reason == "" {
				reason = why
			}
			if len(l.Rules) > 0 {
				limits = append(limits, l)
			}
		}
		if slices.ContainsFunc(def.Tools.Without, func(e string) bool { return names(toolOf(e), tool) }) {
			keep(Limit{}, false, "disallowedTools of "+agent+" takes it away")
		}
		if def.Tools.Listed {
			l, ok := listed(def.Tools.Only, tool, names)
			l.From = "tools of " + agent
			keep(l, ok, l.From+" does not list it")
		}
		if slices.ContainsFunc(fork.Disallowed, func(e string) bool { return speaks(toolOf(e), tool) && whole(e) }) {
			keep(Limit{}, false, "disallowed-tools of "+skill+" takes it away")
		}
		if fork.Allowed != nil && !slices.Contains(harmless, tool) {
			l, ok := listed(fork.Allowed, tool, speaks)
			l.From, l.root = "allowed-tools of "+skill, fork.Dir
			keep(l, ok, l.From+" does not list it, and it can change something")
		}
		if reason != "" {
			p.Left = append(p.Left, Left{tool, reason})
			continue
		}
		p.Names = append(p.Names, tool)
		p.Limits = append(p.Limits, limits...)
	}
	for _, e := range fork.Disallowed {
		if !whole(e) {
			p.Deny = append(p.Deny, e)
		}
	}
	p.absent("tools", def.Tools.Only, all, names)
	p.absent("disallowedTools", def.Tools.Without, all, names)
	p.absent("allowed-tools", fork.Allowed, all, speaks)
	p.absent("disallowed-tools", fork.Disallowed, all, speaks)
	return p
}

func (p *Pool) absent(field string, entries, all []string, match func(entry, tool string) bool) {
	for _, e := range entries {
		if !slices.ContainsFunc(all, func(tool string) bool { return match(toolOf(e), tool) }) {
			p.Absent = append(p.Absent, Missing{field, e})
		}
	}
}

// listed reports whether entries name the tool, and the limit that follows when
// all that do have a specifier.
func listed(entries []string, tool string, match func(entry, tool string) bool) (Limit, bool) {
	l := Limit{Tool: tool}
	ok := false
	for _, e := range entries {
		switch name := toolOf(e); {
		case !match(name, tool) && companions[tool] != name:
		case whole(e) || companions[tool] == name:
			return Limit{Tool: tool}, true
		default:
			ok = true
			l.Rules = append(l.Rules, each(e)...)
		}
	}
	return l, ok
}

// each takes "Agent(a, b)" apart, which names several kinds; other rules are
// one.
func each(rule string) []string {
	name := toolOf(rule)
	if name != "Agent" && name != "Task" {
		return []string{rule}
	}
	var out []string
	for kind := range strings.SplitSeq(strings.TrimSuffix(rule[strings.IndexByte(rule, '(')+1:], ")"), ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			out = append(out, name+"("+kind+")")
		}
	}
	return out
}

// toolOf is the name in an entry such as Bash(git *).
func toolOf(entry string) string {
	name, _, _ := strings.Cut(entry, "(")
	return strings.TrimSpace(name)
}

// whole reports whether an entry speaks of all that its tool can do.
func whole(entry string) bool {
	_, spec, has := strings.Cut(entry, "(")
	return !has || strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(spec), ")")) == "*"
}

// names reports whether an entry of an agent's lists means the tool: by its
// name, by a pattern, or as a tool of an MCP server.
func names(entry, tool string) bool {
	switch {
	case entry == tool:
		return true
	case entry == "":
		return false
	case entry == "Task" && tool == "Agent", entry == "Agent" && tool == "Task":
		return true
	case strings.HasPrefix(entry, "mcp__") && strings.HasPrefix(tool, entry+"__"):
		return true
	}
	return strings.Contains(entry, "*") && matches(entry, tool)
}

// speaks is names for permission rules, in which Edit covers Write (spec S-8).
func speaks(entry, tool string) bool {
	return names(entry, tool) || slices.Contains(covers[entry], tool)
}

// matches compares a pattern, in which * is any text, with a tool.
func matches(pattern, tool string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(tool, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// Check says why a call of one of the pool's tools is beyond its limits, or "".
// It does not say that the call is allowed: the rules of the session decide
// that. What only reads is within every limit of Bash.
func (p *Pool) Check(req permission.Request) string {
	if !slices.Contains(p.Names, req.Tool) {
		for _, l := range p.Left {
			if l.Tool == req.Tool {
				return fmt.Sprintf("this agent has no %s: %s", l.Tool, l.Reason)
			}
		}
		return fmt.Sprintf("this agent has no tool %s", req.Tool)
	}
	for _, l := range p.Limits {
		if l.Tool == req.Tool && !l.holds(req) {
			return fmt.Sprintf("%s allows %s only as %s", l.From, l.Tool, strings.Join(l.Rules, ", "))
		}
	}
	return ""
}

// holds reports whether one of the rules covers the call. A rule that cannot be
// read covers nothing.
func (l *Limit) holds(req permission.Request) bool {
	var rules permission.Rules
	for _, text := range l.Rules {
		if r, err := permission.ParseRule(text); err == nil {
			r.Root = l.root
			rules.Allow = append(rules.Allow, r)
		}
	}
	return rules.Decide(req).Verdict == permission.Allow
}

// Within is p for a subagent that one with the pool outer starts: it cannot do
// what outer cannot.
func (p Pool) Within(outer Pool) Pool {
	kept := p.Names[:0:0]
	left := slices.Clone(p.Left)
	for _, tool := range p.Names {
		if slices.Contains(outer.Names, tool) {
			kept = append(kept, tool)
			continue
		}
		left = append(left, Left{tool, "the agent that started this one does not have it"})
	}
	p.Names, p.Left = kept, left
	p.Limits = slices.Concat(p.Limits, outer.Limits)
	p.Deny = slices.Concat(p.Deny, outer.Deny)
	return p
}
