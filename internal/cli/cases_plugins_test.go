//go:build unix

package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// hookedPlugin makes a plugin beside the repository, whose hooks file and whose
// skill s write to the file "heard".
func (w *world) hookedPlugin(name string) {
	w.file("../"+name+"/.claude-plugin/plugin.json", `{"name":`+quoted(name)+`,"version":"1"}`)
	w.file("../"+name+"/hooks/hooks.json", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo `+name+` start >> heard"}]}],
		"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo `+name+` tool >> heard"}]}]}}`)
	w.file("../"+name+"/skills/s/SKILL.md", hookedSkill(name))
}

func hookedSkill(name string) string {
	return "---\ndescription: d\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: \"echo " + name + " skill >> heard\"}]\n---\nGo.\n"
}

// TestCasesPluginHooks: every event of a plugin's hooks file fires, by the
// matchers that settings have. Where the administrator wants managed hooks alone,
// a plugin that managed settings switch on keeps them, in its file and in its
// skills; those of other plugins and of the project are off, and the person is
// told; the instructions are there all the same.
func TestCasesPluginHooks(t *testing.T) {
	w := newWorld(t)
	w.hookedPlugin("vetted")
	w.hookedPlugin("own")
	w.skill("proj", hookedSkill("proj"))
	for _, name := range []string{"vetted", "own"} {
		if out := w.run("plugin", "install", "../"+name, "--yes"); out.code != 0 {
			t.Fatalf("%+v", out)
		}
	}
	const policy = `{"allowManagedHooksOnly":true,"enabledPlugins":{"vetted":true}}`
	both, vetted := "own start, own tool, vetted start, vetted tool", "vetted start, vetted tool"
	for _, tt := range []struct{ policy, line, tool, want, off string }{
		{"", "go", "Bash", both, ""},
		{"", "go", "Read", "own start, vetted start", ""},
		{"", "/own:s", "Bash", "own skill, " + both, ""},
		{policy, "go", "Bash", vetted, ""},
		{policy, "/vetted:s", "Bash", "vetted skill, " + vetted, ""},
		{policy, "/own:s", "Bash", vetted, "hooks of skill own:s are not registered: allowManagedHooksOnly is set in "},
		{policy, "/proj", "Bash", vetted, "hooks of skill proj are not registered: allowManagedHooksOnly is set in "},
		{`{"allowManagedHooksOnly":true,"disableAllHooks":true,"enabledPlugins":{"vetted":true}}`, "/vetted:s", "Bash", "", "disableAllHooks is set in "},
	} {
		if tt.policy != "" {
			w.file("../managed/managed-settings.json", tt.policy)
		}
		call := bash("ls")
		if tt.tool == "Read" {
			call = `{"name":"Read","input":{"file_path":".git/HEAD"}}`
		}
		out, asked := w.requests(`{"steps":[`+steps(calls(call), `{"text":"end"}`)+`]}`, "-p", tt.line, "--trust")
		got := w.heard("heard")
		slices.Sort(got)
		if strings.Join(got, ", ") != tt.want || !strings.Contains(out.stderr, tt.off) || tt.off == "" && strings.Contains(out.stderr, "are not registered") {
			t.Errorf("%s %s: %q, want %q; %s", tt.policy, tt.line, got, tt.want, out.stderr)
		}
		if len(asked) != 2 || tt.line != "go" && !strings.Contains(textOf(asked[0]), "Go.") {
			t.Errorf("%s: the instructions are lost: %+v", tt.line, asked)
		}
	}
}

// textOf is all that a request says.
func textOf(r recordedRequest) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, block := range m.Content {
			b.WriteString(block.Text + "\n")
		}
	}
	return b.String()
}

// TestCasesPluginNames: a plugin's skill has one id everywhere, always with its
// namespace, and a bare name that two claim names neither, in whatever order they
// load.
func TestCasesPluginNames(t *testing.T) {
	w := newWorld(t)
	for name, text := range map[string]string{
		"mine/skills/s": "name: s\n", "mine/skills/t": "name: mine:t\n", "mine/skills/u": "name: Some label\n", "mine/skills/v": "",
		"memory/skills/view": "", "brain/skills/view": "",
	} {
		w.file("../"+name+"/SKILL.md", "---\n"+text+"description: d\n---\nBODY of "+name+" in ${CLAUDE_PLUGIN_ROOT}.\n")
	}
	dirs := []string{"--plugin-dir", w.path("../mine"), "--plugin-dir", w.path("../memory"), "--plugin-dir", w.path("../brain")}
	for range 2 {
		for id, name := range map[string]string{"mine:s": "mine/skills/s", "mine:t": "mine/skills/t", "mine:u": "mine/skills/u", "mine:v": "mine/skills/v",
			"memory:view": "memory/skills/view", "brain:view": "brain/skills/view", "v": "mine/skills/v"} {
			plugin, _, _ := strings.Cut(name, "/")
			want := "BODY of " + name + " in " + w.path("../"+plugin) + "."
			_, asked := w.requests(`{"steps":[{"text":"end"}]}`, append([]string{"-p", "/" + id}, dirs...)...)
			if len(asked) != 1 || !strings.Contains(textOf(asked[0]), want) {
				t.Errorf("/%s: %+v, want %q", id, asked, want)
			}
			if full := strings.Contains(id, ":"); w.lists(id, dirs...) != full {
				t.Errorf("%s is listed: %v", id, !full)
			}
		}
		for _, args := range [][]string{{"-p", "/view"}, {"render", "view"}} {
			if out := w.run(append(args, dirs...)...); out.code != 1 || !strings.Contains(out.stderr, `"brain:view" or "memory:view"`) {
				t.Errorf("%q: %+v", args, out)
			}
		}
		dirs[3], dirs[5] = dirs[5], dirs[3]
	}
	if out := w.run(append([]string{"search", "vie"}, dirs...)...); !strings.Contains(out.stdout, "memory:view") || !strings.Contains(out.stdout, "brain:view") {
		t.Errorf("part of a name: %+v", out)
	}
}

// TestCasesPluginParts: of two plugins with one source each has its own skills
// and its own switch; an update is what the record names, whatever else is in the
// cache and however its number reads as text, and content counts where the number
// stays.
func TestCasesPluginParts(t *testing.T) {
	w := newWorld(t)
	w.file("../mkt/.claude-plugin/marketplace.json", `{"name":"mkt","owner":{"name":"x"},"plugins":[
		{"name":"ex","source":"./","strict":false,"skills":["./pool/xlsx"]},{"name":"docs","source":"./","strict":false,"skills":["./pool/pdf"]}]}`)
	w.file("../mkt/pool/xlsx/SKILL.md", described("x"))
	w.file("../mkt/pool/pdf/SKILL.md", described("p"))
	w.before("plugin", "marketplace", "add", "../mkt")
	w.before("plugin", "install", "ex@mkt", "--yes")
	w.before("plugin", "install", "docs@mkt", "--yes")
	if !w.lists("ex:xlsx") || !w.lists("docs:pdf") || w.lists("ex:pdf") || w.lists("docs:xlsx") {
		t.Errorf("%+v", w.run("list"))
	}
	person(`{"enabledPlugins":{"ex@mkt":false,"docs@mkt":true}}`)(w)
	if w.lists("ex:xlsx") || !w.lists("docs:pdf") {
		t.Errorf("%+v", w.run("list"))
	}
	for _, step := range []struct{ version, text string }{{"9.0.0", "nine"}, {"10.0.0", "ten"}, {"10.0.0", "ten again"}, {"2.0.0", "back"}} {
		w.file("../p/.claude-plugin/plugin.json", `{"name":"p","version":`+quoted(step.version)+`}`)
		w.file("../p/skills/b/SKILL.md", "---\ndescription: d\n---\n<"+step.text+">\n")
		w.before("plugin", "install", "../p", "--yes")
		out := w.run("render", "p:b")
		if !strings.Contains(out.stdout, "<"+step.text+">") || !strings.Contains(out.stdout, "/p/"+step.version+"-") {
			t.Errorf("%s: %+v", step.version, out)
		}
		if n := strings.Count(w.run("list", "--json", "--all").stdout, `"id":"p:b"`); n != 1 {
			t.Errorf("%s: %d skills", step.version, n)
		}
	}
	if left, err := os.ReadDir(w.path("../state/plugins/cache/_direct/p")); err != nil || len(left) < 2 {
		t.Errorf("nothing else is in the cache: %v %v", left, err)
	}
}

// TestCasesPluginLinks: what relative links inside a package lead to is installed
// as files; links that lead nowhere are an error at once. Who takes one skill of a
// family is told which of the others it names.
func TestCasesPluginLinks(t *testing.T) {
	w := newWorld(t)
	w.file("../rl/plugins/x/skills/q/SKILL.md", described("q"))
	w.mkdir("../dangling")
	for from, to := range map[string]string{"../rl/skills": "plugins/x/skills", "../dangling/skills": "nowhere"} {
		if err := os.Symlink(to, w.path(from)); err != nil {
			t.Fatal(err)
		}
	}
	w.before("plugin", "install", "../rl", "--yes")
	if err := os.RemoveAll(w.path("../rl")); err != nil {
		t.Fatal(err)
	}
	if out := w.run("render", "rl:q"); out.code != 0 || !strings.Contains(out.stdout, "Body of q.") {
		t.Errorf("%+v", out)
	}
	if out := w.run("plugin", "install", "../dangling", "--yes"); out.code != 1 || out.stdout != "" || strings.Contains(w.run("plugin", "list").stdout, "dangling") {
		t.Errorf("%+v", out)
	}
	w.file("../family/skills/ads/SKILL.md", "---\ndescription: d\n---\nUse the /captions skill, then the `storyboard` skill, as in [it](../captions/SKILL.md).\n")
	w.file("../family/skills/captions/SKILL.md", described("c"))
	w.file("../family/skills/storyboard/SKILL.md", described("s"))
	out := w.run("add", "../family/skills/ads", "--yes")
	for _, name := range []string{"storyboard", "captions", "../captions/SKILL.md"} {
		if !strings.Contains(strings.Join(strings.Fields(out.stderr), " "), name) {
			t.Errorf("%s is not told: %+v", name, out)
		}
	}
}

// TestCasesPromptText: a prompt of a server runs with its arguments where nobody
// watches, and its text stays as the server wrote it: nothing in it runs, nothing
// of this machine is put in.
func TestCasesPromptText(t *testing.T) {
	w := newWorld(t)
	w.mkdir("../other/.git")
	w.file("../other/.claude/skills/chat/SKILL.md", "---\ndescription: d\narguments: what\n---\nTalk of $what.\n")
	config := w.file("../servers.json", `{"mcpServers":{"zen":{"command":"knack","args":["mcp","-C",`+quoted(w.path("../other"))+`]}}}`)
	const hostile = "!`touch pwned` ${CLAUDE_SKILL_DIR} ${CLAUDE_PROJECT_DIR} $ARGUMENTS $0"
	for line, want := range map[string]string{
		"/zen:chat foo": "Talk of foo.", "/zen:chat (MCP) foo": "Talk of foo.", "/mcp__zen__chat foo": "Talk of foo.",
		"/zen:chat '" + hostile + "'": "Talk of " + hostile + ".",
	} {
		out, asked := w.requests(`{"steps":[{"text":"end"}]}`, "-p", line, "--mcp-config", config, "--settings", `{"mcpInline":true}`, "--permission-mode", "bypassPermissions")
		if out.code != 0 || len(asked) != 1 || !strings.Contains(textOf(asked[0]), want) {
			t.Errorf("%s: %+v %+v, want %q", line, out, asked, want)
		}
		w.attacked(line)
	}
}

// TestCasesRequires: a skill that needs another one says so where that is missing,
// in the check and in its text; rings are found; and what a skill needs grants it
// nothing.
func TestCasesRequires(t *testing.T) {
	w := newWorld(t)
	w.skill("front", "---\ndescription: builds fronts\nrequires: [design, docx]\n---\nFRONT\n")
	w.skill("design", "---\ndescription: designs things\nallowed-tools: Bash(touch *)\n---\nDESIGN\n")
	w.skill("one", "---\ndescription: the first of two\nrequires: [two]\n---\nONE\n")
	w.skill("two", "---\ndescription: the second of two\nrequires: [one]\n---\nTWO\n")
	var got []string
	for _, p := range w.problems() {
		if strings.HasPrefix(p.Code, "requires") {
			got = append(got, p.Code+": "+p.Message)
		}
	}
	want := []string{`requires-missing: "front" requires the skill "docx", which is not here`, "requires-ring: skills require each other in a ring: one → two → one"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	out := w.run("render", "front")
	if !strings.Contains(out.stdout, "FRONT\n") || !strings.Contains(out.stdout, "needs skills that are not here") || !strings.Contains(out.stdout, "\n- docx\n") || strings.Contains(out.stdout, "- design") || !strings.Contains(out.stderr, "docx") {
		t.Errorf("%+v", out)
	}
	for _, name := range []string{"design", "one"} {
		if out := w.run("render", name); strings.Contains(out.stdout, "not here") {
			t.Errorf("%s: %+v", name, out)
		}
	}
	w.acts([]string{bash("touch made")}, "-p", "/front", "--trust")
	if w.exists("made") {
		t.Error("a skill has the rights of one that it needs")
	}
	w.acts([]string{bash("touch made")}, "-p", "/design", "--trust")
	if !w.exists("made") {
		t.Error("the skill that has the rights cannot use them")
	}
}

// TestCasesPluginCommit: a plugin in a part of a repository is that part alone, and
// nothing outside of the repository can be named as one; where its number stays
// while its files change, the list tells the commit, and an update brings the files.
func TestCasesPluginCommit(t *testing.T) {
	w := newWorld(t)
	lookPath(t, "git")
	w.mkdir("../mono")
	commit := func(text string) string {
		w.file("../mono/plugins/my/.claude-plugin/plugin.json", `{"name":"my","version":"1.0.0"}`)
		w.file("../mono/plugins/my/skills/s/SKILL.md", "---\ndescription: d\n---\n"+text+" in ${CLAUDE_PLUGIN_ROOT}\n")
		w.file("../mono/skills/outside/SKILL.md", described("o"))
		return w.sh(`cd ../mono && git init -q . && git add -A && git -c user.name=n -c user.email=e -c commit.gpgsign=false commit -q -m x >&2 && git rev-parse HEAD`)
	}
	for i, text := range []string{"first", "second"} {
		at := strings.TrimSpace(commit(text))
		if i == 0 {
			w.before("plugin", "install", "file://"+w.path("../mono"), "--path", "plugins/my", "--yes")
		} else {
			w.before("plugin", "update", "my", "--yes")
		}
		if out := w.run("plugin", "list"); len(at) != 40 || !strings.Contains(out.stdout, "1.0.0 ("+at[:12]+")") {
			t.Errorf("%s: %q is not told: %+v", text, at, out)
		}
		out := w.run("render", "my:s")
		root := w.path("../state/plugins/cache/_direct/my/1.0.0-")
		if !strings.Contains(out.stdout, text+" in "+root) || w.lists("my:outside") {
			t.Errorf("%s: %+v", text, out)
		}
	}
	for _, path := range []string{"../repo", "plugins/../../repo", "/etc", "plugins/none", "plugins/my/skills/s/SKILL.md"} {
		if out := w.run("plugin", "install", "file://"+w.path("../mono"), "--path", path, "--yes"); out.code == 0 || out.stdout != "" {
			t.Errorf("%s: %+v", path, out)
		}
	}
}
