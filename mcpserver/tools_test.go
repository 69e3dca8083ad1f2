package mcpserver_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/audit"
)

// skills are one of each kind.
var skills = map[string]string{
	"greet":   "---\ndescription: Greets somebody\n---\nSay hello to $ARGUMENTS.\n",
	"private": "---\ndescription: For people alone\ndisable-model-invocation: true\n---\nPrivate $ARGUMENTS.\n",
	"hidden":  "---\ndescription: For models alone\nuser-invocable: false\n---\nHidden.\n",
	"gofiles": "---\ndescription: About Go code\npaths: \"**/*.go\"\n---\nFormat it.\n",
	"explore": "---\ndescription: Looks around\ncontext: fork\nagent: Explore\n---\nFind $ARGUMENTS.\n",
	"shell":   "---\ndescription: Runs something\n---\nIt says !`echo out`.\n",
	"strict":  "---\ndescription: Forbids tools\ndisallowed-tools: WebFetch\n---\nOffline.\n",
	"grants":  "---\ndescription: Wants rights\nallowed-tools: Bash(echo *)\n---\nGranted !`echo yes`.\n",
}

func TestSkill(t *testing.T) { // spec X-8
	w := open(t, skills)
	cs := w.connect(nil)
	for _, tt := range []struct {
		skill, args string
		refused     bool
		want        string
	}{
		{"greet", "Ann", false, "Say hello to Ann."},
		{"/greet", "Ann", false, "Say hello to Ann."},
		{"greet", "Ann", false, "Say hello to Ann."}, // a repeated call gives the whole text again
		{"hidden", "", false, "Hidden."},
		{"private", "", true, "only a person can run it (disable-model-invocation)"},
		{"gofiles", "", true, "it applies only to files that match **/*.go"},
		{"explore", "the cat", false, "Find the cat."},
		{"explore", "the cat", false, `is written for a subagent of the type "Explore"`},
		{"shell", "", false, "It says out."},
		{"strict", "", false, `While skill "strict" is active, do not use: WebFetch`},
		{"grants", "", true, `to allow it, add "Skill(grants)"`},
		{"gret", "", true, `did you mean "greet"`},
	} {
		got, isError := call(t, cs, "Skill", object{"skill": tt.skill, "args": tt.args})
		if isError != tt.refused || !strings.Contains(got, tt.want) {
			t.Errorf("%s %q: error %v, %q; want %q", tt.skill, tt.args, isError, got, tt.want)
		}
	}
	for _, wrong := range []object{{}, {"skill": " "}, {"skill": 7}, {"skill": "greet", "argz": "x"}} {
		if got, isError := call(t, cs, "Skill", wrong); !isError || got == "" {
			t.Errorf("%v: %q is no error", wrong, got)
		}
	}
}

// TestRules: the rules of the workspace hold for clients (spec S-2, P-10).
func TestRules(t *testing.T) {
	w := open(t, skills, func(o *knack.Options) {
		o.Settings = `{"permissions":{"deny":["Skill(greet)","Read(**/secret.md)"],"ask":["Skill(hidden)"],"allow":["Skill(grants)"]}}`
	})
	w.write(".claude/skills/shell/secret.md", "hush")
	w.write(".claude/skills/grants/SKILL.md", "---\ndescription: Wants rights\nallowed-tools: Bash(echo *)\n---\nGranted !`touch made`.\n")
	cs := w.connect(nil)
	for _, tt := range []struct {
		tool  string
		input object
		want  string
	}{
		{"Skill", object{"skill": "greet"}, "Skill(greet)"},
		{"Skill", object{"skill": "hidden"}, "remove that ask rule"},
		{"Skill", object{"skill": "grants"}, "touch made"},
		{"SkillRead", object{"skill": "greet", "path": "SKILL.md"}, "Skill(greet)"},
		{"SkillRead", object{"skill": "shell", "path": "secret.md"}, "secret.md"},
	} {
		if got, isError := call(t, cs, tt.tool, tt.input); !isError || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: error %v, %q", tt.tool, tt.input, isError, got)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, "made")); err == nil {
		t.Error("a command ran that no rule allows")
	}
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range res.Tools {
		if strings.Contains(tool.Description, "- greet") {
			t.Errorf("%s offers a skill that is denied", tool.Name)
		}
	}
}

// TestUntrusted: an untrusted workspace runs nothing, and says so (spec S-9).
func TestUntrusted(t *testing.T) {
	w := open(t, map[string]string{"shell": "---\ndescription: Runs\n---\n!`touch made`\n"},
		func(o *knack.Options) { o.Trust, o.Settings = false, `{"permissions":{"allow":["Skill","Bash"]}}` })
	got, isError := call(t, w.connect(nil), "Skill", object{"skill": "shell"})
	if isError || !strings.Contains(got, "[not run: workspace is not trusted]") || !strings.Contains(got, "notice: the workspace is not trusted") {
		t.Errorf("error %v, %q", isError, got)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "made")); err == nil {
		t.Error("a command ran in an untrusted workspace")
	}
}

func TestAudit(t *testing.T) { // spec S-12
	w := open(t, skills)
	cs := w.connect(nil)
	call(t, cs, "Skill", object{"skill": "greet"})
	call(t, cs, "Skill", object{"skill": "private"})
	call(t, cs, "Skill", object{"skill": "shell"})
	var kinds []string
	for _, r := range w.log.all {
		kinds = append(kinds, string(r.Kind)+" "+r.Skill+" "+r.Outcome)
		if r.Kind == audit.Invocation && !strings.Contains(string(r.Detail), `"by":"mcp-client"`) {
			t.Errorf("%s: %s", r.Skill, r.Detail)
		}
		if !strings.HasPrefix(r.SessionID, "mcp-") {
			t.Errorf("session id %q", r.SessionID)
		}
	}
	all := strings.Join(kinds, "\n")
	for _, want := range []string{"invocation greet ok", "invocation private blocked", "command shell ok", "invocation shell ok"} {
		if !strings.Contains(all, want) {
			t.Errorf("no record %q in\n%s", want, all)
		}
	}
}

// TestCounted: uses by clients are counted, at the latest when the server ends
// (spec I-13).
func TestCounted(t *testing.T) {
	w := open(t, skills)
	w.serve(strings.NewReader(hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Skill","arguments":{"skill":"greet"}}}`))
	ranked := map[string]bool{}
	for _, e := range w.engine.Entries() {
		ranked[e.ID] = e.Rank > 0
	}
	if !ranked["greet"] || ranked["hidden"] {
		t.Errorf("ranked by use: %v", ranked)
	}
}

// TestConditional: a skill for some files is there for the client that works on
// one, and for no other (spec D-3).
func TestConditional(t *testing.T) {
	w := open(t, skills)
	w.write("sub/.claude/skills/nested/SKILL.md", "---\ndescription: Below sub\n---\nNested.\n")
	one, two := w.connect(nil), w.connect(nil)
	if got, _ := call(t, one, "SkillSearch", object{"query": "go code"}); strings.Contains(got, "gofiles") {
		t.Errorf("found before any file: %q", got)
	}
	got, _ := call(t, one, "SkillSearch", object{"query": "go code", "file": "main.go"})
	if !strings.Contains(got, "Now available for main.go: gofiles") || !strings.Contains(got, "- gofiles: ") {
		t.Errorf("with a file: %q", got)
	}
	if got, isError := call(t, one, "Skill", object{"skill": "gofiles"}); isError {
		t.Errorf("active, and refused: %q", got)
	}
	if got, isError := call(t, two, "Skill", object{"skill": "gofiles"}); !isError {
		t.Errorf("another client: %q", got)
	}
	if got, _ := call(t, two, "SkillSearch", object{"query": "go code"}); strings.Contains(got, "gofiles") {
		t.Errorf("another client finds %q", got)
	}
	if got, _ := call(t, two, "SkillSearch", object{"query": "nested", "file": "sub/a.txt"}); !strings.Contains(got, "Found below sub: nested") {
		t.Errorf("nested skills: %q", got)
	}
	if got, isError := call(t, one, "SkillSearch", object{"query": "zzzz"}); isError || !strings.Contains(got, "No skill matches") {
		t.Errorf("nothing to find: %q", got)
	}
}

func TestRead(t *testing.T) { // spec X-8: path-checked
	w := open(t, skills)
	w.write(".claude/skills/greet/refs/a b.md", "reference")
	w.write(".claude/skills/greet/logo.png", "\x89PNG\r\n\x1a\n\x00\x00")
	w.write(".claude/skills/greet/big.txt", strings.Repeat("x", 1<<20+1))
	w.write("outside.txt", "outside")
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"escape": "../../../outside.txt", "inside": "refs/a b.md", "etc": "/etc"} {
			if err := os.Symlink(to, filepath.Join(w.dir, ".claude/skills/greet", link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cs := w.connect(nil)
	for _, tt := range []struct {
		skill, path, want string
		refused           bool
	}{
		{"greet", "SKILL.md", "description: Greets somebody", false},
		{"greet", "refs/a b.md", "reference", false},
		{"greet", "./refs/../refs/a b.md", "reference", false},
		{"greet", "inside", "reference", false},
		{"greet", "logo.png", "<image/png skill://greet/logo.png>", false},
		{"greet", "", "SKILL.md\nbig.txt\ninside\nlogo.png\nrefs/a b.md\n", false},
		{"greet", "big.txt", "more than 1048576 are not sent", true},
		{"greet", "../../../outside.txt", "without leading out", true},
		{"greet", "/etc/passwd", "without leading out", true},
		{"greet", `..\..\..\outside.txt`, "without leading out", true},
		{"greet", "escape", "cannot be read", true},
		{"greet", "etc/passwd", "cannot be read", true},
		{"greet", "refs", "is a directory", true},
		{"greet", "none.md", "there is no such file", true},
		{"greet", "a\x00b", "", true},
		{"private", "SKILL.md", "only a person", true},
		{"gofiles", "SKILL.md", "applies only to files", true},
		{"grants", "SKILL.md", "allowed-tools: Bash(echo *)", false}, // reading grants nothing
		{"greeet", "SKILL.md", "did you mean", true},
	} {
		got, isError := call(t, cs, "SkillRead", object{"skill": tt.skill, "path": tt.path})
		if isError != tt.refused || !strings.Contains(got, tt.want) {
			t.Errorf("%s %q: error %v, %.200q; want %q", tt.skill, tt.path, isError, got, tt.want)
		}
		if strings.Contains(got, w.dir) && isError {
			t.Errorf("%s %q: a path of this machine in %q", tt.skill, tt.path, got)
		}
	}
}
