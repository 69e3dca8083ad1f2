package permission

import (
	"net/url"
	"slices"
	"strings"
)

// list says which of the three lists a rule stands in. What a rule covers
// depends on it: a deny sees more than an allow (spec S-3, S-8).
type list int

const (
	denyList list = iota
	askList
	allowList
)

func (l list) String() string { return [...]string{"deny", "ask", "allow"}[l] }

// families names the tools that the rules of another tool cover (spec S-8).
var families = map[string][]string{
	"Edit":  {"Write", "MultiEdit", "NotebookEdit"},
	"Read":  {"Glob", "Grep", "LS", "NotebookRead"},
	"Agent": {"Task"}, // the older name of the tool
	"Task":  {"Agent"},
}

// editTools change files, readTools only look at them; both take path
// specifiers.
var (
	editTools = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	readTools = []string{"Read", "Glob", "Grep", "LS", "NotebookRead"}
)

func isPathTool(tool string) bool {
	return slices.Contains(editTools, tool) || slices.Contains(readTools, tool)
}

// speaksOf reports whether r is a rule about tool at all.
func (r *Rule) speaksOf(tool string, l list) bool {
	if r.Tool == tool {
		return true
	}
	if strings.HasPrefix(r.Tool, "mcp__") && strings.HasPrefix(tool, "mcp__") {
		return mcpCovers(r.Tool, tool, l)
	}
	if strings.Contains(r.Tool, "*") {
		// A wildcard over tools may refuse or ask, never allow: nobody knows
		// which tools there will be tomorrow.
		return l != allowList && glob(r.Tool, tool)
	}
	if slices.Contains(families[r.Tool], tool) {
		return true
	}
	// What must not be read must not be edited either: an edit shows the text.
	return l == denyList && r.HasSpec && r.Tool == "Read" && slices.Contains(editTools, tool)
}

// mcpCovers: mcp__server covers all its tools, and so does mcp__server__*. A
// wildcard in an allow rule counts after the literal name of a server only.
func mcpCovers(rule, tool string, l list) bool {
	star := strings.IndexByte(rule, '*')
	if star < 0 {
		return strings.HasPrefix(tool, rule+"__")
	}
	server := strings.Index(rule[len("mcp__"):], "__")
	if l == allowList && (server <= 0 || star < len("mcp__")+server+2) {
		return false
	}
	return glob(rule, tool)
}

// all reports whether r covers everything its tool can do.
func (r *Rule) all() bool { return !r.HasSpec || r.Specifier == "*" }

// matches reports whether r, standing in list l, covers p.
func (r *Rule) matches(p *part, req *Request, l list) bool {
	if r.Tool == bashTool && p.shell {
		return r.matchesShell(p, req.Home, l)
	}
	if !r.speaksOf(p.tool, l) || l == allowList && p.loose != "" {
		return false
	}
	if r.all() {
		return true
	}
	switch {
	case isPathTool(p.tool):
		return p.place.matches(r, req, l)
	case p.tool == "Skill":
		return matchSkill(r.Specifier, &req.Input, l)
	case p.tool == "Agent" || p.tool == "Task":
		return matchAgent(r.Specifier, req.Input.Agent)
	case p.tool == "WebFetch":
		return matchDomain(r.Specifier, req.Input.URL)
	}
	return false
}

// matchesShell applies a Bash rule to a part of a shell line. An allow for all
// of Bash, or for exactly this line, covers its redirections too; a refusal
// concerns commands, files are refused by rules about files.
func (r *Rule) matchesShell(p *part, home string, l list) bool {
	if l == allowList {
		if p.unread {
			return false // what cannot be parsed is never allowed (spec S-7)
		}
	} else if p.tool != bashTool {
		return false
	}
	if r.all() || p.line != "" && r.Specifier == p.line && !strings.Contains(r.Specifier, "*") {
		return true
	}
	return p.cmd != nil && p.cmd.matches(r.Specifier, home, l)
}

// matchSkill applies spec S-3.
func matchSkill(spec string, in *Input, l list) bool {
	spec = strings.TrimPrefix(strings.TrimSpace(spec), "/")
	base, wide := strings.CutSuffix(spec, ":*")
	if !wide {
		base, wide = strings.CutSuffix(spec, " *")
	}
	base = strings.TrimSpace(base)
	if base == "" {
		return false
	}
	covers := func(id string) bool {
		id = strings.TrimPrefix(id, "/")
		return glob(base, id) || wide && glob(base+":*", id)
	}
	if covers(in.Skill) {
		return true
	}
	if l == allowList {
		return false
	}
	// A refusal must hold under every name the skill goes by: its display
	// name, its other ids, and each of them without its qualifiers.
	for i := -1; i < len(in.Aliases); i++ {
		name := in.Skill
		if i >= 0 {
			name = in.Aliases[i]
		}
		for {
			if covers(name) {
				return true
			}
			var qualified bool
			if _, name, qualified = strings.Cut(name, ":"); !qualified {
				break
			}
		}
	}
	return false
}

// matchAgent: Agent(type), Agent(a, b), with * for any text.
func matchAgent(spec, agent string) bool {
	for one := range strings.SplitSeq(spec, ",") {
		if one = strings.TrimSpace(one); one != "" && agent != "" && glob(one, agent) {
			return true
		}
	}
	return false
}

// matchDomain: domain:example.com covers that host and every host below it;
// domain:*.example.com only those below; domain:* all. Letters are compared as
// ASCII, so a look-alike from another alphabet is another host.
func matchDomain(spec, address string) bool {
	want, ok := strings.CutPrefix(spec, "domain:")
	want = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(want), "."))
	host := hostOf(address)
	if !ok || want == "" || host == "" {
		return false
	}
	if want == "*" || host == want {
		return true
	}
	if below, ok := strings.CutPrefix(want, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	if strings.Contains(want, "*") {
		return glob(want, host) && strings.Count(want, ".") == strings.Count(host, ".")
	}
	return strings.HasSuffix(host, "."+want)
}

// hostOf returns the lower-case host of an http address, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

// glob matches s against a pattern in which * stands for any text, newlines
// included, and every other byte for itself. It takes no more than
// len(pattern) × len(s) steps.
func glob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
