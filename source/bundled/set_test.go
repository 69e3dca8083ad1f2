package bundled_test

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/bundled"
)

// read parses one shipped skill and fails on any problem: what we ship is what
// we would accept.
func read(t *testing.T, b bundled.Skill) (*skill.Skill, string) {
	t.Helper()
	doc, problems := frontmatter.Parse("SKILL.md", []byte(b.File))
	s := &skill.Skill{Summary: skill.Summary{ID: b.ID}, Origin: skill.Origin{Source: skill.Bundled}}
	problems = append(problems, doc.Fill(s, false)...)
	for _, p := range problems {
		t.Errorf("%s: %s", b.ID, p)
	}
	return s, doc.Body
}

// standard returns the shipped skill of that id.
func standard(t *testing.T, id string) bundled.Skill {
	t.Helper()
	set := bundled.Standard()
	i := slices.IndexFunc(set, func(b bundled.Skill) bool { return b.ID == id })
	if i < 0 {
		t.Fatalf("no skill %s", id)
	}
	return set[i]
}

func TestStandardSet(t *testing.T) { // spec B-1, B-3
	var ids []string
	for _, b := range bundled.Standard() {
		ids = append(ids, b.ID)
	}
	want := strings.Fields("batch commit create-skill debug keybindings-help loop remember review simplify skillify stuck update-config verify")
	if d := cmp.Diff(want, ids); d != "" {
		t.Error(d)
	}
	bundled.Standard()[0].ID = "changed"
	if bundled.Standard()[0].ID != "batch" {
		t.Error("callers share the values")
	}
}

// What needs a part of the program that this release does not have is no entry,
// so that a skill of the person keeps the name (spec B-1, C-5).
func TestStandardFeatures(t *testing.T) {
	skills, problems, err := bundled.New(t.TempDir(), bundled.Standard()...).Load(t.Context())
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	var got []string
	for _, b := range bundled.Standard() {
		if slices.ContainsFunc(skills, func(s *skill.Skill) bool { return s.ID == b.ID }) != (b.Feature == nil || b.Feature.Built) {
			t.Errorf("%s: an entry although its feature is missing, or none although it is there", b.ID)
		}
		if b.Feature != nil {
			got = append(got, b.ID+" needs "+b.Feature.Name)
		}
	}
	if d := cmp.Diff([]string{"keybindings-help needs terminal", "loop needs schedules"}, got); d != "" {
		t.Error(d)
	}
}

func TestStandardMetadata(t *testing.T) { // spec F, F-8, L-2
	for _, b := range bundled.Standard() {
		s, body := read(t, b)
		if s.Name != b.ID {
			t.Errorf("%s: name is %q", b.ID, s.Name)
		}
		text := s.Description + " - " + s.WhenToUse
		if n := utf8.RuneCountInString(text); s.DescriptionFallback || n > 233 || n < 123 {
			t.Errorf("%s: description of %d characters (fallback %v)", b.ID, n, s.DescriptionFallback)
		}
		if !strings.Contains(s.Description, "Use when asked to ") {
			t.Errorf("%s: the description does not say when to use it", b.ID)
		}
		if s.ArgumentHint == "" {
			t.Errorf("%s: no argument hint", b.ID)
		}
		if lines := strings.Count(body, "\n"); lines > 120 {
			t.Errorf("%s: %d lines", b.ID, lines)
		}
		if len(s.Content.Extra) > 0 {
			t.Errorf("%s: unknown fields %v", b.ID, s.Content.Extra)
		}
	}
}

// The shipped skills hold no inline commands, because one that fails fails the
// skill (spec P-12): they work in an empty repository and outside of one.
func TestStandardPlaceholders(t *testing.T) {
	for _, b := range bundled.Standard() {
		s, body := read(t, b)
		for _, seg := range prompt.Parse(body) {
			if seg.Command {
				t.Errorf("%s:%d: inline command %q", b.ID, seg.Line, seg.Text)
			}
		}
		var used []string
		for _, p := range prompt.Placeholders(s, body) {
			used = append(used, p.Raw)
		}
		want := []string{"$ARGUMENTS"}
		if b.ID == "debug" {
			want = append(want, "${CLAUDE_SESSION_ID}")
		}
		if d := cmp.Diff(want, used); d != "" {
			t.Errorf("%s: placeholders: %s", b.ID, d)
		}
	}
}

func TestStandardCompiles(t *testing.T) { // spec P-1, P-5
	for _, b := range bundled.Standard() {
		s, body := read(t, b)
		for _, args := range []string{"", "src/a.go", "fix: don't `touch` $HOME\nsecond line"} {
			res, err := prompt.Compile(t.Context(), s, skill.Instructions{Text: body, Line: 1}, args, prompt.Env{})
			if err != nil {
				t.Fatalf("%s %q: %v", b.ID, args, err)
			}
			if !strings.Contains(res.Text, ">\n"+args+"\n<") || strings.Contains(res.Text, "ARGUMENTS:") {
				t.Errorf("%s: %q is not where the text speaks of it", b.ID, args)
			}
		}
	}
}

func TestStandardPermissions(t *testing.T) { // spec S-4, S-6
	want := map[string][]string{
		"commit": {"Bash(git status:*)", "Bash(git diff:*)", "Bash(git log:*)", "Bash(git add:*)", "Bash(git commit:*)"},
		"debug": {
			"Read(//**/projects/*/${CLAUDE_SESSION_ID}.jsonl)", "Bash(knack audit --session ${CLAUDE_SESSION_ID})",
			"Bash(knack doctor)", "Bash(knack version)", "Bash(knack explain:*)", "Bash(knack list:*)", "Bash(knack listing:*)",
			"Bash(knack search:*)", "Bash(knack permissions explain:*)", "Bash(knack permissions list:*)",
		},
		"create-skill": {"Read(/${CLAUDE_SKILL_DIR}/**)", "Bash(knack list:*)", "Bash(knack search:*)", "Bash(knack explain:*)"},
		"skillify":     {"Bash(knack list:*)", "Bash(knack search:*)", "Bash(knack explain:*)"},
		"batch":        {"Bash(knack permissions explain:*)"},
		"stuck": {
			"Bash(ps -eo pid,ppid,pgid,stat,etime,pcpu,rss,args --sort=-etime)", "Bash(ps -Ao pid,ppid,pgid,stat,etime,pcpu,rss,command)",
			"Bash(ss -tnp)", "Bash(ss -ltnp)", "Bash(free -m)", "Bash(vm_stat)", "Bash(uptime)", "Bash(knack doctor)",
			"Bash(knack permissions explain:*)",
		},
		"update-config": {
			"Read(/${CLAUDE_SKILL_DIR}/**)", "Bash(knack doctor)", "Bash(knack explain:*)", "Bash(knack permissions explain:*)",
			"Bash(knack permissions list:*)",
		},
		"review": {"Read", "Grep", "Glob", "Bash(git status:*)"},
	}
	for _, b := range bundled.Standard() {
		s, _ := read(t, b)
		if d := cmp.Diff(want[b.ID], s.Run.AllowedTools); d != "" {
			t.Errorf("%s: %s", b.ID, d)
		}
		for _, text := range s.Run.AllowedTools {
			rule, err := permission.ParseRule(text)
			if err != nil || permission.NeverMatches(rule) != "" {
				t.Errorf("%s: rule %q: %v", b.ID, text, err)
			}
		}
		// Without grants a model may start a skill without asking anybody.
		if unsafe := permission.UnsafeProperties(s); (len(unsafe) == 0) != (len(want[b.ID]) == 0) {
			t.Errorf("%s: unsafe properties %v", b.ID, unsafe)
		}
	}
}

// decide is what the grants of a shipped skill, and nothing else, say of a
// command.
func decide(t *testing.T, id, command string) permission.Decision {
	t.Helper()
	s, _ := read(t, standard(t, id))
	var rules permission.Rules
	for _, text := range s.Run.AllowedTools {
		rule, err := permission.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = rules.With(rule)
	}
	return rules.Decide(permission.Request{Tool: "Bash", Input: permission.Input{Command: command}, WorkDir: "/w", Home: "/h"})
}

func TestStandardGrants(t *testing.T) { // spec S-7
	for _, tt := range []struct {
		id, command string
		want        permission.Verdict
	}{
		{"commit", "git status --short --branch", permission.Allow},
		{"commit", "git diff HEAD --stat", permission.Allow},
		{"commit", "git log --oneline -n 10", permission.Allow},
		{"commit", "git add -- a.go b.go", permission.Allow},
		{"commit", "git commit -m 'Subject' -m 'Why: $5 `x`.'", permission.Allow},
		{"commit", "git push", permission.Ask},
		{"commit", "git reset --hard", permission.Ask},
		{"commit", "git commit -m x; git push", permission.Ask},
		{"commit", "git config user.name x", permission.Ask},
		{"debug", "knack explain deploy --by model --touch a.go", permission.Allow},
		{"debug", "knack list --all", permission.Allow},
		{"debug", "knack doctor", permission.Allow},
		{"debug", "knack doctor --trust", permission.Ask},
		{"debug", "knack render deploy", permission.Ask},
		{"debug", "knack -p 'do it'", permission.Ask},
		{"update-config", `knack permissions explain Bash '{"command": "npm test"}'`, permission.Allow},
		{"update-config", "knack doctor", permission.Allow},
		{"stuck", "ps -eo pid,ppid,pgid,stat,etime,pcpu,rss,args --sort=-etime", permission.Allow},
		{"stuck", "ps eww", permission.Ask},
		{"stuck", "kill 4711", permission.Ask},
		{"stuck", "ss -K", permission.Ask},
		{"batch", `knack permissions explain Bash '{"command": "make"}'`, permission.Allow},
		{"batch", "git worktree add .worktrees/a -b batch/a-1 HEAD", permission.Ask},
		{"skillify", "knack list --all", permission.Allow},
		{"skillify", "knack check --fix .", permission.Ask},
		{"create-skill", "knack explain deploy", permission.Allow},
		{"create-skill", "knack render deploy", permission.Ask},
		{"update-config", "knack doctor --trust", permission.Ask},
		{"update-config", "knack check --fix .", permission.Ask},
		// All that its text speaks of, and nothing that writes.
		{"review", "git status --short", permission.Allow},
		{"review", "git diff HEAD", permission.Allow},
		{"review", "git diff main...feature -- a.go", permission.Allow},
		{"review", "git show HEAD", permission.Allow},
		{"review", "git log --oneline -n 20 -- a.go", permission.Allow},
		{"review", "git blame -L 1,20 a.go", permission.Allow},
		{"review", "git merge-base main HEAD", permission.Allow},
		{"review", "wc -l a.go", permission.Allow},
		{"review", "git diff --output=a.go", permission.Ask},
		{"review", "git diff HEAD > a.patch", permission.Ask},
		{"review", "git commit -m x", permission.Ask},
		{"review", "git checkout -- a.go", permission.Ask},
		{"review", "go test ./...", permission.Ask},
	} {
		if got := decide(t, tt.id, tt.command); got.Verdict != tt.want {
			t.Errorf("%s: %s: %v (%s), want %v", tt.id, tt.command, got.Verdict, got.Reason, tt.want)
		}
	}
}

// A skill may read its own files, which lie outside of the workspace, and no
// others there.
func TestStandardReadsItsFiles(t *testing.T) { // spec S-8, B-2
	for _, b := range bundled.Standard() {
		s, _ := read(t, b)
		dir := "/cache/bundled-1/" + b.ID
		var rules permission.Rules
		for _, text := range prompt.ExpandRules(s.Run.AllowedTools, prompt.Vars{SkillDir: dir}) {
			if rule, err := permission.ParseRule(text); err != nil {
				t.Error(err)
			} else if rule.Tool == "Read" && rule.Specifier != "" {
				rules = rules.With(rule)
			}
		}
		for path, want := range map[string]bool{dir + "/references/x": b.Files != nil, "/cache/bundled-1/other/x": false, "/etc/passwd": false} {
			got := rules.Decide(permission.Request{Tool: "Read", Input: permission.Input{Path: path}, WorkDir: "/w", Home: "/h"})
			if (got.Verdict == permission.Allow) != want {
				t.Errorf("%s: reading %s: %v (%s)", b.ID, path, got.Verdict, got.Reason)
			}
		}
	}
}

// A review runs apart from the conversation, with tools that only read (I-9).
func TestReviewForks(t *testing.T) {
	for _, b := range bundled.Standard() {
		s, _ := read(t, b)
		if want := b.ID == "review"; (s.Run.Mode == skill.Fork) != want {
			t.Errorf("%s: mode %q", b.ID, s.Run.Mode)
		}
	}
}

func TestStandardResources(t *testing.T) { // spec B-2
	named := regexp.MustCompile("`(references/[^`]+)`")
	for _, b := range bundled.Standard() {
		var have, want []string
		for _, m := range named.FindAllStringSubmatch(b.File, -1) {
			if !slices.Contains(want, m[1]) && !strings.HasSuffix(m[1], "/") {
				want = append(want, m[1])
			}
		}
		if b.Files != nil {
			err := fs.WalkDir(b.Files, ".", func(name string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					have = append(have, name)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(have)
		slices.Sort(want)
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s: files named in the text and shipped: %s", b.ID, d)
		}
	}
}

// The format reference states what the program does.
func TestFormatReference(t *testing.T) { // spec F
	data, err := fs.ReadFile(standard(t, "create-skill").Files, "references/skill-format.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	_, table, _ := strings.Cut(text, "## Fields")
	table, _, _ = strings.Cut(table, "## ")
	var fields []string
	for line := range strings.Lines(table) {
		row, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		cell, _, _ := strings.Cut("`"+row, " | ")
		for name := range strings.SplitSeq(cell, ", ") {
			if n, ok := strings.CutPrefix(name, "`"); ok {
				fields = append(fields, strings.TrimSuffix(n, "`"))
			}
		}
	}
	if len(fields) < 18 {
		t.Fatalf("the table has only the fields %v", fields)
	}
	for _, name := range fields {
		doc, _ := frontmatter.Parse("SKILL.md", []byte("---\n"+name+": x\n---\n"))
		s := &skill.Skill{}
		doc.Fill(s, false)
		for _, f := range s.Content.Extra {
			if f.Key == name && !slices.Contains([]string{"license", "compatibility", "metadata"}, name) {
				t.Errorf("%s is no field", name)
			}
		}
	}
	example, _, _ := strings.Cut(text[strings.Index(text, "```yaml\n")+len("```yaml\n"):], "```")
	s, _ := read(t, bundled.Skill{ID: "review-migration", File: example})
	if s.Name != "review-migration" || s.Description == "" || s.ArgumentHint != "[migration file]" {
		t.Errorf("the example reads as %+v", s.Summary)
	}
}

// Nothing tells a reader of a command, skill or tool that is not there.
func TestStandardSpeaksOfWhatExists(t *testing.T) {
	command := regexp.MustCompile("`(?:[A-Z_]+=[A-Z]+ )?knack ([a-z]+)")
	commands := strings.Fields("list show explain render listing search check new permissions doctor version audit")
	call := regexp.MustCompile("`/([a-z][a-z-]*)[` ]")
	calls := []string{"name", "help", "skill", "command", "x"} // fill-ins, and what every session has
	tool := regexp.MustCompile(`\b([A-Z][a-z]+(?:[A-Z][a-z]+)*) tool\b|\b(AskUserQuestion|[A-Z][a-z]+Edit|WebFetch|Todo[A-Z]\w+|SkillSearch|Cron[A-Z]\w+)\b`)
	tools := strings.Fields("Read Write Edit MultiEdit Glob Grep Bash WebFetch TodoWrite AskUserQuestion Agent Skill SkillSearch")
	for _, b := range bundled.Standard() {
		calls = append(calls, b.ID)
	}
	for _, b := range bundled.Standard() {
		for _, text := range texts(t, b) {
			for _, m := range command.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(commands, m[1]) {
					t.Errorf("%s speaks of knack %s", b.ID, m[1])
				}
			}
			for _, m := range call.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(calls, m[1]) {
					t.Errorf("%s speaks of /%s", b.ID, m[1])
				}
			}
			for _, m := range tool.FindAllStringSubmatch(text, -1) {
				if name := m[1] + m[2]; !slices.Contains(tools, name) {
					t.Errorf("%s speaks of the tool %s", b.ID, name)
				}
			}
		}
	}
}

// texts returns all Markdown of a shipped skill.
func texts(t *testing.T, b bundled.Skill) []string {
	t.Helper()
	out := []string{b.File}
	if b.Files == nil {
		return out
	}
	names, err := fs.Glob(b.Files, "references/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(b.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
	}
	return out
}

// The schema that ships is JSON, and the text sends its reader there first.
func TestUpdateConfigSchema(t *testing.T) { // spec B-3
	b := standard(t, "update-config")
	data, err := fs.ReadFile(b.Files, "references/settings.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"permissions", "skillOverrides", "hooks", "allowBundledOverride"} {
		if schema.Properties[key] == nil || !strings.Contains(b.File, "`"+key) {
			t.Errorf("%s is missing in the schema or in the text", key)
		}
	}
	if !strings.Contains(b.File, "`[hooks-only]`") {
		t.Error("the text does not know its prefix")
	}
	const phrase = "it has no effect in this release"
	if strings.Contains(string(data), "no effect") && !(strings.Contains(string(data), phrase) && strings.Contains(b.File, phrase)) {
		t.Error("text and schema do not say in the same words what has no effect")
	}
}
