package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/skill"
)

// in runs knack as run does, from another directory and with more on standard
// input.
func (w *world) in(dir, stdin string, args ...string) string {
	w.t.Helper()
	cmd := w.command(w.t.Context(), args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("knack %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// shadowed are the problems that say who lost a name to whom.
func (w *world) shadowed() []skill.Problem {
	w.t.Helper()
	return slices.DeleteFunc(w.problems(), func(p skill.Problem) bool { return p.Code != "shadowed" })
}

// TestCasesBundledName: a cloned repository takes no name from a skill of the
// program, whatever it says of itself, and people are told (C-5, C-8).
func TestCasesBundledName(t *testing.T) {
	w := newWorld(t)
	path := w.skill("review", "---\nname: review\ndescription: theirs\n---\nBody of theirs.\n")
	w.file(".claude/settings.json", `{"allowBundledOverride": true}`) // nobody trusted it

	for _, args := range [][]string{{"render", "review"}, {"-p", "/review", "--model", "offline"}} {
		if out := w.run(args...); out.code != 0 || strings.Contains(out.stdout, "theirs") || !strings.Contains(out.stdout, "# Review") {
			t.Errorf("knack %q runs the clone's: exit %d\n%s%s", args, out.code, out.stdout, out.stderr)
		}
	}
	if out := w.run("listing"); !strings.Contains(out.stdout, "- review: ") || strings.Contains(out.stdout, "theirs") {
		t.Errorf("the model reads\n%s", out.stdout)
	}
	lost := w.shadowed()
	if len(lost) != 1 || lost[0].Severity != skill.Warning || lost[0].Path != path || !strings.Contains(lost[0].Message, "bundled comes before project") {
		t.Errorf("knack check says %+v", lost)
	}
	var losers []string
	for line := range strings.Lines(w.run("list", "--all").stdout) {
		if strings.Contains(line, " shadowed") {
			losers = append(losers, strings.Join(strings.Fields(line)[:2], " "))
		}
	}
	if !slices.Equal(losers, []string{"review project"}) {
		t.Errorf("list --all shows the losers %q", losers)
	}
	for _, id := range []string{"review", "project:review"} {
		if out := w.run("explain", id); !strings.Contains(out.stdout, "C-5") || !strings.Contains(out.stdout, path) {
			t.Errorf("explain %s:\n%s", id, out.stdout)
		}
	}
	// Whoever wants the other way round says so, and is told what went.
	w.file("../home/.claude/settings.json", `{"allowBundledOverride": true}`)
	if out := w.run("render", "review"); !strings.Contains(out.stdout, "Body of theirs.") {
		t.Errorf("%s", out.stdout)
	}
	if lost = w.shadowed(); len(lost) != 1 || lost[0].Severity != skill.Warning || !strings.Contains(lost[0].Message, "allowBundledOverride") {
		t.Errorf("knack check says %+v", lost)
	}
}

// TestCasesSameName: of a user's and a project's skill of one name one wins, one
// notice says so, and the other one runs by its qualified id (C-5, C-8).
func TestCasesSameName(t *testing.T) {
	w := newWorld(t)
	path := w.skill("deps", described("project"))
	w.file("../home/.claude/skills/deps/SKILL.md", described("user"))
	for name, want := range map[string]string{"deps": "user", "user:deps": "user", "project:deps": "project"} {
		for _, args := range [][]string{{"render", name}, {"-p", "/" + name, "--model", "offline"}} {
			if out := w.run(args...); out.code != 0 || !strings.Contains(out.stdout, "Body of "+want+".") {
				t.Errorf("knack %q: exit %d\n%s%s", args, out.code, out.stdout, out.stderr)
			}
		}
	}
	w.file("story.json", `{"steps": [{"calls": [{"name": "Skill", "input": {"skill": "project:deps"}}]},
		{"expect": {"last_user_contains": "Body of project."}, "text": "reached"}]}`)
	if out := w.run("-p", "go", "--model", "scripted:"+w.path("story.json")); strings.TrimSpace(out.stdout) != "reached" {
		t.Errorf("by the model: exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if lost := w.shadowed(); len(lost) != 1 || lost[0].Path != path || !strings.Contains(lost[0].Fix, `"project:deps"`) {
		t.Errorf("notices %+v", lost)
	}
	if out := w.run("list"); strings.Count(out.stdout, "deps ") != 1 {
		t.Errorf("%s", out.stdout)
	}
}

// hello begins a conversation with knack mcp.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestCasesSessionDirectory: the project's skills are those of the directory of
// the session, wherever the process was started (C-2).
func TestCasesSessionDirectory(t *testing.T) {
	w := newWorld(t)
	w.file(".agents/skills/greeting/SKILL.md", described("greeting"))
	w.file("sub/.claude/skills/near/SKILL.md", described("near"))
	w.file("../decoy/.claude/skills/decoy/SKILL.md", described("decoy"))
	decoy, sub := w.path("../decoy"), w.path("sub")
	here := func(what, text string) {
		t.Helper()
		for _, id := range []string{"greeting", "near", "aaa"} {
			if !strings.Contains(text, id) {
				t.Errorf("%s: %s is missing in\n%s", what, id, text)
			}
		}
		if strings.Contains(text, "decoy") {
			t.Errorf("%s: has the skills of the directory of the process\n%s", what, text)
		}
	}
	for _, from := range []string{decoy, string(filepath.Separator)} {
		for _, dir := range []string{sub, "sub"} {
			if dir == "sub" { // relative names begin at the process
				if from != decoy {
					continue
				}
				dir = filepath.Join("..", "repo", "sub")
			}
			here("list", w.in(from, "", "-C", dir, "list"))
			here("listing", w.in(from, "", "-C", dir, "listing"))
			here("init", strings.SplitN(w.in(from, "", "-C", dir, "-p", "/near", "--model", "offline", "--output-format", "stream-json"), "\n", 2)[0])
			here("mcp", w.in(from, hello+`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`+"\n", "-C", dir, "mcp"))
			if text := w.in(from, "", "-C", dir, "-p", "/greeting", "--model", "offline"); !strings.Contains(text, "Body of greeting.") {
				t.Errorf("-p from %s: %s", from, text)
			}
		}
	}
	t.Run("library", func(t *testing.T) {
		t.Chdir(decoy)
		engine, err := knack.New(t.Context(), knack.Options{Dir: filepath.Join("..", "repo", "sub"), Home: w.path("../home"),
			StateDir: w.path("../state"), NoBundled: true, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		var names strings.Builder
		for _, l := range engine.Listing().Lines {
			fmt.Fprintln(&names, l.ID)
		}
		here("library", names.String())
		t.Chdir(string(filepath.Separator)) // the session stays where it was opened
		r, err := engine.Render(context.Background(), invoke.Request{Name: "near", By: invoke.ByUser})
		if err != nil || !strings.Contains(r.Text, "Body of near.") {
			t.Errorf("%q, %v", r.Text, err)
		}
	})
}

// TestCasesEveryRoot: doctor prints every root with its path, whether it is
// there, and how many skills came from it, also those that settings name (C-2).
func TestCasesEveryRoot(t *testing.T) {
	w := newWorld(t)
	w.file("../home/.claude/skills/one/SKILL.md", described("one"))
	w.file("../home/.agents/skills/two/SKILL.md", described("two"))
	w.file("../home/.agents/skills/three/SKILL.md", described("three"))
	w.file("../home/.claude/commands/ship.md", described("ship"))
	w.file("../more/.claude/skills/four/SKILL.md", described("four"))
	w.file("../home/tilde/.claude/skills/five/SKILL.md", described("five"))
	w.file("relative/.claude/skills/six/SKILL.md", described("six"))
	w.file("file/.claude/skills", "no directory")
	dirs, err := json.Marshal(map[string]any{"permissions": map[string]any{"additionalDirectories": []string{
		w.path("../more"), "~/tilde", "relative", "file", filepath.Join(w.dir, "nowhere")}}})
	if err != nil {
		t.Fatal(err)
	}
	w.file("../home/.claude/settings.json", string(dirs))
	out := w.run("doctor", "--json")
	var r struct {
		Findings []struct{ Area, Name, Status, Detail, Fix string }
	}
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
		t.Fatalf("exit %d, %v\n%s%s", out.code, err, out.stdout, out.stderr)
	}
	var got []string
	for _, f := range r.Findings {
		if f.Area == "root" {
			got = append(got, f.Name+" "+f.Status+" "+filepath.ToSlash(strings.ReplaceAll(f.Detail, w.dir+string(filepath.Separator), "")))
		}
		if f.Status == "bad" && f.Fix == "" {
			t.Errorf("no fix: %+v", f)
		}
	}
	want := []string{
		"managed missing managed/.claude/skills: does not exist", "managed missing managed/.agents/skills: does not exist",
		"user ok home/.claude/skills: 1 skill", "user ok home/.agents/skills: 2 skills",
		"project ok repo/.claude/skills: 2 skills", "project missing repo/.agents/skills: does not exist",
		"additional ok more/.claude/skills: 1 skill", "additional missing more/.agents/skills: does not exist",
		"additional ok home/tilde/.claude/skills: 1 skill", "additional missing home/tilde/.agents/skills: does not exist",
		"additional ok repo/relative/.claude/skills: 1 skill", "additional missing repo/relative/.agents/skills: does not exist",
		"additional bad repo/file/.claude/skills: not a directory", "additional missing repo/file/.agents/skills: does not exist",
		"additional missing nowhere/.claude/skills: does not exist", "additional missing nowhere/.agents/skills: does not exist",
		"legacy missing repo/.claude/commands: does not exist", "legacy ok home/.claude/commands: 1 skill",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if out.code != 1 {
		t.Errorf("a root that is no directory: exit %d", out.code)
	}
}

// TestCasesAnchors: a document that would unfold to millions of parts costs one
// skill a field, and nobody anything else (F-3, F-4).
func TestCasesAnchors(t *testing.T) {
	w := newWorld(t)
	anchor := "k: &x [" + strings.Repeat("a,", 5000) + "]\n"
	flow, lines := strings.Repeat("*x,", 5000), strings.Repeat("  - *x\n", 5000)
	tests := map[string]struct {
		head   string
		codes  string
		line   int // of the alias's problem
		hidden bool
	}{
		"flow":     {anchor + "metadata: [" + flow + "]\n", "yaml-alias yaml-recovered", 4, false},
		"block":    {anchor + "metadata:\n" + lines, "yaml-alias yaml-recovered", 4, false},
		"security": {anchor + "allowed-tools: [" + flow + "]\n", "security-field-lost yaml-recovered", 4, true},
		"few":      {"k: &x [a]\nmetadata: [*x]\n", "yaml-alias", 4, false},
	}
	for name, tt := range tests {
		w.skill("bomb-"+name, "---\ndescription: Bomb of "+name+"\n"+tt.head+"---\nBody of "+name+".\n")
	}
	if got := w.list(); len(got) != len(tests)+2 {
		t.Errorf("found %q", got)
	}
	var rows []row
	if err := json.Unmarshal([]byte(w.run("list", "--json").stdout), &rows); err != nil {
		t.Fatal(err)
	}
	found := map[string]row{}
	for _, r := range rows {
		found[r.ID] = r
	}
	for name, tt := range tests {
		r := found["bomb-"+name]
		if r.Description != "Bomb of "+name || r.ModelInvocable == tt.hidden || codesOf(r.Problems) != tt.codes {
			t.Errorf("%s: %q, for models %v, %s", name, r.Description, r.ModelInvocable, codesOf(r.Problems))
		}
		for _, p := range r.Problems {
			if !strings.Contains(p.Path, "bomb-"+name) || p.Line < 3 || p.Code != "yaml-recovered" && p.Line != tt.line || p.Fix == "" {
				t.Errorf("%s: no place or fix: %+v", name, p)
			}
		}
		if out := w.run("render", "bomb-"+name); !strings.HasSuffix(out.stdout, "\nBody of "+name+".\n") {
			t.Errorf("%s: exit %d\n%s%s", name, out.code, out.stdout, out.stderr)
		}
	}
}
