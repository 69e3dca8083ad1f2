package cli_test

import (
	"os"
	"strings"
	"testing"
)

// repoServers writes a .mcp.json whose servers leave a mark when they start.
func (w *world) repoServers(more string) {
	w.file(".mcp.json", `{"mcpServers":{"other":{"command":"sh","args":["-c","touch started; exec knack mcp -C ../other"]`+more+`}}}`)
}

// started reports whether a server was started, and forgets it.
func (w *world) started() bool { return os.Remove(w.path("started")) == nil }

func withServer(t *testing.T) *world {
	w := newWorld(t)
	w.mkdir("../other/.git")
	w.file("../other/.claude/skills/greet/SKILL.md", "---\ndescription: Greets\narguments: who\n---\nDear $who.\n")
	w.repoServers("")
	if out := w.run("doctor", "--trust"); out.code != 0 || w.started() {
		t.Fatalf("%+v", out)
	}
	return w
}

// TestTerminalServer: a server of the repository starts when the person says so,
// in front of what it runs and what it is given. Both answers are kept and hold for
// what is written, not for how it is laid out; what changes is asked about again;
// silence and Ctrl-C are no answers (S-14, X-6).
func TestTerminalServer(t *testing.T) {
	w := withServer(t)
	const layout, changed, question = ` `, `,"env":{"LD_PRELOAD":"${HOME}/x.so"}`, "Let this server start? y / n: "
	for _, tt := range []struct {
		name, more string
		typed      []string // one for each time the question stands there
		code       int
		starts     bool
	}{
		{"silence", "", []string{"\x04"}, 1, false},
		{"Ctrl-C", "", []string{"\x03"}, 130, false},
		{"empty lines", "", []string{"\n", "\n", "\n"}, 1, false},
		{"no clear answer", "", []string{"perhaps\n", "ok\n", "yes please\n"}, 1, false},
		{"no", "", []string{"n\n"}, 1, false},
		{"no, kept", "", nil, 1, false},
		{"no, laid out in another way", layout, nil, 1, false},
		{"changed", changed, []string{"y\n"}, 0, true},
		{"yes, kept", changed, nil, 0, true},
		{"another change", changed + `,"timeout":5000`, []string{"\x04"}, 1, false},
		{"as it was allowed", changed, nil, 0, true},
		{"as it was refused, of which the later word counts", "", []string{"\n", "n\n"}, 1, false},
	} {
		w.repoServers(tt.more)
		s := w.terminal("-p", "/other:greet Ann")
		if len(tt.typed) > 0 {
			s.wait(".mcp.json of this repository names the MCP server \"other\"").wait("touch started; exec knack mcp -C ../other")
		}
		if len(tt.typed) > 0 && strings.HasPrefix(tt.more, changed) {
			s.wait("with these variables:").wait("LD_PRELOAD=${HOME}/x.so")
		}
		for _, keys := range tt.typed {
			s.wait(question)
			if w.started() {
				t.Errorf("%s: started before the answer", tt.name)
			}
			s.typed(keys)
		}
		code, started := s.end(), w.started()
		if code != tt.code || started != tt.starts || strings.Contains(s.stdout.String(), "Dear Ann.") != tt.starts {
			t.Errorf("%s: exit %d, started %t, %q\n%s", tt.name, code, started, s.stdout.String(), s.shown.String())
		}
		if n := strings.Count(s.shown.String(), question); n != len(tt.typed) {
			t.Errorf("%s: asked %d times\n%s", tt.name, n, s.shown.String())
		}
	}
}

// TestTerminalServerNot: nobody is asked in a workspace that is not trusted, in the
// mode dontAsk, about a server that settings decide about, and about servers that a
// message to no model does not name.
func TestTerminalServerNot(t *testing.T) {
	w := withServer(t)
	w.file("one.json", `{"steps":[{"text":"end"}]}`)
	model := []string{"--model", "scripted:" + w.path("one.json")}
	for name, tt := range map[string]struct {
		args          []string
		asked, starts bool
	}{
		"a model may call it":  {append([]string{"-p", "go"}, model...), true, false},
		"no model":             {[]string{"-p", "go"}, false, false},
		"another server":       {[]string{"-p", "/another:greet"}, false, false},
		"dontAsk":              {append([]string{"-p", "go", "--permission-mode", "dontAsk"}, model...), false, false},
		"allowed in settings":  {append([]string{"-p", "go", "--settings", `{"enabledMcpjsonServers":["other"]}`}, model...), false, true},
		"refused in settings":  {append([]string{"-p", "go", "--settings", `{"disabledMcpjsonServers":["other"]}`}, model...), false, false},
		"without the project":  {append([]string{"-p", "go", "--setting-sources", "user"}, model...), false, false},
		"the person's instead": {append([]string{"-p", "go", "--mcp-config", `{"mcpServers":{"other":{"command":"touch","args":["started"]}}}`}, model...), false, true},
	} {
		s := w.terminal(tt.args...)
		if tt.asked {
			s.wait("Let this server start? y / n: ").typed("\x04")
		}
		s.end()
		if started := w.started(); started != tt.starts || strings.Contains(s.shown.String(), "Let this server start?") != tt.asked {
			t.Errorf("%s: started %t\n%s", name, started, s.shown.String())
		}
	}
	w.before("doctor", "--distrust")
	if s := w.terminal(append([]string{"-p", "go"}, model...)...); s.end() != 0 || strings.Contains(s.shown.String(), "Let this server start?") || w.started() {
		t.Errorf("not trusted:\n%s", s.shown.String())
	}
}

// TestTerminalServerText: what a repository writes into its entry cannot draw over
// the question, and what it sends elsewhere is shown with it.
func TestTerminalServerText(t *testing.T) {
	w := withServer(t)
	w.file(".mcp.json", `{"mcpServers":{"a\u001b[2J\u202e":{"type":"http","url":"http://127.0.0.1:9/\u200bmcp","headers":{"Authorization":"Bearer ${HOME}\r\u001b[2K"}}}}`)
	w.file("one.json", `{"steps":[{"text":"end"}]}`)
	s := w.terminal("-p", "go", "--model", "scripted:"+w.path("one.json"))
	s.wait("It connects to:").wait("127.0.0.1:9/").wait("and sends:").wait("Authorization: Bearer ${HOME}").wait("y / n: ").typed("n\n")
	s.end()
	for _, bad := range []string{"\x1b[2J", "\x1b[2K", "\u202e", "\u200b", "\r"} {
		if strings.Contains(s.shown.String(), bad) {
			t.Errorf("%q reaches the terminal: %q", bad, s.shown.String())
		}
	}
}

// TestTerminalOptions: who adds a bundle is asked for what its server needs and
// nobody has given, after they agreed; a secret is not shown while it is typed, what
// the option does not take is asked for again, and Ctrl-C leaves nothing.
func TestTerminalOptions(t *testing.T) {
	bundle := zipped(t, "manifest.json", `{"manifest_version":"0.3","name":"box","version":"1.0.0","description":"d","author":{"name":"x"},
		"server":{"type":"node","entry_point":"x.js","mcp_config":{"command":"sh","args":["${__dirname}/serve.sh","${user_config.times}","${user_config.dirs}"],"env":{"KEY":"${user_config.key}","PLAIN":"p"}}},
		"user_config":{"dirs":{"type":"directory","title":"Directories","required":true,"multiple":true},"key":{"type":"string","title":"The key","description":"From your account","sensitive":true,"required":true},
			"times":{"type":"number","title":"How often","required":true,"min":1,"max":9},"other":{"type":"string","title":"Other"},"had":{"type":"string","title":"Had","required":true,"default":"d"}}}`,
		"serve.sh", `echo "$KEY $*" > noted; cp noted "$CLAUDE_PLUGIN_DATA/noted"; exec knack mcp -C "$2"`)
	const install, noted = "Install it? y / n: ", "../state/plugins/data/box/noted"
	for name, answers := range map[string]func(s *screen) int{
		"all": func(s *screen) int {
			s.wait("sh ${CLAUDE_PLUGIN_ROOT}/serve.sh").wait("KEY=${user_config.key}, with PLAIN=p").wait(install).typed("y\n")
			s.wait("Directories").wait("dirs (directory): ").typed("../nowhere\n").wait("nowhere: no such").wait("dirs (directory): ").typed("../other\n")
			s.wait("dirs (directory): ").typed(".\n").wait("dirs (directory): ").typed("\n")
			s.wait("From your account").wait("key (string): ").typed("pass word\n")
			s.wait("times (number): ").typed("10\n").wait("10 is not from 1 to 9").wait("times (number): ").typed("4\n")
			return s.end()
		},
		"no consent": func(s *screen) int { s.wait(install).typed("n\n"); return s.end() },
		"Ctrl-C": func(s *screen) int {
			s.wait(install).typed("y\n").wait("dirs (directory): ").typed("\x03")
			return s.end()
		},
		"none": func(s *screen) int {
			s.wait(install).typed("y\n").wait("dirs (directory): ").typed("\x04")
			return s.end()
		},
		"given before": func(s *screen) int { s.wait(install).typed("y\n"); return s.end() },
	} {
		w := newWorld(t)
		w.mkdir("../other/.git")
		w.file("../other/.claude/skills/hello/SKILL.md", "---\ndescription: d\n---\nHello.\n")
		w.file("../box.mcpb", string(bundle))
		args := []string{"add", "../box.mcpb"}
		if name == "given before" {
			args = append(args, "--config", "dirs=../other", "--config", "dirs=.", "--config", "times=4", "--config", "key=pass word")
		}
		s := w.terminal(args...)
		code := answers(s)
		installed := strings.Contains(w.run("plugin", "list").stdout, "box")
		switch name {
		case "no consent", "Ctrl-C":
			if installed || code != map[string]int{"no consent": 3, "Ctrl-C": 130}[name] {
				t.Errorf("%s: exit %d, installed %t\n%s", name, code, installed, s.shown.String())
			}
			continue
		case "none":
			if !installed || code != 0 || !strings.Contains(s.shown.String(), "need a value: dirs, key, times") || w.lists("plugin_box_box:hello") || w.exists(noted) {
				t.Errorf("%s: exit %d, installed %t\n%s", name, code, installed, s.shown.String())
			}
			continue
		}
		if code != 0 || !installed || strings.Contains(s.shown.String(), "pass word") || strings.Contains(s.shown.String(), "need a value") {
			t.Errorf("%s: exit %d, installed %t\n%s", name, code, installed, s.shown.String())
		}
		if !w.lists("plugin_box_box:hello") || readText(w, noted) != "pass word 4 "+w.path("../other")+" "+w.repo+"\n" {
			t.Errorf("%s: %q, %+v", name, readText(w, noted), w.run("list"))
		}
	}
}
