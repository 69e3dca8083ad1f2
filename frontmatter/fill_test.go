package frontmatter

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// header wraps frontmatter into a file with a body.
func header(yaml string) string { return "---\n" + yaml + "---\nBody text.\n" }

// TestFields is the table of fields of chapter 1, one line of frontmatter each.
func TestFields(t *testing.T) {
	type want = func(*skill.Skill)
	tools := func(rules ...string) want { return func(s *skill.Skill) { s.Run.AllowedTools = rules } }
	paths := func(patterns ...string) want {
		return func(s *skill.Skill) { s.Trigger.Conditional, s.Trigger.Paths = true, patterns }
	}
	arguments := func(names ...string) want {
		return func(s *skill.Skill) { s.Content.Positional, s.Content.Arguments = true, names }
	}
	hiddenFromModel := func(s *skill.Skill) { s.Trigger.HiddenFromModel = true }
	nothing := func(*skill.Skill) {}
	tests := []struct {
		yaml     string
		want     want
		problems string
	}{
		{"name: 12306", func(s *skill.Skill) { s.Name = "12306" }, ""},
		{"name: null", nothing, ""},
		{"name:", nothing, ""},
		{"version: 1.10", func(s *skill.Skill) { s.Version = "1.10" }, ""},
		{"when_to_use: x", func(s *skill.Skill) { s.WhenToUse = "x" }, ""},
		{"when-to-use: x", func(s *skill.Skill) { s.WhenToUse = "x" }, ""},
		{"whenToUse: x", func(s *skill.Skill) { s.WhenToUse = "x" }, ""},
		{"model: opus[1m]", func(s *skill.Skill) { s.Run.Model = "opus[1m]" }, ""},
		{"model: inherit", nothing, ""},
		{"model: [a]", nothing, "bad-value"},
		{"agent: Explore", func(s *skill.Skill) { s.Run.Agent = "Explore" }, ""},
		{"context: fork", func(s *skill.Skill) { s.Run.Mode = skill.Fork }, ""},
		{"context: fork # note", func(s *skill.Skill) { s.Run.Mode = skill.Fork }, ""},
		{"context: inline", nothing, ""},
		{"context: |\n  !git log -1", nothing, "bad-value"},
		{"context: fork: x", hiddenFromModel, "security-field-lost"},
		{"effort: quick", func(s *skill.Skill) { s.Run.Effort = "low" }, ""},
		{"effort: standard", func(s *skill.Skill) { s.Run.Effort = "medium" }, ""},
		{"effort: 4096", func(s *skill.Skill) { s.Run.Effort = "4096" }, ""},
		{"effort: -1", nothing, "bad-value"},
		{"effort: huge", nothing, "bad-value"},
		{"shell: powershell", func(s *skill.Skill) { s.Run.Shell = "powershell" }, ""},
		{"shell: bash", nothing, ""},
		{"shell: zsh", nothing, "bad-value"},
		{"background: yes", func(s *skill.Skill) { s.Run.Background = true }, ""},
		{"background: maybe", nothing, "bad-value"},
		{"requires: [a@^1.2, b]", func(s *skill.Skill) { s.Run.Requires = []string{"a@^1.2", "b"} }, ""},
		{"requires: a b", func(s *skill.Skill) { s.Run.Requires = []string{"a", "b"} }, ""},
		{"requires: a@>=1 <2, b", func(s *skill.Skill) { s.Run.Requires = []string{"a@>=1 <2", "b"} }, ""},

		// argument-hint and arguments
		{"argument-hint: [file] [mode]", func(s *skill.Skill) { s.ArgumentHint, s.Content.Positional = "[file] [mode]", true }, "yaml-recovered"},
		{"argument-hint: [file]", func(s *skill.Skill) { s.ArgumentHint, s.Content.Positional = "[file]", true }, ""},
		{"argument-hint: [env: staging|prod]", func(s *skill.Skill) { s.ArgumentHint, s.Content.Positional = "[env: staging|prod]", true }, ""},
		{"argument-hint: <scope: all|one>", func(s *skill.Skill) { s.ArgumentHint, s.Content.Positional = "<scope: all|one>", true }, "yaml-recovered"},
		{"argument-hint: [action] — e.g. \"list\"", func(s *skill.Skill) { s.ArgumentHint, s.Content.Positional = "[action] — e.g. \"list\"", true }, "yaml-recovered"},
		{"arguments: [file, mode]", arguments("file", "mode"), ""},
		{"arguments: file mode", arguments("file", "mode"), ""},
		{"arguments: file, mode, file", arguments("file", "mode"), ""},
		{"arguments: $QUERY", arguments("QUERY"), ""},
		{"arguments: [file] [mode]", arguments("file", "mode"), "yaml-recovered"},
		{"arguments:\n  - name: folder\n    required: false\n  - depth: how far", arguments("folder", "depth"), ""},
		{"arguments:\n  folder: where", arguments("folder"), ""},
		{"arguments: component or function name", arguments(), "arguments-prose"},
		{"arguments: [file, 2nd, a.b]", arguments("file"), "bad-argument bad-argument"},
		{"arguments: $ARGUMENTS", arguments(), "bad-argument"},
		{"arguments:", nothing, ""},

		// allowed-tools
		{"allowed-tools: Read, Grep, Bash(git log:*)", tools("Read", "Grep", "Bash(git log:*)"), ""},
		{"allowed-tools: Bash(git add *) Bash(git commit *) Read", tools("Bash(git add *)", "Bash(git commit *)", "Read"), ""},
		{"allowed-tools: Bash(git diff HEAD~1, --stat), Read", tools("Bash(git diff HEAD~1, --stat)", "Read"), ""},
		{"allowed-tools: Read Write, Grep", tools("Read", "Write", "Grep"), ""},
		{"allowed_tools: Read", tools("Read"), ""},
		{"allowedTools: Read", tools("Read"), ""},
		{"allowed-tools: [Read, \"Bash(npm run test:*)\"]", tools("Read", "Bash(npm run test:*)"), ""},
		{"allowed-tools: [Bash(a, b), Read]", tools("Bash(a, b)", "Read"), ""},
		{"allowed-tools:\n  - Read\n  - Bash(a, b c)", tools("Read", "Bash(a, b c)"), ""},
		{"allowed-tools:\n- Read, Grep", tools("Read", "Grep"), ""},
		{"allowed-tools: '[\"Read\", \"Grep\"]'", tools("Read", "Grep"), ""},
		{"allowed-tools: |\n  Read\n  Grep", tools("Read", "Grep"), ""},
		{"allowed-tools: |\n  - Read\n  - Bash(x *)", tools("Read", "Bash(x *)"), ""},
		{"allowed-tools: - Read\n- Grep", tools("Read", "Grep"), "yaml-recovered"},
		{"allowed-tools: *", tools("*"), "yaml-recovered"},
		{"allowed-tools: Bash(git commit -m: *), Read", tools("Bash(git commit -m: *)", "Read"), "yaml-recovered"},
		{"allowed-tools:\n  - Bash(git commit -m: *)\n  - Read", tools("Bash(git commit -m: *)", "Read"), "yaml-recovered"},
		{"allowed-tools:\n  - Bash(git commit -m: x)\n  - Read", tools("Bash(git commit -m: x)", "Read"), ""},
		{"allowed-tools: [Bash(git commit -m: x), Read]", tools("Bash(git commit -m: x)", "Read"), ""},
		{"allowed-tools: \"Read\", \"Grep\"", tools("Read", "Grep"), "yaml-recovered"},
		{"allowed-tools: Bash(${CLAUDE_SKILL_DIR}/scripts/run.sh *)", tools("Bash(${CLAUDE_SKILL_DIR}/scripts/run.sh *)"), ""},
		{"allowed-tools: mcp__srv__*, Agent(planner, coder), Skill", tools("mcp__srv__*", "Agent(planner, coder)", "Skill"), ""},
		{"allowed-tools: Bash (git *), Read", tools("Bash(git *)", "Read"), ""},
		{"allowed-tools: [[Read], [Grep, Bash(a b)]]", tools("Read", "Grep", "Bash(a b)"), ""},
		{"allowed-tools:\n  - [Read, Grep]", tools("Read", "Grep"), ""},
		{"allowed-tools: [Read] [Grep]", hiddenFromModel, "security-field-lost"},
		{"allowed-tools: Bash(x -m: *) # note", tools("Bash(x -m: *)"), "yaml-recovered"},
		{"allowed-tools: Bash(a # b), Read", tools("Bash(a # b)", "Read"), "text-shortened"},
		{"allowed-tools:\n  - Bash(a # b)\n  - Read # note", tools("Bash(a # b)", "Read"), "text-shortened"},
		{"allowed-tools: \"Read", tools("Read"), "yaml-recovered"},
		{"allowed-tools: |\n  Read\n  Bash(a b)", tools("Read", "Bash(a b)"), ""},
		{"allowed-tools: >\n  Read,\n  Grep", tools("Read", "Grep"), ""},
		{"disallowed-tools: \"Write", func(s *skill.Skill) { s.Run.DisallowedTools = []string{"Write"} }, "yaml-recovered"},
		{"allowed-tools: Bash(x, Read", tools("Bash(x, Read"), "unclosed-rule"},
		{"allowed-tools: Bash(a:b:*)", tools("Bash(a:b:*)"), "rule-never-matches"},
		{"allowed-tools: Bash(npm run test:unit:*)", tools("Bash(npm run test:unit:*)"), ""},
		{"allowed-tools:", nothing, ""},
		{"allowed-tools: []", func(s *skill.Skill) { s.Run.AllowedTools = []string{} }, ""}, // not the same as none (I-9)
		{"allowed-tools:\n  Read: true", nothing, "bad-value"},
		{"allowed-tools: [Read", hiddenFromModel, "security-field-lost"},
		{"disallowed-tools: Write, Edit", func(s *skill.Skill) { s.Run.DisallowedTools = []string{"Write", "Edit"} }, ""},
		{"disallowed-tools:\n  Write: true", hiddenFromModel, "security-field-lost"},

		// paths
		{"paths: \"src/**/*.{ts,tsx}, lib/**\"", paths("src/**/*.ts", "src/**/*.tsx", "lib/**"), ""},
		{"paths: src/{a,b{1,2}}/{x,y}.go", paths("src/a/x.go", "src/a/y.go", "src/b1/x.go", "src/b1/y.go", "src/b2/x.go", "src/b2/y.go"), ""},
		{"paths: **/*.ts,**/*.tsx", paths("**/*.ts", "**/*.tsx"), "yaml-recovered"},
		{"paths:\n- src/(auth)/**\n- \"**/*.go\"", paths("src/(auth)/**", "**/*.go"), ""},
		{"paths:\n- {a,b}/**", paths("a/**", "b/**"), "yaml-recovered"},
		{"paths: [src/*.{ts,tsx}, lib/**]", paths("src/*.ts", "src/*.tsx", "lib/**"), "yaml-recovered"},
		{"paths: [1, null, \"src/**\"]", paths("1", "src/**"), ""},
		{"paths: 5", paths("5"), ""},
		{"paths: ./src/*.md", paths("/src/*.md"), ""},
		{"paths: a{b}c{,d}", paths("a{b}c", "a{b}cd"), ""},
		{"paths: a\\{b,c}", paths("a\\{b", "c}"), ""},
		{"paths: [\"**\"]", paths("**"), ""},
		{"paths: []", nothing, ""},
		{"paths:", nothing, ""},
		{"paths: \"\"", nothing, ""},
		{"paths: {a: b}", paths(), "bad-value"},
		{"paths: [null]", paths(), "bad-value"},
		{"paths: [[a], b]", paths("a", "b"), ""},
		{"paths: !vendor/**", paths("!vendor/**"), "text-shortened"},
		{"paths:\n  - src/** # note\n  - !src/gen/**", paths("src/**", "!src/gen/**"), "text-shortened"},
		{"paths: [src/**, !src/gen/**]", paths("src/**", "!src/gen/**"), "text-shortened"},
		{"paths: [ab]*.ts", paths("[ab]*.ts"), "yaml-recovered"},
		{"paths: **/*.ts # note", paths("**/*.ts"), "yaml-recovered"},
		{"paths: ,", paths(), "bad-value"},
		{"paths: \" , \"", paths(), "bad-value"},
		{"paths: [a", func(s *skill.Skill) { hiddenFromModel(s); s.Trigger.Conditional = true }, "security-field-lost"},

		// who may start it
		{"user-invocable: false", func(s *skill.Skill) { s.Trigger.HiddenFromUser = true }, ""},
		{"user-invocable: maybe", nothing, "bad-value"},
		{"userInvocable: off", func(s *skill.Skill) { s.Trigger.HiddenFromUser = true }, ""},
		{"disable-model-invocation: maybe", hiddenFromModel, "bad-value"},
		{"disable-model-invocation: [true]", hiddenFromModel, "bad-value"},
		{"disable-model-invocation: @true", hiddenFromModel, "bad-value"},
		{"disable-model-invocation: true\nuser-invocable: false", func(s *skill.Skill) {
			hiddenFromModel(s)
			s.Trigger.HiddenFromUser = true
		}, "unreachable"},
		{"allowed-tools: [Read\ndisable-model-invocation: false", hiddenFromModel, "security-field-lost"},

		// structure
		{"a: &x 1\nallowed-tools: *x", func(s *skill.Skill) {
			hiddenFromModel(s)
			s.Content.Extra = []skill.Field{{Key: "a", Value: "1"}}
		}, "security-field-lost"},
		{"a: &x Read\nb: [b: [\nallowed-tools: *x", func(s *skill.Skill) {
			hiddenFromModel(s)
			s.Content.Extra = []skill.Field{{Key: "a", Value: "Read"}, {Key: "b", Value: "[b: ["}}
		}, "yaml-recovered security-field-lost"},
		{"version: \"1\"\nversion: \"2\"", func(s *skill.Skill) { s.Version = "2" }, "duplicate-key"},
		{"allowed-tools: Read\nallowed_tools: Grep", tools("Grep"), "duplicate-key"},
		{"<<<<<<< HEAD\nversion: \"1\"\n=======\nversion: \"2\"\n>>>>>>> b", func(s *skill.Skill) { s.Version = "2" }, "merge-conflict"},
		{"version:2", func(s *skill.Skill) { s.Version = "2" }, "yaml-recovered"},
		{"x-team: platform", func(s *skill.Skill) { s.Content.Extra = []skill.Field{{Key: "x-team", Value: "platform"}} }, ""},
		{"globs: \"**/*.ts\"", func(s *skill.Skill) { s.Content.Extra = []skill.Field{{Key: "globs", Value: "**/*.ts"}} }, "did-you-mean"},
		{"user-invokable: false", func(s *skill.Skill) { s.Content.Extra = []skill.Field{{Key: "user-invokable", Value: "false"}} }, "did-you-mean"},
		{"Version: 1", func(s *skill.Skill) { s.Content.Extra = []skill.Field{{Key: "Version", Value: "1"}} }, "did-you-mean"},
		{"license: MIT", func(s *skill.Skill) { s.Content.Extra = []skill.Field{{Key: "license", Value: "MIT"}} }, ""},
		{"metadata: none", nothing, "bad-value"},
		{"metadata:", nothing, ""},
		{"metadata: {\"a\":{\"b\":1}", nothing, "yaml-recovered"},
		{"metadata:\n\tauthor: a", func(s *skill.Skill) { s.Content.Extra = []skill.Field{{Key: "metadata", Value: "  author: a"}} }, "yaml-recovered"},
		{"hooks: text", hiddenFromModel, "security-field-lost"},
		{"hooks:", nothing, ""},
		{"hooks:\n  PreToolUse: false", nothing, "hook-invalid"},
		{"hooks:\n  SessionStart: |\n    Read the notes", nothing, "hook-invalid"},
		{"hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: echo", func(s *skill.Skill) {
			s.Run.Hooks = hook.Config{{Event: "PreToolUse", Matcher: "Bash", Handlers: []hook.Handler{{Type: "command", Command: "echo"}}}}
		}, ""},
		{"name: a\u202eb", func(s *skill.Skill) { s.Name = "a\u202eb" }, "hidden-characters"},
	}
	for _, tt := range tests {
		t.Run(tt.yaml, func(t *testing.T) {
			data := header("description: d\n" + tt.yaml + "\n")
			_, s, problems := load(data)
			want := skill.Skill{Summary: skill.Summary{Description: "d"}}
			tt.want(&want)
			if diff := cmp.Diff(want, s); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := codes(problems); got != tt.problems {
				t.Errorf("problems %q, want %q: %v", got, tt.problems, problems)
			}
			for _, p := range problems {
				if p.Code != "unreachable" && (p.Line < 3 || p.Line > 12) {
					t.Errorf("no place: %v", p)
				}
			}
			checkParse(t, []byte(data))
			checkFix(t, []byte(data))
		})
	}
}

// TestBooleans is F-5: every spelling, and nothing else.
func TestBooleans(t *testing.T) {
	for _, word := range strings.Fields("true yes on 1 false no off 0") {
		want := slices.Contains([]string{"true", "yes", "on", "1"}, word)
		for _, spelled := range []string{word, strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:], `"` + word + `"`, "'" + word + "'", word + " # note"} {
			_, s, problems := load(header("description: d\ndisable-model-invocation: " + spelled + "\n"))
			if s.Trigger.HiddenFromModel != want || len(problems) > 0 {
				t.Errorf("%s: %t, %v", spelled, s.Trigger.HiddenFromModel, problems)
			}
		}
	}
	for _, empty := range []string{"", "null", "~", `""`} {
		_, s, problems := load(header("description: d\ndisable-model-invocation: " + empty + "\n"))
		if s.Trigger.HiddenFromModel || len(problems) > 0 {
			t.Errorf("%q: %t, %v", empty, s.Trigger.HiddenFromModel, problems)
		}
	}
}

// TestLegacy is C-4: command files ignore name and paths.
func TestLegacy(t *testing.T) {
	doc, _ := Parse("deploy.md", []byte(header("name: other\npaths: [a\nmodel: opus\n")))
	var s skill.Skill
	problems := doc.Fill(&s, true)
	if s.Name != "" || s.Trigger.Conditional || s.Trigger.HiddenFromModel || s.Run.Model != "opus" || !s.Content.Positional {
		t.Errorf("%+v", s)
	}
	if got := codes(problems); got != "ignored-field ignored-field" {
		t.Errorf("problems %q", got)
	}
}

func TestTooManyPatterns(t *testing.T) {
	many := "paths: a, {1,2,3,4,5,6,7,8,9,0}{1,2,3,4,5,6,7,8,9,0}{1,2,3,4,5,6,7,8,9,0}, b\n"
	_, s, problems := load(header("description: d\n" + many))
	if n := len(s.Trigger.Paths); n != 3 || codes(problems) != "too-many-patterns" {
		t.Errorf("%d patterns, %v", n, problems)
	}
	for _, n := range []int{20, 200, 2000} {
		_, s, problems = load(header("description: d\npaths: x" + strings.Repeat("{a,b}", n) + "\n"))
		if len(s.Trigger.Paths) != 1 || codes(problems) != "too-many-patterns" {
			t.Errorf("%d patterns, %v", len(s.Trigger.Paths), problems)
		}
	}
	_, s, problems = load(header("description: d\npaths: " + strings.Repeat("x,", 1200) + "\n"))
	if len(s.Trigger.Paths) != maxPatterns || codes(problems) != "too-many-patterns" {
		t.Errorf("%d patterns, %v", len(s.Trigger.Paths), problems)
	}
}
