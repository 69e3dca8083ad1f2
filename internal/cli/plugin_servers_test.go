//go:build unix

package cli_test

import (
	"os"
	"strings"
	"testing"
)

// serving makes a plugin beside the repository with two MCP servers, both of which
// are knack in another workspace: "local" in .mcp.json, which notes what it finds
// in its environment, and "given" in the manifest, which needs an option.
func (w *world) serving() (noted string) {
	w.file("../plug/.claude-plugin/plugin.json", `{"name":"plug","version":"1","mcpServers":{"given":{"command":"knack","args":["mcp","-C","${user_config.dir}"]}},
		"userConfig":{"dir":{"type":"directory","title":"Where","required":true},"token":{"type":"string","title":"Token","sensitive":true},"none":{"type":"string"}}}`)
	w.file("../plug/.mcp.json", `{"mcpServers":{"local":{"command":"sh","args":["${CLAUDE_PLUGIN_ROOT}/serve.sh","${CLAUDE_PLUGIN_ROOT}/ws","${user_config.none}"],"env":{"T":"<${user_config.token}>"}}}}`)
	w.file("../plug/serve.sh", `{ env; echo "COUNT=$#"; pwd; } > "$CLAUDE_PLUGIN_DATA/noted"; exec knack mcp -C "$1"`)
	w.mkdir("../plug/ws/.git")
	w.file("../plug/ws/.claude/skills/greet/SKILL.md", "---\ndescription: Greets\narguments: who\n---\nDear $who.\n")
	w.mkdir("../other/.git")
	w.file("../other/.claude/skills/hello/SKILL.md", "---\ndescription: Says hello\n---\nHello from over there.\n")
	return "../state/plugins/data/plug/noted"
}

// TestPluginServers: the MCP servers of a plugin start with the values that it was
// given, from its own directory, their prompts are skills and their tools are the
// agent's by rules; a server that needs what nobody gave is not started, and the
// rest is.
func TestPluginServers(t *testing.T) {
	w := newWorld(t)
	noted := w.serving()
	out := w.run("plugin", "install", "../plug", "--yes")
	for _, part := range []string{"local: sh ${CLAUDE_PLUGIN_ROOT}/serve.sh", "given: knack mcp -C ${user_config.dir}", "need a value: dir"} {
		if out.code != 0 || !strings.Contains(out.stderr, part) {
			t.Errorf("consent does not say %q: %+v", part, out)
		}
	}
	if w.exists(noted) {
		t.Error("a server was started at install")
	}
	out = w.run("list")
	if !strings.Contains(out.stdout, "plugin_plug_local:greet") || strings.Contains(out.stdout, "given") ||
		!strings.Contains(strings.Join(strings.Fields(out.stderr), " "), `"plugin:plug:given" is not started: not set: the option dir`) || !strings.Contains(out.stderr, "knack plugin config plug dir=") {
		t.Errorf("without the value: %+v", out)
	}
	w.before("plugin", "config", "plug", "dir=../other", "token=s3 cret")
	if !w.lists("plugin_plug_local:greet") || !w.lists("plugin_plug_given:hello") {
		t.Errorf("with the value: %+v", w.run("list"))
	}
	for _, want := range []string{"T=<s3 cret>", "CLAUDE_PLUGIN_OPTION_token=s3 cret", "CLAUDE_PLUGIN_OPTION_dir=" + w.path("../other"), "COUNT=1", "CLAUDE_PROJECT_DIR=" + w.repo, w.path("../state/plugins/cache/_direct/plug/1-")} {
		if text := readText(w, noted); !strings.Contains(text, want) {
			t.Errorf("the server does not find %q:\n%s", want, text)
		}
	}
	for _, name := range []string{"plugin_plug_local:greet", "plugin:plug:local:greet", "mcp__plugin_plug_local__greet"} {
		if out := w.run("render", name, "Bob"); out.code != 0 || !strings.Contains(out.stdout, "Dear Bob.") {
			t.Errorf("%s: %+v", name, out)
		}
		_, asked := w.requests(`{"steps":[{"text":"end"}]}`, "-p", "/"+name+" Bob", "--settings", `{"mcpInline":true}`)
		if len(asked) != 1 || !strings.Contains(textOf(asked[0]), "Dear Bob.") {
			t.Errorf("/%s: %+v", name, asked)
		}
	}
	if out := w.run("render", "plugin_plug_given:hello"); !strings.Contains(out.stdout, "Hello from over there.") {
		t.Errorf("%+v", out)
	}
	w.before("plugin", "remove", "plug")
	if w.lists("plugin_plug_local:greet") || w.exists(noted) {
		t.Error("a plugin that was removed left its server")
	}
}

// TestPluginServerRules: what may call a tool of a plugin's server, and what keeps
// the server itself from starting (S-11, X-6).
func TestPluginServerRules(t *testing.T) {
	const call = `{"name":"mcp__plugin_plug_local__Skill","input":{"skill":"greet","args":"Bob"}}`
	const deny = `{"permissions":{"deny":["mcp__plugin_plug_local"]}}`
	w := newWorld(t)
	noted := w.serving()
	w.before("plugin", "install", "../plug", "--yes", "--config", "dir=../other")
	for _, tt := range []struct {
		name, managed, servers string // of the managed directory: settings, managed-mcp.json
		set                    func(*world)
		flags                  []string
		starts, answers        bool
	}{
		{name: "no rule", starts: true},
		{name: "the server", flags: []string{"--allowedTools", "mcp__plugin_plug_local"}, starts: true, answers: true},
		{name: "the tool", flags: []string{"--allowedTools", "mcp__plugin_plug_local__Skill"}, starts: true, answers: true},
		{name: "another tool", flags: []string{"--allowedTools", "mcp__plugin_plug_local__SkillRead"}, starts: true},
		{name: "another server", flags: []string{"--allowedTools", "mcp__plugin_plug"}, starts: true},
		{name: "bypass", flags: []string{"--permission-mode", "bypassPermissions"}, starts: true, answers: true},
		{name: "bypass and deny", managed: deny, flags: []string{"--permission-mode", "bypassPermissions"}, starts: true},
		{name: "allowed and denied", managed: deny, flags: []string{"--allowedTools", "mcp__plugin_plug_local"}, starts: true},
		{name: "plugins alone", managed: `{"strictPluginOnlyCustomization":["mcp"]}`, flags: []string{"--allowedTools", "mcp__plugin_plug_local"}, starts: true, answers: true},
		{name: "off", managed: `{"enabledPlugins":{"plug":false}}`},
		{name: "blocked", managed: `{"blockedMarketplaces":[{"source":"directory"}]}`},
		{name: "none known", managed: `{"strictKnownMarketplaces":[]}`},
		{name: "servers of the administrator", servers: `{}`},
		{name: "unreadable servers of the administrator", servers: `{`},
		{name: "bare", flags: []string{"--bare"}},
		{name: "no settings of the person", flags: []string{"--setting-sources", "project"}},
		{name: "switched off", set: func(w *world) { w.before("plugin", "disable", "plug") }},
		{name: "switched on", set: func(w *world) { w.before("plugin", "enable", "plug") }, flags: []string{"--allowedTools", "mcp__plugin_plug_local"}, starts: true, answers: true},
	} {
		if tt.set != nil {
			tt.set(w)
		}
		if err := os.RemoveAll(w.path("../managed")); err != nil {
			t.Fatal(err)
		}
		if tt.managed != "" {
			w.file("../managed/managed-settings.json", tt.managed)
		}
		if tt.servers != "" {
			w.file("../managed/managed-mcp.json", tt.servers)
		}
		_ = os.Remove(w.path(noted))
		// A server that was met before may be started later than a script ends.
		if err := os.RemoveAll(w.path("../state/mcp-tools")); err != nil {
			t.Fatal(err)
		}
		results, said := w.acts([]string{call}, append([]string{"-p", "go"}, tt.flags...)...)
		if len(results) != 1 || strings.Contains(results[0], "Dear Bob.") != tt.answers || w.exists(noted) != tt.starts {
			t.Errorf("%s: started %t, %q; %s", tt.name, w.exists(noted), results, said)
		}
		_ = os.Remove(w.path(noted))
		if listed := w.lists("plugin_plug_local:greet"); listed != w.exists(noted) {
			t.Errorf("%s: listed %t, started %t", tt.name, listed, w.exists(noted))
		}
	}
}

// TestBundle: a bundle's server starts as its manifest says for this system, with
// values from flags and defaults in the person's directories; its prompts are
// skills that people start, in which nothing runs; what its options do not take,
// and a bundle for another system, installs nothing.
func TestBundle(t *testing.T) {
	manifest := func(version, more string) string {
		return `{` + version + `,"name":"My Box","version":"1.0.0","description":"d","author":{"name":"x"},
			"server":{"type":"binary","entry_point":"none","mcp_config":{"command":"none","args":["${__dirname}${/}serve.sh","${user_config.dirs}"],
				"env":{"SEEN":"${user_config.n} ${user_config.key} ${DOCUMENTS}"},"platform_overrides":{"linux":{"command":"sh"},"darwin":{"command":"sh"}}}},
			"prompts":[{"name":"ask me","description":"Asks","arguments":["what"],"text":"Ask ${arguments.what} for $5, !` + "`touch pwned`" + ` $ARGUMENTS"},{"name":"of the server"}],
			"user_config":{"dirs":{"type":"directory","title":"D","multiple":true,"default":["${HOME}","${DESKTOP}"]},"n":{"type":"number","title":"N","min":1,"max":9},"key":{"type":"string","title":"K","sensitive":true}}` + more + `}`
	}
	const serve = `echo "$SEEN; $*" > "$CLAUDE_PLUGIN_DATA/noted"; exec knack mcp -C "$OTHER"`
	made := func(more string, version string) *world {
		w := newWorld(t)
		w.env = append(w.env, "OTHER="+w.path("../other"))
		w.mkdir("../other/.git")
		w.file("../other/.claude/skills/hello/SKILL.md", "---\ndescription: d\narguments: who\n---\nHello $who.\n")
		w.file("../box.dxt", string(zipped(t, "manifest.json", manifest(version, more), "serve.sh", serve)))
		return w
	}
	for _, tt := range []struct {
		name, more string
		flags      []string
		code       int
		noted      string // of a world; "" when it is not installed
	}{
		{name: "flags", flags: []string{"--config", "dirs=.", "--config", "dirs=../other", "--config", "n=4", "--config", "key=k y"}, noted: "4 k y HOME/Documents; REPO OTHER"},
		{name: "defaults", noted: "  HOME/Documents; HOME HOME/Desktop"},
		{name: "for this system too", more: `,"compatibility":{"platforms":["win32","darwin","linux"]}`, noted: "  HOME/Documents; HOME HOME/Desktop"},
		{name: "too large", flags: []string{"--config", "n=10"}, code: 2},
		{name: "no number", flags: []string{"--config", "n=x"}, code: 2},
		{name: "no directory", flags: []string{"--config", "dirs=nowhere"}, code: 2},
		{name: "no option", flags: []string{"--config", "m=1"}, code: 2},
		{name: "no value", flags: []string{"--config", "n"}, code: 2},
		{name: "another system", more: `,"compatibility":{"platforms":["win32"]}`, code: 1},
	} {
		for _, version := range []string{`"manifest_version":"0.3"`, `"dxt_version":"0.1"`} {
			w := made(tt.more, version)
			out := w.run(append([]string{"add", "../box.dxt", "--yes"}, tt.flags...)...)
			if out.code != tt.code || out.code != 0 && strings.Contains(w.run("plugin", "list").stdout, "My-Box") {
				t.Errorf("%s: %+v", tt.name, out)
			}
			if tt.noted == "" {
				continue
			}
			if !w.lists("plugin_My-Box_My-Box:hello") || !w.lists("My-Box:ask-me") || w.lists("My-Box:of-the-server") {
				t.Errorf("%s: %+v", tt.name, w.run("list"))
			}
			want := strings.NewReplacer("HOME", w.path("../home"), "REPO", w.repo, "OTHER", w.path("../other")).Replace(tt.noted) + "\n"
			if got := readText(w, "../state/plugins/data/My-Box/noted"); got != want {
				t.Errorf("%s: the server is given %q, want %q", tt.name, got, want)
			}
			_, asked := w.requests(`{"steps":[{"text":"end"}]}`, "-p", "/My-Box:ask-me Rome", "--permission-mode", "bypassPermissions")
			if len(asked) != 1 || !strings.Contains(textOf(asked[0]), "Ask Rome for $5, !`touch pwned` $ARGUMENTS") || strings.Contains(asked[0].System, "My-Box:ask-me") {
				t.Errorf("%s: %+v", tt.name, asked)
			}
			w.attacked(tt.name)
			if out := w.run("render", "plugin_My-Box_My-Box:hello", "Ann"); !strings.Contains(out.stdout, "Hello Ann.") {
				t.Errorf("%s: %+v", tt.name, out)
			}
		}
	}
}

// TestPluginBrokenParts: files of hooks and servers that cannot be read are told at
// every check and not only at install, once each, and the skills load.
func TestPluginBrokenParts(t *testing.T) {
	w := newWorld(t)
	w.file("../p/.claude-plugin/plugin.json", `{"name":"p","mcpServers":["./none.json","../out.json",{"x":1}],"hooks":"./none.json"}`)
	w.file("../p/.mcp.json", `{`)
	w.file("../p/hooks/hooks.json", `[]`)
	w.file("../p/skills/s/SKILL.md", described("s"))
	var got []string
	out := w.run("check", "--json", "--plugin-dir", "../p")
	for _, want := range []string{`none.json`, `../out.json`, `mcpServers: \"x\" is no object`, "mcpServers: this is no object", "hooks: the file is no JSON object"} {
		if !strings.Contains(out.stdout, want) {
			got = append(got, want)
		}
	}
	if len(got) > 0 || strings.Count(out.stdout, "mcpServers: this is no object") != 1 || !w.lists("p:s", "--plugin-dir", "../p") {
		t.Errorf("not told: %q\n%+v", got, out)
	}
	install := w.run("plugin", "install", "../p", "--yes")
	if strings.Count(strings.Join(strings.Fields(install.stderr), " "), "mcpServers: this is no object") != 1 {
		t.Errorf("%+v", install)
	}
	if out := w.run("check", "--json"); strings.Count(out.stdout, "mcpServers: this is no object") != 1 {
		t.Errorf("installed: %+v", out)
	}
}
