package mcpconfig_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/mcpconfig"
)

// tree writes files below a new directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(strings.ReplaceAll(text, "DIR", filepath.ToSlash(dir))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func sources(dir string) mcpconfig.Sources {
	return mcpconfig.Sources{
		UserFile: filepath.Join(dir, "home", ".claude.json"), ProjectDir: filepath.Join(dir, "repo"), WorkDir: filepath.Join(dir, "repo"),
		Trusted: true, Verdict: func(string, string) mcpconfig.Verdict { return mcpconfig.Allowed },
	}
}

// names is the servers as "name scope command".
func names(list []mcpconfig.Server) (out []string) {
	for _, s := range list {
		out = append(out, s.Name+" "+string(s.Scope)+" "+s.Command+s.URL)
	}
	return out
}

// TestPrecedence: of one name the strongest file's entry counts, as a whole.
func TestPrecedence(t *testing.T) {
	dir := tree(t, map[string]string{
		"home/.claude.json": `{"mcpServers": {"a": {"command": "user"}, "b": {"command": "user"}, "c": {"command": "user"}, "d": {"command": "user"}},
			"projects": {"DIR/repo": {"mcpServers": {"a": {"command": "local"}, "b": {"command": "local"}}}, "/elsewhere": {"mcpServers": {"x": {"command": "no"}}}}}`,
		"repo/.mcp.json": `{"mcpServers": {"a": {"command": "project"}, "b": {"command": "project"}, "c": {"command": "project"}}}`,
	})
	src := sources(dir)
	src.Flags = []string{`{"mcpServers": {"a": {"command": "flag"}}}`}
	set := mcpconfig.Load(src)
	want := []string{"a flag flag", "b local local", "c project project", "d user user"}
	if diff := cmp.Diff(want, names(set.Servers)); diff != "" {
		t.Error(diff)
	}
	for _, p := range set.Problems {
		if p.Code != "mcp-shadowed" {
			t.Error(p)
		}
	}
	src.NoUser, src.NoLocal, src.Flags = true, true, nil
	if diff := cmp.Diff([]string{"a project project", "b project project", "c project project"}, names(mcpconfig.Load(src).Servers)); diff != "" {
		t.Error(diff)
	}
	src.Flags = []string{`{"mcpServers": {"f": {"command": "x"}}}`}
	src.PluginOnly, src.Plugins = true, []mcpconfig.PluginServers{{Plugin: "p", Servers: map[string]json.RawMessage{"s": json.RawMessage(`{"command": "x"}`)}}}
	if diff := cmp.Diff([]string{"plugin:p:s plugin x"}, names(mcpconfig.Load(src).Servers)); diff != "" {
		t.Error(diff)
	}
}

// TestManaged: the administrator's file takes the place of all others, also when
// it cannot be read (S-11).
func TestManaged(t *testing.T) {
	for text, want := range map[string][]string{
		`{"mcpServers": {"m": {"command": "managed"}}}`: {"m managed managed"},
		`{}`:   nil,
		`{bad`: nil,
	} {
		dir := tree(t, map[string]string{"etc/managed-mcp.json": text, "repo/.mcp.json": `{"mcpServers": {"a": {"command": "x"}}}`})
		src := sources(dir)
		src.Managed, src.Flags = []string{filepath.Join(dir, "etc")}, []string{`{"mcpServers": {"f": {"command": "x"}}}`}
		if diff := cmp.Diff(want, names(mcpconfig.Load(src).Servers)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestEntries: an entry that cannot be started is a problem with its place, and
// the others start.
func TestEntries(t *testing.T) {
	tests := []struct{ entry, want string }{ // want is part of the problem; empty starts
		{`{"command": "x"}`, ""},
		{`{"type": "stdio", "command": "x", "args": ["a"], "env": {"A": "b"}, "timeout": 500, "alwaysLoad": true}`, ""},
		{`{"type": "http", "url": "https://h/mcp", "headers": {"A": "b"}}`, ""},
		{`{"type": "streamable-http", "url": "http://h/mcp"}`, ""},
		{`{"type": "sse", "url": "http://h/sse"}`, ""},
		{`{"url": "https://h"}`, `it has a "url" but no "type"`},
		{`{"type": "ws", "url": "ws://h"}`, "none of stdio, http, sse"},
		{`{"type": "http", "url": "file:///etc/passwd"}`, "no address"},
		{`{"type": "http"}`, "no address"},
		{`{"type": "stdio"}`, `it has no "command"`},
		{`{"command": "  "}`, `it has no "command"`},
		{`{}`, `neither "command" nor "url"`},
		{`"x"`, "it is no object"},
		{`[]`, "it is no object"},
		{`{"command": 1}`, "command has the wrong type"},
		{`{"command": "x", "args": "a b"}`, "args has the wrong type"},
		{`{"command": "x", "env": {"A": 1}}`, "has the wrong type"},
		{`{"command": "x", "timeout": 0}`, "timeout is no number"},
		{`{"command": "x", "timeout": 1e300}`, "timeout is no number"},
		{`{"command": "${NO_SUCH}", "args": ["${NOR_THIS}"]}`, "not set: "},
	}
	for _, tt := range tests {
		dir := tree(t, map[string]string{"repo/.mcp.json": "{\n  \"mcpServers\": {\n    \"good\": {\"command\": \"x\"},\n    \"é\": {\"command\":\"x\"}, \"s\": " + tt.entry + "\n  }\n}"})
		src := sources(dir)
		set := mcpconfig.Load(src)
		n := 2
		if tt.want == "" {
			n = 3
		}
		if len(set.Servers) != n {
			t.Errorf("%s: %v", tt.entry, names(set.Servers))
		}
		if tt.want == "" && len(set.Problems) == 0 {
			continue
		}
		if len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Message, tt.want) || tt.want == "" {
			t.Errorf("%s: problems %v", tt.entry, set.Problems)
			continue
		}
		if p := set.Problems[0]; p.Line != 4 || p.Column != 27 || p.Path != filepath.Join(dir, "repo", ".mcp.json") || p.Fix == "" {
			t.Errorf("%s: at %s:%d:%d, fix %q", tt.entry, p.Path, p.Line, p.Column, p.Fix)
		}
	}
}

// TestFiles: a file that is none is a problem, and never an error.
func TestFiles(t *testing.T) {
	for _, tt := range []struct {
		text         string
		line, column int
	}{
		{"", 1, 1},
		{"{\n\"mcpServers\": {,}}", 2, 16},
		{"[]", 1, 1},
		{"{\"a\": 1}", 1, 1},
		{"{\n \"mcpServers\": []}", 2, 2},
		{"\xef\xbb\xbf{\"mcpServers\": 1}", 1, 2},
	} {
		dir := tree(t, map[string]string{"repo/.mcp.json": tt.text})
		set := mcpconfig.Load(sources(dir))
		if len(set.Problems) != 1 || set.Problems[0].Code != "mcp-config" || len(set.Servers) > 0 {
			t.Errorf("%q: %v", tt.text, set)
			continue
		}
		if p := set.Problems[0]; p.Line != tt.line || p.Column != tt.column {
			t.Errorf("%q: at %d:%d, want %d:%d: %s", tt.text, p.Line, p.Column, tt.line, tt.column, p.Message)
		}
	}
	if set := mcpconfig.Load(mcpconfig.Sources{Flags: []string{"no/such/file.json"}}); len(set.Problems) != 1 {
		t.Error(set.Problems)
	}
	if set := mcpconfig.Load(sources(t.TempDir())); len(set.Problems) > 0 {
		t.Error("without files:", set.Problems)
	}
}

// TestVariables fills in the environment in each field, once.
func TestVariables(t *testing.T) {
	env := map[string]string{"A": "a b", "E": "", "N": "${A}"}
	src := mcpconfig.Sources{Getenv: func(n string) string { return env[n] }, Flags: []string{`{"mcpServers": {
		"p": {"command": "${A}/x", "args": ["${NO:-def}", "${E:-empty}", "$A", "${N}", "${NO:-}", "${a-b}"], "env": {"K": "${A}"}, "timeout": 1500},
		"h": {"type": "http", "url": "https://${NO:-host}/${A}", "headers": {"X": "Bearer ${A}"}}}}`}}
	set := mcpconfig.Load(src)
	if len(set.Problems) > 0 || len(set.Servers) != 2 {
		t.Fatal(set.Problems)
	}
	h, p := set.Servers[0], set.Servers[1]
	if h.URL != "https://host/a b" || h.Headers["X"] != "Bearer a b" {
		t.Error(h)
	}
	want := []string{"def", "empty", "$A", "${A}", "", "${a-b}"}
	if diff := cmp.Diff(want, p.Args); diff != "" || p.Command != "a b/x" || p.Env["K"] != "a b" || p.Timeout != 1500*time.Millisecond {
		t.Error(diff, p)
	}
}

// TestOptions fills in what a plugin was given, once: several values are several
// arguments, none is none, and what needs a value that nobody gave is not started
//
func TestOptions(t *testing.T) {
	plugin := mcpconfig.PluginServers{Plugin: "p", Dir: "/plugin", Data: "/data", Vars: map[string]string{"CLAUDE_PLUGIN_ROOT": "/plugin"},
		Env:     map[string]string{"CLAUDE_PLUGIN_ROOT": "/plugin", "MINE": "theirs"},
		Options: map[string][]string{"k": {"${A}"}, "many": {"/a b", "/c"}, "none": nil, "need": nil}, Unset: []string{"need"}}
	for entry, want := range map[string]string{
		`{"command": "${CLAUDE_PLUGIN_ROOT}/run", "args": ["${user_config.k}"]}`:                   `/plugin/run ["${A}"]`,
		`{"command": "x", "args": ["a", "${user_config.many}", "z"]}`:                              `x ["a" "/a b" "/c" "z"]`,
		`{"command": "x", "args": ["${user_config.none}", "--k=${user_config.none}", "-"]}`:        `x ["--k=" "-"]`,
		`{"command": "x", "args": ["${user_config.none:-d}", "${user_config.k:-d}", "${NO:-d}"]}`:  `x ["d" "${A}" "d"]`,
		`{"command": "x", "args": ["${user_config.typo}", "${user_config.k} ${user_config.k}"]}`:   `x ["${user_config.typo}" "${A} ${A}"]`,
		`{"command": "x", "args": ["${user_config.need}"]}`:                                        "not set: the option need",
		`{"command": "x", "args": ["-n${user_config.need}"], "env": {"A": "${user_config.need}"}}`: "not set: the option need",
		`{"command": "${user_config.need}${NO}"}`:                                                  "not set: the option need, NO",
		`{"type": "http", "url": "https://h", "headers": {"A": "Bearer ${user_config.need}"}}`:     "not set: the option need",
		`{"command": "x", "args": ["${user_config.need:-d}"]}`:                                     `x ["d"]`,
	} {
		plugin.Servers = map[string]json.RawMessage{"s": json.RawMessage(entry)}
		set := mcpconfig.Load(mcpconfig.Sources{Plugins: []mcpconfig.PluginServers{plugin}})
		got := ""
		for _, p := range set.Problems {
			got = p.Message
			if p.Code != "mcp-variable" || !strings.Contains(p.Fix, "knack plugin config p need=") {
				t.Errorf("%s: %v", entry, p)
			}
		}
		for _, s := range set.Servers {
			got = fmt.Sprintf("%s %q", s.Command, s.Args)
			if s.Dir != "/plugin" || s.Data != "/data" || s.Env["CLAUDE_PLUGIN_ROOT"] != "/plugin" || s.Env["MINE"] != "theirs" {
				t.Errorf("%s: %+v", entry, s)
			}
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
	plugin.Servers = map[string]json.RawMessage{"s": json.RawMessage(`{"command": "x", "env": {"MINE": "own"}}`)}
	set := mcpconfig.Load(mcpconfig.Sources{Plugins: []mcpconfig.PluginServers{plugin}})
	if len(set.Servers) != 1 || set.Servers[0].Env["MINE"] != "own" || plugin.Env["MINE"] != "theirs" {
		t.Errorf("%+v", set)
	}
	// Who is no plugin has no options.
	set = mcpconfig.Load(mcpconfig.Sources{Flags: []string{`{"mcpServers": {"s": {"command": "x", "args": ["${user_config.k}"]}}}`}})
	if len(set.Servers) != 1 || set.Servers[0].Args[0] != "${user_config.k}" {
		t.Errorf("%+v", set)
	}
}

// TestApproval: servers of the repository start only with trust and the person's
// word about exactly this entry (S-9, S-14).
func TestApproval(t *testing.T) {
	dir := tree(t, map[string]string{"repo/.mcp.json": `{"mcpServers": {"a": {"command": "x", "args": []}}}`})
	root := filepath.Join(dir, "repo")
	store := mcpconfig.Store{Dir: filepath.Join(dir, "state")}
	load := func() mcpconfig.Set {
		src := sources(dir)
		verdict, err := store.Verdicts(root)
		if err != nil {
			t.Fatal(err)
		}
		src.Verdict = verdict
		return mcpconfig.Load(src)
	}
	state := func() string { s := load(); return fmt.Sprint(len(s.Servers), len(s.Waiting)) }
	if got := state(); got != "0 1" {
		t.Fatal("unknown:", got)
	}
	w := load().Waiting[0]
	if err := store.Answer(root, w.Name, w.Hash, true); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != "1 0" {
		t.Error("allowed:", got)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(root, ".mcp.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"mcpServers": {"a": {"command": "x",
		"args": []}, "b": {"command": "y"}}}`)
	if got := state(); got != "1 1" {
		t.Error("only the layout of a, and a new b:", got)
	}
	write(`{"mcpServers": {"a": {"command": "x", "args": ["rm"]}}}`)
	if got := state(); got != "0 1" {
		t.Error("changed:", got)
	}
	w = load().Waiting[0]
	if err := store.Answer(root, w.Name, w.Hash, false); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != "0 0" {
		t.Error("refused:", got)
	}
	src := sources(dir)
	src.Trusted = false
	set := mcpconfig.Load(src)
	if len(set.Servers)+len(set.Waiting) > 0 || len(set.Problems) != 1 || set.Problems[0].Code != "mcp-untrusted" {
		t.Error("untrusted:", set)
	}
	if err := os.WriteFile(filepath.Join(dir, "state", "mcp-servers.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := store.Verdicts(root); err == nil || v("a", w.Hash) != mcpconfig.Unknown {
		t.Error("a damaged store:", err)
	}
}

// TestLabels: two names that rules cannot tell apart do not both start.
func TestLabels(t *testing.T) {
	set := mcpconfig.Load(mcpconfig.Sources{Flags: []string{`{"mcpServers": {"a b": {"command": "1"}, "a_b": {"command": "2"}, "a__b": {"command": "3"}}}`}})
	if len(set.Servers) != 1 || len(set.Problems) != 2 || set.Problems[0].Code != "mcp-server" {
		t.Error(set)
	}
	for name, want := range map[string]string{"git-hub": "git-hub", "a.b c": "a_b_c", "plugin:p:s": "plugin_p_s", "__": "server", "é": "server", "a__b": "a_b"} {
		if got := mcpconfig.Label(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
