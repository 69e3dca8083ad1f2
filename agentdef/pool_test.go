package agentdef

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/permission"
)

var every = strings.Fields(`Read Write Edit MultiEdit Glob Grep Bash BashOutput KillShell WebFetch TodoWrite
	AskUserQuestion Agent Skill SkillSearch CronCreate mcp__gh__get mcp__gh__put mcp__db__query`)

// tools is a list; a ~ stands for a blank in an entry.
func tools(list string) Tools {
	t := Tools{Listed: true}
	for _, entry := range strings.Fields(list) {
		t.Only = append(t.Only, strings.ReplaceAll(entry, "~", " "))
	}
	return t
}

func TestPool(t *testing.T) { // spec I-9
	minus := func(list string) string {
		var out []string
		for _, n := range every {
			if !slices.Contains(strings.Fields(list), n) {
				out = append(out, n)
			}
		}
		return strings.Join(out, " ")
	}
	const reads = "Read Glob Grep TodoWrite AskUserQuestion Skill SkillSearch"
	for _, tt := range []struct {
		name   string
		tools  Tools
		fork   Fork
		want   string
		limits string // tool: rules, …
		deny   string
	}{
		{"everything", Tools{}, Fork{}, minus(""), "", ""},
		{"a list", tools("Read Grep"), Fork{}, "Read Grep", "", ""},
		{"an empty list", tools(""), Fork{}, "", "", ""},
		{"star", tools("*"), Fork{}, minus(""), "", ""},
		{"names are exact", tools("Edit"), Fork{}, "Edit", "", ""},
		{"bash brings its companions", tools("Bash"), Fork{}, "Bash BashOutput KillShell", "", ""},
		{"patterns", tools("Bash(git~*) Read"), Fork{}, "Read Bash BashOutput KillShell", "Bash: Bash(git *)", ""},
		{"patterns and the whole", tools("Bash(git~*) Bash"), Fork{}, "Bash BashOutput KillShell", "", ""},
		{"old name", tools("Task"), Fork{}, "Agent", "", ""},
		{"kinds", Tools{Listed: true, Only: []string{"Agent(a, b)"}}, Fork{}, "Agent", "Agent: Agent(a) Agent(b)", ""},
		{"server", tools("mcp__gh"), Fork{}, "mcp__gh__get mcp__gh__put", "", ""},
		{"server with star", tools("mcp__gh__*"), Fork{}, "mcp__gh__get mcp__gh__put", "", ""},
		{"one tool of a server", tools("mcp__gh__get"), Fork{}, "mcp__gh__get", "", ""},
		{"server prefix is no server", tools("mcp__g"), Fork{}, "", "", ""},
		{"without", Tools{Without: []string{"Write", "mcp__gh"}}, Fork{}, minus("Write mcp__gh__get mcp__gh__put"), "", ""},
		{"without, with a specifier", Tools{Without: []string{"Bash(rm *)"}}, Fork{}, minus("Bash"), "", ""},
		{"without beats the list", Tools{Listed: true, Only: []string{"Read", "Bash"}, Without: []string{"Bash"}}, Fork{}, "Read BashOutput KillShell", "", ""},
		{"disallowed tool", Tools{}, Fork{Disallowed: []string{"WebFetch"}}, minus("WebFetch"), "", ""},
		{"disallowed rule covers", Tools{}, Fork{Disallowed: []string{"Edit"}}, minus("Edit Write MultiEdit"), "", ""},
		{"disallowed pattern", Tools{}, Fork{Disallowed: []string{"Bash(rm *)"}}, minus(""), "", "Bash(rm *)"},
		{"allowed limits what changes", Tools{}, Fork{Allowed: []string{"Bash(git *)"}}, "Read Glob Grep Bash BashOutput KillShell TodoWrite AskUserQuestion Skill SkillSearch", "Bash: Bash(git *)", ""},
		{"allowed reading only", Tools{}, Fork{Allowed: []string{"Read"}}, reads, "", ""},
		{"allowed nothing", Tools{}, Fork{Allowed: []string{}}, reads, "", ""},
		{"allowed edit covers write", Tools{}, Fork{Allowed: []string{"Edit"}}, "Read Write Edit MultiEdit Glob Grep TodoWrite AskUserQuestion Skill SkillSearch", "", ""},
		{"allowed write is not edit", Tools{}, Fork{Allowed: []string{"Write"}}, "Read Write Glob Grep TodoWrite AskUserQuestion Skill SkillSearch", "", ""},
		{"allowed server", Tools{}, Fork{Allowed: []string{"mcp__gh__*"}}, reads + " mcp__gh__get mcp__gh__put", "", ""},
		{"allowed does not widen the type", tools("Read"), Fork{Allowed: []string{"Bash", "Write"}}, "Read", "", ""},
		{"both limit", tools("Bash(git~*)"), Fork{Allowed: []string{"Bash(git log *)"}}, "Bash BashOutput KillShell", "Bash: Bash(git *), Bash: Bash(git log *)", ""},
		{"disallowed beats allowed", Tools{}, Fork{Allowed: []string{"Bash"}, Disallowed: []string{"Bash"}}, "Read Glob Grep BashOutput KillShell TodoWrite AskUserQuestion Skill SkillSearch", "", ""},
	} {
		p := PoolOf(&Definition{Name: "a", Tools: tt.tools}, tt.fork, every)
		var limits []string
		for _, l := range p.Limits {
			limits = append(limits, l.Tool+": "+strings.Join(l.Rules, " "))
		}
		want := strings.Fields(tt.want)
		slices.SortFunc(want, func(a, b string) int { return slices.Index(every, a) - slices.Index(every, b) })
		if d := cmp.Diff(strings.Join(want, " "), strings.Join(p.Names, " ")); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		if got := strings.Join(limits, ", "); got != tt.limits || strings.Join(p.Deny, " ") != tt.deny {
			t.Errorf("%s: limits %q, deny %q", tt.name, got, p.Deny)
		}
		if len(p.Names)+len(p.Left) != len(every) || !slices.Equal(p.Grants, tt.fork.Allowed) {
			t.Errorf("%s: %d tools and %d with a reason of %d; grants %v", tt.name, len(p.Names), len(p.Left), len(every), p.Grants)
		}
	}
}

func TestAbsent(t *testing.T) {
	p := PoolOf(&Definition{Name: "a", Tools: Tools{Listed: true, Only: []string{"read_file", "Read"}, Without: []string{"Browse"}}},
		Fork{Skill: "s", Allowed: []string{"Nope(x)"}}, every)
	want := []Missing{{"tools", "read_file"}, {"disallowedTools", "Browse"}, {"allowed-tools", "Nope(x)"}}
	if d := cmp.Diff(want, p.Absent); d != "" {
		t.Error(d)
	}
}

func TestCheck(t *testing.T) { // spec I-9: "with their patterns"
	def := &Definition{Name: "a", Tools: Tools{Listed: true, Only: []string{"Bash", "Agent(w)", "Read", "Write"}}}
	fork := Fork{Skill: "s", Dir: "/skills/s", Allowed: []string{"Bash(git log *)", "Bash(broken", "Write(/out/**)", "Agent"}}
	p := PoolOf(def, fork, every)
	bash := func(line string) permission.Request {
		return permission.Request{Tool: "Bash", Input: permission.Input{Command: line}, WorkDir: "/w", Home: "/h"}
	}
	path := func(tool, path string) permission.Request {
		return permission.Request{Tool: tool, Input: permission.Input{Path: path}, WorkDir: "/w", Home: "/h"}
	}
	for _, tt := range []struct {
		req  permission.Request
		want string
	}{
		{bash("git log -1"), ""},
		{bash("ls"), ""}, // reads
		{bash("git log && rm -rf x"), "allowed-tools of skill s allows Bash only as Bash(git log *), Bash(broken"},
		{bash("git push"), "allowed-tools of skill s allows Bash only as Bash(git log *), Bash(broken"},
		{path("Write", "/skills/s/out/a"), ""},
		{path("Write", "/w/a"), "allowed-tools of skill s allows Write only as Write(/out/**)"},
		{path("Edit", "/skills/s/out/a"), "this agent has no Edit: tools of agent a does not list it"},
		{path("Read", "/etc/hosts"), ""}, // no limit; whether it is allowed is not asked here
		{permission.Request{Tool: "Agent", Input: permission.Input{Agent: "w"}}, ""},
		{permission.Request{Tool: "Agent", Input: permission.Input{Agent: "v"}}, "tools of agent a allows Agent only as Agent(w)"},
		{permission.Request{Tool: "Nope"}, "this agent has no tool Nope"},
	} {
		if got := p.Check(tt.req); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.req.Input, got, tt.want)
		}
	}
}

// TestWithin: nothing that the outer pool refuses is let through.
func TestWithin(t *testing.T) {
	outer := PoolOf(&Definition{Name: "o", Tools: tools("Read Bash(git~*)")}, Fork{Disallowed: []string{"Bash(git push *)"}}, every)
	inner := PoolOf(&Definition{Name: "i"}, Fork{}, every).Within(outer)
	if d := cmp.Diff([]string{"Read", "Bash", "BashOutput", "KillShell"}, inner.Names); d != "" {
		t.Error(d)
	}
	if len(inner.Limits) != 1 || !slices.Equal(inner.Deny, []string{"Bash(git push *)"}) || len(inner.Names)+len(inner.Left) != len(every) {
		t.Errorf("%+v", inner)
	}
}

// TestNothingWidens: whatever the lists are, a tool of the result was there
// before, and one more restriction never adds a tool.
func TestNothingWidens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := append(slices.Clone(every), "Bash(git *)", "mcp__gh", "mcp__*", "*", "Edit(src/**)", "x", "")
	pick := func() []string {
		var out []string
		for range r.IntN(4) {
			out = append(out, words[r.IntN(len(words))])
		}
		return out
	}
	for range 3000 {
		def := &Definition{Tools: Tools{Listed: r.IntN(2) == 0, Only: pick(), Without: pick()}}
		fork := Fork{Disallowed: pick()}
		wide := PoolOf(def, fork, every)
		fork.Allowed = append([]string{}, pick()...)
		narrow := PoolOf(def, fork, every)
		for _, n := range narrow.Names {
			if !slices.Contains(wide.Names, n) {
				t.Fatalf("%+v %+v: %s was added", def.Tools, fork, n)
			}
		}
		if len(narrow.Limits) < len(wide.Limits) && len(narrow.Names) == len(wide.Names) {
			t.Fatalf("%+v %+v: a limit was lifted", def.Tools, fork)
		}
	}
}
