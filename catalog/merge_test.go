package catalog

import (
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestMerge covers C-5 to C-8 and the ids of D-1.
func TestMerge(t *testing.T) {
	tests := []struct {
		name     string
		opts     Options
		in       []*skill.Skill
		all      []string
		shadowed []string
	}{
		{
			name: "C-5 the whole table",
			in: []*skill.Skill{
				mcp("s", "x"), plugin("p", "x"), workflow("x"), legacy(skill.User, "x"), legacy(skill.Additional, "x"),
				legacy(skill.Project, "x"), added(1, "x"), added(0, "x"), far("x"), near("x"), user("x"), managed("x"), bundled("x"),
			},
			all: []string{"x=bundled:x", "p:x=plugin:p:x", "s:x=mcp:s:x"},
			shadowed: []string{
				"managed:x<bundled:x C-5", "user:x<bundled:x C-5", "project:x<bundled:x C-5", "project:repo:x<bundled:x C-5",
				"additional:x<bundled:x C-5", "additional:add8:x<bundled:x C-5", "legacy:x<bundled:x C-5",
				"legacy:additional:x<bundled:x C-5", "legacy:user:x<bundled:x C-5", "workflow:x<bundled:x C-5",
			},
		},
		{
			name: "C-5 user before project, nearest project first",
			in:   []*skill.Skill{far("a"), near("a"), near("b"), user("b")},
			all:  []string{"b=user:b", "a=project:a"}, shadowed: []string{"project:b<user:b C-5", "project:repo:a<project:a C-5"},
		},
		{
			name: "C-5 skillPrecedence reorders, missing sources follow",
			opts: Options{Precedence: []skill.Source{skill.Project, skill.Bundled}},
			in:   []*skill.Skill{bundled("x"), managed("x"), near("x"), user("y"), managed("y")},
			all:  []string{"x=project:x", "y=managed:y"}, shadowed: []string{"bundled:x<project:x C-5", "managed:x<project:x C-5", "user:y<managed:y C-5"},
		},
		{
			name: "C-5 a namespace never shadows, even when it is ranked first",
			opts: Options{Precedence: []skill.Source{skill.MCP, skill.Plugin}},
			in:   []*skill.Skill{mcp("web", "deploy"), plugin("web", "deploy"), legacy(skill.Project, "web:deploy")},
			all:  []string{"web:deploy=legacy:web:deploy"}, shadowed: []string{"mcp:web:deploy<legacy:web:deploy C-5", "plugin:web:deploy<legacy:web:deploy C-5"},
		},
		{
			name: "C-5 allowBundledOverride for managed, user and project",
			opts: Options{AllowBundledOverride: true},
			in:   []*skill.Skill{bundled("m"), managed("m"), bundled("u"), user("u"), near("u"), bundled("p"), near("p")},
			all:  []string{"m=managed:m", "u=user:u", "p=project:p"},
			shadowed: []string{
				"bundled:m<managed:m C-5", "bundled:p<project:p C-5", "bundled:u<user:u C-5", "project:u<user:u C-5",
			},
		},
		{
			name: "C-5 allowBundledOverride for nobody else",
			opts: Options{AllowBundledOverride: true},
			in:   []*skill.Skill{bundled("a"), added(0, "a"), legacy(skill.User, "a"), bundled("n"), nested("web", "n")},
			all:  []string{"a=bundled:a", "n=bundled:n", "web:n=project:web:n"}, shadowed: []string{"additional:a<bundled:a C-5", "legacy:a<bundled:a C-5"},
		},
		{
			name: "B-4 bundled skills that are off give up their ids",
			opts: Options{DisableBundled: true},
			in:   []*skill.Skill{bundled("x"), legacy(skill.User, "x"), bundled("y")},
			all:  []string{"y=bundled:y", "x=legacy:x"}, shadowed: []string{"bundled:x<legacy:x C-5"},
		},
		{
			name: "C-2 .claude before its twin",
			in:   []*skill.Skill{at(skill.User, userTwin, "x"), user("x"), at(skill.Project, nearTwin, "y"), near("y"), far("y")},
			all:  []string{"x=user:x", "y=project:y"},
			shadowed: []string{
				"user:.agents:x<user:x C-5", "project:.agents:y<project:y C-5", "project:repo:y<project:y C-5",
			},
		},
		{
			name: "C-6 ids are compared after normalization",
			in:   []*skill.Skill{user("caf\u00e9"), near("cafe\u0301"), near("CAF\u00c9")},
			all:  []string{"caf\u00e9=user:caf\u00e9", "CAF\u00c9=project:CAF\u00c9"}, shadowed: []string{"project:caf\u00e9<user:caf\u00e9 C-5"},
		},
		{
			name: "C-8 each project directory on the way up has a name of its own",
			in: []*skill.Skill{
				near("deploy"), far("deploy"),
				at(skill.Project, "/repo/apps/repo/.claude/skills", "deploy", func(s *skill.Skill) { s.Origin.Distance = 2 }),
				at(skill.Project, "/.claude/skills", "deploy", func(s *skill.Skill) { s.Origin.Distance = 3 }),
			},
			all: []string{"deploy=project:deploy"},
			shadowed: []string{
				"project:repo:deploy<project:deploy C-5", "project:apps/repo:deploy<project:deploy C-5", "project:2:deploy<project:deploy C-5",
			},
		},
		{
			name: "C-8 a qualified id that is somebody's id gets longer",
			in:   []*skill.Skill{user("deploy"), near("deploy"), plugin("project", "deploy"), legacy(skill.User, "user:deploy")},
			all: []string{
				"deploy=user:u:deploy", "user:deploy=legacy:user:deploy", "project:deploy=plugin:project:deploy",
			},
			shadowed: []string{"project:apps:deploy<user:u:deploy C-5"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(tt.opts, tt.in...)
			equal(t, "all", ids(s), tt.all)
			equal(t, "shadowed", losers(s), tt.shadowed)
		})
	}
}

// TestSameFile covers C-7: no file twice, and no warning about it.
func TestSameFile(t *testing.T) {
	tests := []struct {
		name     string
		in       []*skill.Skill
		all      []string
		shadowed []string
	}{
		{
			"by real path, first by precedence", []*skill.Skill{near("scan", real("/canon"), linked), user("scan", real("/canon"))},
			[]string{"scan=user:scan"}, []string{"project:scan<user:scan C-7"},
		},
		{
			"under two ids", []*skill.Skill{near("b", real("/canon")), user("a", real("/canon"))},
			[]string{"a=user:a"}, []string{"project:b<user:a C-7"},
		},
		{
			"by inode when the real paths differ", []*skill.Skill{user("a", inode(7)), near("b", inode(7))},
			[]string{"a=user:a"}, []string{"project:b<user:a C-7"},
		},
		{
			"through a third route", []*skill.Skill{user("a", real("/r"), inode(7)), near("b", real("/s"), inode(7)), far("c", real("/s"), inode(0))},
			[]string{"a=user:a"}, []string{"project:b<user:a C-7", "project:c<user:a C-7"},
		},
		{
			"the real directory before a link, whatever their names", []*skill.Skill{user("a", real("/r"), linked), user("z", real("/r"))},
			[]string{"z=user:z"}, []string{"user:a<user:z C-7"},
		},
		{
			"then byte order", []*skill.Skill{user("b", real("/r"), linked), user("B", real("/r"), linked)},
			[]string{"B=user:B"}, []string{"user:b<user:B C-7"},
		},
		{
			"two roots that are links to one directory", []*skill.Skill{
				at(skill.User, userTwin, "research", real("/canon/research/SKILL.md")), user("research", real("/canon/research/SKILL.md")),
			},
			[]string{"research=user:research"}, []string{"user:.agents:research<user:research C-7"},
		},
		{
			"unknown files are never the same", []*skill.Skill{bundled("a"), bundled("b"), mcp("s", "c"), near("d", real("")), near("e", real(""))},
			[]string{"a=bundled:a", "b=bundled:b", "d=project:d", "e=project:e", "s:c=mcp:s:c"}, nil,
		},
		{
			"a duplicate does not take the qualified id of another file",
			[]*skill.Skill{user("x", real("/u")), near("x", real("/u")), far("x", real("/f"))},
			[]string{"x=user:x"}, []string{"project:apps:x<user:x C-7", "project:x<user:x C-5"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(Options{}, tt.in...)
			equal(t, "all", ids(s), tt.all)
			equal(t, "shadowed", losers(s), tt.shadowed)
			for _, p := range s.Problems {
				if p.Code != codeShadowed {
					t.Errorf("C-7 demands silence, got %v", p)
				}
			}
			for e := range s.Shadowed() {
				if e.lost.Rule == "C-7" && (e.State != Shadowed || e.Reason.Path != e.Winner.Origin.Path) {
					t.Errorf("%s: state %s, reason %+v", e.Qualified, e.State, e.Reason)
				}
				if e.lost.Rule == "C-7" && len(s.ProblemsOf(e.Origin.Path)) > 0 {
					t.Errorf("C-7 demands silence about %s", e.Origin.Path)
				}
			}
		})
	}
}

// TestNested covers the ids of D-1.
func TestNested(t *testing.T) {
	tests := []struct {
		name     string
		in       []*skill.Skill
		all      []string
		shadowed []string
		bare     string // qualified id of what "deploy" means
		variants []string
	}{
		{
			"free bare id", []*skill.Skill{nested("web", "deploy")},
			[]string{"deploy=project:web:deploy"}, nil, "project:web:deploy", nil,
		},
		{
			"the older keeps it", []*skill.Skill{nested("web", "deploy"), near("deploy")},
			[]string{"deploy=project:deploy", "web:deploy=project:web:deploy"}, nil, "project:deploy", []string{"web:deploy"},
		},
		{
			"even one of low rank", []*skill.Skill{nested("web", "deploy"), workflow("deploy")},
			[]string{"web:deploy=project:web:deploy", "deploy=workflow:deploy"}, nil, "workflow:deploy", []string{"web:deploy"},
		},
		{
			"between nested ones the deeper", []*skill.Skill{nested("web", "deploy"), nested("web/admin/x", "deploy"), nested("web/admin", "deploy")},
			[]string{"deploy=project:web/admin/x:deploy", "web/admin:deploy=project:web/admin:deploy", "web:deploy=project:web:deploy"},
			nil, "project:web/admin/x:deploy", []string{"web/admin:deploy", "web:deploy"},
		},
		{
			"in one directory .claude before .agents",
			[]*skill.Skill{
				at(skill.Project, "/repo/apps/web/.agents/skills", "deploy", func(s *skill.Skill) { s.Origin.Below = "web" }),
				nested("web", "deploy"), near("deploy"),
			},
			[]string{"deploy=project:deploy", "web:deploy=project:web:deploy"},
			[]string{"project:.agents:web:deploy<project:web:deploy C-5"}, "project:deploy", []string{"web:deploy"},
		},
		{
			"its own id is somebody else's",
			[]*skill.Skill{nested("web", "deploy"), near("deploy"), plugin("web", "deploy")},
			[]string{"deploy=project:deploy", "project:web:deploy=project:web:deploy", "web:deploy=plugin:web:deploy"},
			nil, "project:deploy", []string{"project:web:deploy"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(Options{}, tt.in...)
			equal(t, "all", ids(s), tt.all)
			equal(t, "shadowed", losers(s), tt.shadowed)
			e, err := s.Resolve("deploy")
			if err != nil || e.Qualified != tt.bare {
				t.Fatalf("deploy means %v (%v), want %s", e, err, tt.bare)
			}
			equal(t, "variants", idsOf(s.Variants(e)), tt.variants)
		})
	}
	if v := snap(Options{}).Variants(nil); v != nil {
		t.Errorf("variants of nothing: %v", v)
	}
}

// TestNestedAlias: the id with the directory means a nested skill before and
// after it loses the bare one (D-1).
func TestNestedAlias(t *testing.T) {
	before := snap(Options{}, nested("web", "deploy"))
	after := snap(Options{}, nested("web", "deploy"), nested("web/admin", "deploy"))
	for i, s := range []*Snapshot{before, after} {
		if e, err := s.Resolve("web:deploy"); err != nil || e.Qualified != "project:web:deploy" {
			t.Errorf("%d: web:deploy means %v, %v", i, e, err)
		}
	}
}

// TestMergeProblems covers C-5, C-6 and C-8: what people are warned of.
func TestMergeProblems(t *testing.T) {
	path := func(s *skill.Skill) string { return s.Origin.Path }
	tests := []struct {
		name string
		opts Options
		in   []*skill.Skill
		want []string
	}{
		{"nothing to say", Options{}, []*skill.Skill{user("a"), near("b")}, nil},
		{"shadowed is info", Options{}, []*skill.Skill{user("a"), near("a")}, []string{"info shadowed " + path(near("a"))}},
		{"a repository claims a bundled id", Options{}, []*skill.Skill{bundled("a"), near("a")}, []string{"warning shadowed " + path(near("a"))}},
		{"a user claims a bundled id", Options{}, []*skill.Skill{bundled("a"), user("a")}, []string{"info shadowed " + path(user("a"))}},
		{
			"a repository gets a bundled id", Options{AllowBundledOverride: true},
			[]*skill.Skill{bundled("a"), near("a")},
			[]string{"warning shadowed " + path(near("a"))},
		},
		{"an id that was given up", Options{DisableBundled: true}, []*skill.Skill{bundled("a"), near("a")}, nil},
		{
			"C-6 a display name claimed twice", Options{},
			[]*skill.Skill{near("a", named("Bird")), near("b", named("Bird"))},
			[]string{"warning display-name-taken " + path(near("a")), "warning display-name-taken " + path(near("b"))},
		},
		{
			"C-6 a display name that is an id", Options{},
			[]*skill.Skill{near("attacker:bird-co", named("bird")), near("bird", named("bird"))},
			[]string{"warning display-name-taken " + path(near("attacker:bird-co"))},
		},
		{
			"C-6 a display name that is a qualified id", Options{},
			[]*skill.Skill{near("a", named("user:b")), user("b")},
			[]string{"warning display-name-taken " + path(near("a"))},
		},
		{
			"names that repeat the directory claim nothing", Options{},
			[]*skill.Skill{near("deploy", named("deploy")), nested("web", "deploy", named("deploy")), plugin("p", "deploy", named("deploy"))}, nil,
		},
		{
			"shadowed skills claim no display name", Options{},
			[]*skill.Skill{user("a", named("Bird")), near("a", named("Bird"))}, []string{"info shadowed " + path(near("a"))},
		},
		{
			"C-9 an unknown visibility", Options{Overrides: map[string]Visibility{"a": "hiden"}, OverridesFrom: map[string]string{"a": "/s.json"}},
			[]*skill.Skill{user("a")}, []string{"warning unknown-visibility /s.json"},
		},
		{
			"C-5 an unknown source and one named twice",
			Options{Precedence: []skill.Source{skill.User, "usr", skill.User}, OverridesFrom: map[string]string{"skillPrecedence": "/s.json"}},
			[]*skill.Skill{user("a")}, []string{"warning bad-precedence /s.json", "warning bad-precedence /s.json"},
		},
		{"no id", Options{}, []*skill.Skill{user("a"), nil, near("")}, []string{"error skill-without-id ", "error skill-without-id /repo/apps/.claude/skills/SKILL.md"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(tt.opts, tt.in...)
			equal(t, "problems", codes(s.Problems), tt.want)
			for _, p := range s.Problems {
				if p.Message == "" || p.Fix == "" {
					t.Errorf("no message or fix: %+v", p)
				}
				if p.Path != "" && len(s.ProblemsOf(p.Path)) == 0 {
					t.Errorf("ProblemsOf(%q) is empty", p.Path)
				}
			}
		})
	}
}

// TestProblemsOf: sources' problems are kept, once each, sorted, by file.
func TestProblemsOf(t *testing.T) {
	b1 := skill.Problem{Code: "x", Severity: skill.Error, Message: "m", Path: "/b", Line: 2}
	b2 := skill.Problem{Code: "y", Severity: skill.Info, Message: "m", Path: "/b", Line: 1}
	a := skill.Problem{Code: "z", Severity: skill.Info, Message: "m", Path: "/a"}
	s := merge([]result{{problems: []skill.Problem{b1, a}}, {problems: []skill.Problem{b2, b1}}}, Options{})
	equal(t, "all", codes(s.Problems), codes([]skill.Problem{a, b2, b1}))
	equal(t, "of /b", codes(s.ProblemsOf("/b")), codes([]skill.Problem{b2, b1}))
	equal(t, "of /c", codes(s.ProblemsOf("/c")), nil)
}

// TestReasons: each way to lose says so in words (C-8).
func TestReasons(t *testing.T) {
	tests := []struct {
		name, want string
		opts       Options
		win, lose  *skill.Skill
	}{
		{"sources", "user comes before project", Options{}, user("x"), near("x")},
		{"scopes", "project comes before user", Options{}, legacy(skill.Project, "x"), legacy(skill.User, "x")},
		{"distance", "the directory nearer to the working directory comes first", Options{}, near("x"), far("x")},
		{"flags", "its directory comes first", Options{}, added(0, "x"), added(1, "x")},
		{"twins", ".claude comes before .agents", Options{}, user("x"), at(skill.User, userTwin, "x")},
		{"twins that were numbered", ".claude comes before .agents", Options{}, near("x"), at(skill.Project, nearTwin, "x", distance1)},
		{"another's twin", "its directory comes first", Options{}, at(skill.User, "/config/skills", "x"), at(skill.User, userTwin, "x", distance1)},
		{"paths", "its path comes first in byte order", Options{}, at(skill.User, "/a/skills", "x"), at(skill.User, "/b/skills", "x")},
		{"override", "allowBundledOverride lets it replace a bundled skill", Options{AllowBundledOverride: true}, user("x"), bundled("x")},
		{"retired", "bundled skills are switched off and give up their ids", Options{DisableBundled: true}, workflow("x"), bundled("x")},
		{"namespace", "skills of plugins and MCP servers never take the id of another skill", Options{}, legacy(skill.User, "p:x"), plugin("p", "x")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(tt.opts, tt.lose, tt.win)
			if len(s.shadowed) != 1 || s.shadowed[0].Skill != tt.lose {
				t.Fatalf("shadowed: %q", losers(s))
			}
			e := s.shadowed[0]
			want := s.ordered[0].where() + ` has the id "` + e.ID + `": ` + tt.want
			if e.lost.Detail != want || e.lost.Rule != "C-5" || e.lost.Path != tt.win.Origin.Path {
				t.Errorf("got %+v\nwant %s", e.lost, want)
			}
		})
	}
}
