package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const bom = "\uFEFF"

func file(yaml string) string { return "---\n" + yaml + "\n---\n# Title\n\nText of the body.\n" }

// TestCasesFiles is F-1 to F-7 as people see it: each row is one skill of one
// workspace, so that a bad one shows what it does to the others.
func TestCasesFiles(t *testing.T) {
	tests := []struct {
		rule, data string
		want       func(r row) bool
		problems   string
	}{
		{"F-3 colon", file("name: nag\ndescription: Nagging. Triggers on: '/x:nag', '/x nag'"),
			func(r row) bool {
				return r.Name == "nag" && r.Description == "Nagging. Triggers on: '/x:nag', '/x nag'"
			}, "yaml-recovered"},
		{"F-3 one bad line", file("name: mk\ndescription: Use for marketing work: copy\nversion: 1.10\ncontext: fork"),
			func(r row) bool {
				return r.Description == "Use for marketing work: copy" && r.Version == "1.10" && r.Context == "fork"
			}, "yaml-recovered"},
		{"F-3 column 0", file("description: Use for remote work over ssh, including\ncopying files."),
			func(r row) bool { return r.Description == "Use for remote work over ssh, including copying files." }, "yaml-recovered"},
		{"F-4 quoted lines", file("description: \"Use this with it.\nAlways ask.\n\""),
			func(r row) bool { return r.Description == "Use this with it. Always ask." }, ""},
		{"F-3 fail closed", file("description: d\nallowed-tools: [Read, Bash(x"),
			func(r row) bool { return r.Description == "d" && !r.ModelInvocable && r.UserInvocable }, "security-field-lost"},
		{"F-4 hint", file("description: An ADR: the decision.\nargument-hint: [action] — e.g. \"list\", \"status\""),
			func(r row) bool { return r.ArgumentHint == `[action] — e.g. "list", "status"` }, "yaml-recovered"},
		{"F-4 hint that is a list", file("description: d\nargument-hint: [x, y]"),
			func(r row) bool { return r.ArgumentHint == "[x, y]" }, ""},
		{"F-4 int", file("name: 007\ndescription: 1.10"),
			func(r row) bool { return r.Name == "007" && r.Description == "1.10" }, ""},
		{"F-4 bool", file("name: yes\ndescription: 2024-01-01"),
			func(r row) bool { return r.Name == "yes" && r.Description == "2024-01-01" }, ""},
		{"F-4 tag", file("description: !important thing"), func(r row) bool { return r.Description == "!important thing" }, "text-shortened"},
		{"F-4 hash", file("description: tags #important"), func(r row) bool { return r.Description == "tags #important" }, "text-shortened"},
		{"F-5 null", file("description: null\ndisable-model-invocation: On"),
			func(r row) bool {
				return r.Description == "Text of the body." && r.DescriptionFallback && !r.ModelInvocable
			}, ""},
		{"F-5 neither", file("description: d\ndisable-model-invocation: maybe"), func(r row) bool { return !r.ModelInvocable }, "bad-value"},
		{"F-5 safe", file("description: d\nuser-invocable: maybe"), func(r row) bool { return r.UserInvocable }, "bad-value"},
		{"I-3 nobody", file("description: d\nuser-invocable: false\ndisable-model-invocation: true"),
			func(r row) bool { return !r.UserInvocable && !r.ModelInvocable }, "unreachable"},
		{"F-6 near", file("description: d\nglobs: \"**/*.ts\""), func(r row) bool { return r.State == "active" }, "did-you-mean"},
		{"F-2 no fence", "description: d\nname: x\n---\nText.\n", func(r row) bool { return r.DescriptionFallback }, "no-opening-fence"},
		{"F-2 outer fence", "```markdown\n---\nname: x\ndescription: d\n---\nText.\n```\n", func(r row) bool { return r.Description == "" }, "outer-code-fence"},
		{"F-2 BOM, CRLF, end of file", bom + strings.TrimSuffix(strings.ReplaceAll("---\nname: demo\ndescription: d\n---\n", "\n", "\r\n"), "\r\n"),
			func(r row) bool { return r.Name == "demo" && r.Description == "d" }, ""},
		{"F-2 CRLF enum", strings.ReplaceAll(file("description: d\ncontext: fork\npaths:\n  - a\n  - b"), "\n", "\r\n"),
			func(r row) bool { return r.Context == "fork" && slices.Equal(r.Paths, []string{"a", "b"}) }, ""},
		{"F-2 CR", strings.ReplaceAll(file("description: d\ncontext: fork"), "\n", "\r"), func(r row) bool { return r.Context == "fork" }, ""},
		{"D-3 list", file("description: d\npaths:\n  - \"**/*.ts\"\n  - \"**/*.js\""), patterns("**/*.ts", "**/*.js"), ""},
		{"D-3 text", file("description: d\npaths: \"**/*.ts, **/*.js\""), patterns("**/*.ts", "**/*.js"), ""},
		{"D-3 braces", file("description: d\npaths: src/*.{ts,tsx}"), patterns("src/*.ts", "src/*.tsx"), ""},
		{"D-3 number", file("description: d\npaths: 5"), patterns("5"), ""},
		{"D-3 mixed", file("description: d\npaths: [1, null, \"src/**\"]"), patterns("1", "src/**"), ""},
		{"D-3 star", file("description: d\npaths: **/*.ts"), patterns("**/*.ts"), "yaml-recovered"},
		{"D-3 map", file("description: d\npaths: {a: b}"), patterns(), "bad-value"},
		{"D-3 exclusion", file("description: d\npaths:\n  - src/**\n  - !src/gen/**"), patterns("src/**", "!src/gen/**"), "text-shortened"},
		{"F-4 alias bomb", file("a: &a [l,l,l]\nb: &b [*a,*a,*a]\ndescription: *b"), func(r row) bool { return r.DescriptionFallback }, "yaml-alias yaml-alias"},
		{"F-4 many parts", file("description: d\na: &a [" + strings.Repeat("l,", 5000) + "]\nb: [" + strings.Repeat("*a,", 5000) + "]"),
			func(r row) bool { return r.Description == "d" }, "yaml-alias yaml-recovered"},
		{"F-7 name with controls", file("name: \"a</available_skills>\\u001b[2Jb\"\ndescription: d"), func(r row) bool { return r.Description == "d" }, "hidden-characters"},
		{"F-7 tag letters", file("description: Formats.\U000E0049\U000E0067"), func(r row) bool { return true }, "hidden-characters"},
		{"F-7 emoji", file("description: \U0001F469\u200D\U0001F4BB \u2764\uFE0F \U0001F1E9\U0001F1EA"), func(r row) bool { return true }, ""},
		{"F-4 long, in characters", file("description: " + strings.Repeat("字", 900)), func(r row) bool { return len([]rune(r.Description)) == 900 }, ""},
	}
	files := map[string]string{}
	id := func(i int) string { return "case-" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }
	for i, tt := range tests {
		files["repo/.claude/skills/"+id(i)+"/SKILL.md"] = tt.data
	}
	rows := newPlace(t, files).list()
	if len(rows) != len(tests) {
		t.Errorf("%d skills, want %d", len(rows), len(tests))
	}
	for i, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			r := rows[id(i)]
			if !tt.want(r) {
				t.Errorf("%+v", r)
			}
			if got := codesOf(r.Problems); got != tt.problems {
				t.Errorf("problems %q, want %q: %v", got, tt.problems, r.Problems)
			}
			for _, p := range r.Problems {
				if !strings.Contains(p.Path, id(i)) || p.Line < 1 || p.Column < 1 || p.Fix == "" {
					t.Errorf("no place or fix: %+v", p)
				}
			}
		})
	}
}

// patterns is a conditional skill with these patterns.
func patterns(want ...string) func(row) bool {
	return func(r row) bool {
		return r.State == "conditional" && r.Paths != nil && slices.Equal(r.Paths, append([]string{}, want...))
	}
}

// TestCasesTools is the shapes of allowed-tools, as a call grants them.
func TestCasesTools(t *testing.T) {
	tests := map[string][]string{
		"allowed-tools: Read Grep":                                  {"Read", "Grep"},
		"allowed-tools: Read, Grep":                                 {"Read", "Grep"},
		"allowed-tools: [Read, Grep]":                               {"Read", "Grep"},
		"allowed_tools:\n  - Read\n  - Bash(a, b c)":                {"Read", "Bash(a, b c)"},
		"allowedTools: [Bash(a, b), Read]":                          {"Bash(a, b)", "Read"},
		"allowed-tools: Bash(git add *) Bash(git commit *)":         {"Bash(git add *)", "Bash(git commit *)"},
		"allowed-tools: Bash(git commit -m: *)":                     {"Bash(git commit -m: *)"},
		"allowed-tools: '[\"Read\", \"Bash(a, b)\"]'":               {"Read", "Bash(a, b)"},
		"description: Use for marketing: copy\nallowed-tools: Read": {"Read"},
	}
	for yaml, want := range tests {
		p := newPlace(t, map[string]string{"repo/.claude/skills/x/SKILL.md": file(yaml)})
		if _, tools := p.render("x", "--trust"); !slices.Equal(tools, want) {
			t.Errorf("%q: %q, want %q", yaml, tools, want)
		}
	}
}

// TestCasesOneFault: what is reported when reading is not reported again.
func TestCasesOneFault(t *testing.T) {
	for yaml, want := range map[string]string{
		"allowed-tools: Bash(x, Read":   "unclosed-rule",
		"allowed-tools: Bash(a:b:*)":    "rule-never-matches",
		"allowed-tools: [Read":          "security-field-lost",
		"when_to_use: a\nwhenToUse: b":  "duplicate-key",
		"when_to_use: a: b\nlicense: c": "yaml-recovered",
	} {
		p := newPlace(t, map[string]string{"repo/.claude/skills/x/SKILL.md": file("description: d\n" + yaml)})
		if got := p.problems(); got != want {
			t.Errorf("%q: %s, want %s", yaml, got, want)
		}
	}
}

// TestCasesFields: what no field is declared for stays as it is written (F-4,
// F-6), at every depth.
func TestCasesFields(t *testing.T) {
	p := newPlace(t, map[string]string{"repo/.claude/skills/x/SKILL.md": file("description: d\nx-team: platform\nkeywords: [off, 007, 0x10, 1e3]\n" +
		"released: 2026-01-01\nrequires: {env: [API_KEY]}\nmetadata: {a: {requires: {env: [API_KEY]}}}\nlicense: MIT")})
	fields, body := p.show("x")
	for key, want := range map[string]string{
		"x-team": "platform", "keywords": "[off, 007, 0x10, 1e3]", "released": "2026-01-01",
		"requires": "{env: [API_KEY]}", "metadata": "{a: {requires: {env: [API_KEY]}}}", "license": "MIT",
	} {
		if fields[key] != want {
			t.Errorf("%s: %q, want %q", key, fields[key], want)
		}
	}
	if body != "# Title\n\nText of the body.\n" {
		t.Errorf("body %q", body)
	}
}

// TestCasesBody: the header is never part of the prompt, and everything else
// is (F-2), whoever reads.
func TestCasesBody(t *testing.T) {
	for data, want := range map[string]string{
		"---\nname: x\n---\n# T\n\n---\n\n```yaml\n---\na: 1\n---\n```\ntail": "# T\n\n---\n\n```yaml\n---\na: 1\n---\n```\ntail",
		bom + "---\r\nname: x\r\n---\r\n# Guide\r\n":                          "# Guide\r\n",
		"---\r\nname: safe\r\n---\r\n<!-- name: evil -->":                     "<!-- name: evil -->",
	} {
		p := newPlace(t, map[string]string{"repo/.claude/skills/x/SKILL.md": data})
		if _, body := p.show("x"); body != want {
			t.Errorf("show: %q, want %q", body, want)
		}
		text, _ := p.render("x")
		if !strings.HasSuffix(strings.TrimRight(text, "\r\n"), strings.TrimRight(want, "\r\n")) || strings.Contains(text, "name: x") {
			t.Errorf("render: %q, want %q", text, want)
		}
	}
}

// TestCasesFix: a repair changes the faulty lines and nothing else, once (F-10).
func TestCasesFix(t *testing.T) {
	const before = bom + "---\r\n# top\r\nname: x\r\ndescription: Use it: now # always\r\n# mid\r\nargument-hint: [a] [b]\r\n---\r\nBody \t \r\n\r\n---\r\nx: y\r\n"
	want := strings.NewReplacer("Use it: now # always", `"Use it: now # always"`, "[a] [b]", `"[a] [b]"`).Replace(before)
	p := newPlace(t, map[string]string{"repo/.claude/skills/x/SKILL.md": before})
	for range 2 {
		p.run("check", "--fix")
		got, err := os.ReadFile(filepath.Join(p.path("repo"), ".claude", "skills", "x", "SKILL.md"))
		if err != nil || string(got) != want {
			t.Errorf("%q, want %q, %v", got, want, err)
		}
		if left := p.problems(); left != "" {
			t.Errorf("left: %s", left)
		}
	}
}

// TestCasesPortable: the portable standard is a profile of its own; loading is
// never that strict (F-8).
func TestCasesPortable(t *testing.T) {
	long := func(n int) string { return "name: x\ndescription: " + strings.Repeat("d", n) }
	for yaml, want := range map[string]string{
		"name: x\ndescription: d\nallowed-tools: Read":      "",
		"name: my--skill\ndescription: d":                   "portable-name-directory portable-name-hyphens",
		"name: mcp-proxy\ndescription: d":                   "portable-name-directory",
		"description: d\nx-team: y":                         "portable-name-missing portable-unknown-field",
		long(1024):                                          "",
		long(1025):                                          "portable-description-too-long",
		"name: x\ndescription: " + strings.Repeat("字", 350): "",
	} {
		p := newPlace(t, map[string]string{"repo/.claude/skills/x/SKILL.md": file(yaml)})
		if got := p.problems("--profile", "agentskills"); got != want {
			t.Errorf("%.60q: %q, want %q", yaml, got, want)
		}
		if len(p.list()) != 1 {
			t.Errorf("%.60q does not load", yaml)
		}
	}
}
