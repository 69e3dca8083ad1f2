package bundled_test

import (
	"io/fs"
	"path"
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

func TestStandardSet(t *testing.T) { // spec B-1, B-3
	var ids []string
	for _, b := range bundled.Standard() {
		ids = append(ids, b.ID)
	}
	if d := cmp.Diff([]string{"commit", "create-skill", "simplify"}, ids); d != "" {
		t.Error(d)
	}
	bundled.Standard()[0].ID = "changed"
	if bundled.Standard()[0].ID != "commit" {
		t.Error("callers share the values")
	}
}

func TestStandardMetadata(t *testing.T) { // spec F, F-8, L-2
	for _, b := range bundled.Standard() {
		s, body := read(t, b)
		if s.Name != b.ID {
			t.Errorf("%s: name is %q", b.ID, s.Name)
		}
		text := s.Description + " - " + s.WhenToUse
		if n := utf8.RuneCountInString(text); s.DescriptionFallback || n > 253 {
			t.Errorf("%s: description of %d characters (fallback %v)", b.ID, n, s.DescriptionFallback)
		}
		if !strings.Contains(s.Description, "Use when asked to ") {
			t.Errorf("%s: the description does not say when to use it", b.ID)
		}
		if s.ArgumentHint == "" {
			t.Errorf("%s: no argument hint", b.ID)
		}
		if lines := strings.Count(body, "\n"); lines > 150 {
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
		if d := cmp.Diff([]string{"$ARGUMENTS"}, used); d != "" {
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

func TestCommitGrants(t *testing.T) { // spec S-7
	s, _ := read(t, bundled.Standard()[0])
	var rules permission.Rules
	for _, text := range s.Run.AllowedTools {
		rule, err := permission.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = rules.With(rule)
	}
	for command, want := range map[string]permission.Verdict{
		"git status --short --branch":               permission.Allow,
		"git diff HEAD --stat":                      permission.Allow,
		"git log --oneline -n 10":                   permission.Allow,
		"git add -- a.go b.go":                      permission.Allow,
		"git commit -m 'Subject' -m 'Why: $5 `x`.'": permission.Allow,
		"git push":                  permission.Ask,
		"git reset --hard":          permission.Ask,
		"git commit -m x; git push": permission.Ask,
		"git config user.name x":    permission.Ask,
	} {
		got := rules.Decide(permission.Request{Tool: "Bash", Input: permission.Input{Command: command}, WorkDir: "/w", Home: "/h"})
		if got.Verdict != want {
			t.Errorf("%s: %v (%s), want %v", command, got.Verdict, got.Reason, want)
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
		if b.Files == nil && path.Base(b.ID) == "create-skill" {
			t.Error("create-skill has no files")
		}
	}
}

// The format reference states what the program does.
func TestFormatReference(t *testing.T) { // spec F
	data, err := fs.ReadFile(bundled.Standard()[1].Files, "references/skill-format.md")
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

// Nothing tells a reader of a feature that is not there.
func TestStandardSpeaksOfWhatExists(t *testing.T) {
	command := regexp.MustCompile("`knack ([a-z]+)")
	known := []string{"check", "render", "explain", "list", "search"}
	for _, b := range bundled.Standard() {
		texts := []string{b.File}
		if b.Files != nil {
			names, err := fs.Glob(b.Files, "references/*.md")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				data, err := fs.ReadFile(b.Files, name)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(data))
			}
		}
		for _, text := range texts {
			for _, m := range command.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s speaks of knack %s", b.ID, m[1])
				}
			}
		}
	}
}
