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

// editTools change files, readTools only look at them; both take path
// specifiers, and rules for the first of each cover the others (spec S-8).
var (
	editTools = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
	readTools = []string{"Read", "Glob", "Grep", "LS", "NotebookRead"}
)

func edits(tool string) bool      { return slices.Contains(editTools, tool) }
func reads(tool string) bool      { return slices.Contains(readTools, tool) }
func isPathTool(tool string) bool { return edits(tool) || reads(tool) }

// A subject is the tool of a part, with what asking a thousand rules about it
// should find out once.
type subject struct {
	tool         string
	edits, reads bool
}

func subjectOf(tool string) subject { return subject{tool, edits(tool), reads(tool)} }

// speaksOf reports whether r is a rule about the tool at all (spec S-8).
func (r *Rule) speaksOf(s *subject, l list) bool {
	tool := s.tool
	if r.Tool == tool {
		return true
	}
	switch r.Tool {
	case "Bash", "Skill", "WebFetch", "Write":
		return false
	case "Edit":
		return s.edits
	case "Read":
		// What must not be read must not be edited either: an edit shows the text.
		return s.reads || l == denyList && r.HasSpec && s.edits
	case "Agent", "Task": // two names of one tool
		return tool == "Agent" || tool == "Task"
	}
	if strings.HasPrefix(r.Tool, "mcp__") && strings.HasPrefix(tool, "mcp__") {
		return mcpCovers(r.Tool, tool, l)
	}
	// A wildcard over tools may refuse or ask, never allow: nobody knows which
	// tools there will be tomorrow.
	return l != allowList && strings.Contains(r.Tool, "*") && glob(r.Tool, tool)
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

// matches reports whether r, standing in list l, covers p. It must be a rule
// that concerns p.
func (r *Rule) matches(p *part, req *Request, l list) bool {
	if r.Tool == bashTool && p.shell {
		return r.matchesShell(p, req.Home, l)
	}
	if l == allowList && p.loose != "" {
		return false
	}
	if r.all() {
		return true
	}
	switch p.tool {
	case bashTool:
		return false
	case "Skill":
		return p.names.covered(r.Specifier, l)
	case "Agent", "Task":
		return matchAgent(r.Specifier, req.Input.Agent)
	case "WebFetch":
		return matchDomain(r.Specifier, req.Input.URL)
	}
	return isPathTool(p.tool) && p.place.matches(r, req, l)
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

// skillNames are what a skill goes by: its id, and for refusals its display
// name, its other ids, and each of them without its qualifiers (spec S-3).
type skillNames struct {
	id    string
	all   []string
	first [256]bool // bytes that a name begins with
}

func namesOf(in *Input) *skillNames {
	n := &skillNames{id: strings.TrimPrefix(in.Skill, "/")}
	for i := -1; i < len(in.Aliases); i++ {
		name := in.Skill
		if i >= 0 {
			name = in.Aliases[i]
		}
		name = strings.TrimPrefix(name, "/")
		for qualified := true; qualified && name != ""; _, name, qualified = strings.Cut(name, ":") {
			n.all = append(n.all, name)
			n.first[name[0]] = true
		}
	}
	return n
}

// covered applies a Skill specifier (spec S-3).
func (n *skillNames) covered(spec string, l list) bool {
	spec = strings.TrimPrefix(spec, "/")
	if spec == "" || spec[0] != '*' && !n.first[spec[0]] {
		return false
	}
	base, wide := strings.CutSuffix(spec, ":*")
	if !wide {
		base, wide = strings.CutSuffix(spec, " *")
	}
	if base = strings.TrimSpace(base); base == "" {
		return false
	}
	covers := func(name string) bool {
		return glob(base, name) || wide && glob(base+":*", name)
	}
	if l == allowList {
		return n.id != "" && covers(n.id)
	}
	return slices.ContainsFunc(n.all, covers)
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
