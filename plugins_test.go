package knack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/plugin/fetch"
	"github.com/knack-skills/knack/skill"
)

// A plugged world is a repository with a home, a managed directory and a state
// directory in which a plugin is installed.
type plugged struct {
	t                              *testing.T
	repo, home, managed, stateHome string
}

func newPlugged(t *testing.T, manifest string) plugged {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := plugged{t, filepath.Join(dir, "repo"), filepath.Join(dir, "home"), filepath.Join(dir, "managed"), filepath.Join(dir, "state")}
	w.write(filepath.Join(w.repo, ".git/HEAD"), "")
	w.write(filepath.Join(w.home, ".keep"), "")
	from := filepath.Join(dir, "p")
	w.write(filepath.Join(from, ".claude-plugin/plugin.json"), manifest)
	w.write(filepath.Join(from, "skills/s/SKILL.md"), "---\ndescription: d\n---\nBody ${user_config.k}.\n")
	w.write(filepath.Join(from, "agents/review/security.md"), "---\nname: security\ndescription: d\n---\nReview.\n")
	in := plugin.Installer{Store: plugin.Store{Dir: filepath.Join(w.stateHome, "plugins")}, Fetch: fetch.Fetcher{}}
	all, err := in.PrepareAll(t.Context(), "", "", plugin.Origin{Kind: plugin.Directory, Path: from})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all[0].Commit(plugin.Where{Scope: plugin.User}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w plugged) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w plugged) open(o Options) *Engine {
	w.t.Helper()
	o.Dir, o.Home, o.StateDir, o.NoBundled = w.repo, w.home, w.stateHome, true
	o.Getenv = func(name string) string {
		if name == "KNACK_MANAGED_DIR" {
			return w.managed
		}
		return ""
	}
	e, err := New(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = e.Close() })
	return e
}

func idsOf(e *Engine) string {
	var out []string
	for entry := range e.Snapshot().All() {
		out = append(out, entry.ID)
	}
	return strings.Join(out, " ")
}

func codesOf(e *Engine) (out []string) {
	for _, p := range e.SettingsProblems() {
		out = append(out, p.Code)
	}
	return out
}

// TestEnabledPlugins: what is installed loads when settings that hold switch it
// on; a repository's word waits for trust (spec C-9, X-3, S-9).
func TestEnabledPlugins(t *testing.T) {
	const on, off = `{"enabledPlugins": {"p": true}}`, `{"enabledPlugins": {"p": false}}`
	tests := []struct {
		name                          string
		user, project, local, managed string
		o                             Options
		ids                           string
	}{
		{"nobody", "", "", "", "", Options{}, ""},
		{"user", on, "", "", "", Options{}, "p:s"},
		{"user not read", on, "", "", "", Options{SettingSources: []string{"project"}}, ""},
		{"project, not trusted", "", on, "", "", Options{}, ""},
		{"project", "", on, "", "", Options{Trust: true}, "p:s"},
		{"project may not switch off before trust", on, off, "", "", Options{}, "p:s"},
		{"project switches off", on, off, "", "", Options{Trust: true}, ""},
		{"local is stronger", "", off, on, "", Options{Trust: true}, "p:s"},
		{"managed is strongest", on, on, on, off, Options{Trust: true}, ""},
		{"managed switches on", off, "", "", on, Options{}, "p:s"},
		{"command line", "", "", "", "", Options{Settings: on}, "p:s"},
		{"bare", on, "", "", "", Options{Bare: true}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newPlugged(t, `{"name": "p", "version": "1"}`)
			for path, text := range map[string]string{
				filepath.Join(w.home, ".claude/settings.json"): tt.user, filepath.Join(w.repo, ".claude/settings.json"): tt.project,
				filepath.Join(w.repo, ".claude/settings.local.json"): tt.local, filepath.Join(w.managed, "managed-settings.json"): tt.managed,
			} {
				if text != "" {
					w.write(path, text)
				}
			}
			if got := idsOf(w.open(tt.o)); got != tt.ids {
				t.Errorf("%q, want %q", got, tt.ids)
			}
		})
	}
}

// TestPluginOnly: under strictPluginOnlyCustomization what the person and the
// workspace have is not loaded at all, whatever it calls itself (spec S-11).
func TestPluginOnly(t *testing.T) {
	w := newPlugged(t, `{"name": "p", "version": "1"}`)
	w.write(filepath.Join(w.home, ".claude/settings.json"), `{"enabledPlugins": {"p": true}}`)
	const skillText = "---\nname: p:x\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: evil\n---\n"
	w.write(filepath.Join(w.repo, ".claude/skills/x/SKILL.md"), skillText)
	w.write(filepath.Join(w.repo, ".claude/skills/p:y/SKILL.md"), skillText)
	w.write(filepath.Join(w.repo, ".claude/commands/c.md"), skillText)
	w.write(filepath.Join(w.home, ".claude/skills/u/SKILL.md"), skillText)
	w.write(filepath.Join(w.managed, ".claude/skills/m/SKILL.md"), skillText)
	w.write(filepath.Join(w.repo, ".claude/agents/a.md"), "---\nname: a\ndescription: d\n---\nA.\n")
	add := filepath.Join(filepath.Dir(w.repo), "add")
	w.write(filepath.Join(add, ".claude/skills/z/SKILL.md"), skillText)
	for value, want := range map[string]struct{ ids, agents string }{
		`true`:       {"m p:s", "p:review:security"},
		`["skills"]`: {"m p:s", "a p:review:security"},
		`["agents"]`: {"m u x p:y z c p:s", "p:review:security"},
		`false`:      {"m u x p:y z c p:s", "a p:review:security"},
	} {
		w.write(filepath.Join(w.managed, "managed-settings.json"), `{"strictPluginOnlyCustomization": `+value+`}`)
		e := w.open(Options{Trust: true, AddDirs: []string{add}})
		got := strings.Fields(idsOf(e))
		slices.Sort(got)
		ids := strings.Fields(want.ids)
		slices.Sort(ids)
		if !slices.Equal(got, ids) {
			t.Errorf("%s: %v, want %v", value, got, ids)
		}
		if told := slices.Contains(codesOf(e), "plugin-only"); told != (value != "false") {
			t.Errorf("%s: %v", value, e.SettingsProblems())
		}
		set, err := agentdef.Load(t.Context(), agentdef.Options{Roots: e.AgentRoots(), Trusted: true, NoBuiltin: true})
		if err != nil {
			t.Fatal(err)
		}
		var agents []string
		for _, d := range set.All() {
			agents = append(agents, d.Name)
		}
		slices.Sort(agents)
		if strings.Join(agents, " ") != want.agents {
			t.Errorf("%s: agents %v, want %s", value, agents, want.agents)
		}
	}
}

// TestInlinePlugin: --plugin-dir is on for this run, and stands before an
// installed one of its name.
func TestInlinePlugin(t *testing.T) {
	w := newPlugged(t, `{"name": "p", "version": "1"}`)
	w.write(filepath.Join(w.home, ".claude/settings.json"), `{"enabledPlugins": {"p": true}}`)
	dir := filepath.Join(filepath.Dir(w.repo), "mine")
	w.write(filepath.Join(dir, ".claude-plugin/plugin.json"), `{"name": "p"}`)
	w.write(filepath.Join(dir, "skills/mine/SKILL.md"), "---\ndescription: d\n---\n")
	e := w.open(Options{PluginDirs: []string{dir}})
	if got := idsOf(e); got != "p:mine" || !slices.Contains(codesOf(e), "plugin-duplicate") {
		t.Errorf("%s, %v", got, codesOf(e))
	}
	if p := e.Plugins(); len(p) != 1 || p[0].ID != "p@inline" || p[0].Manifest == nil {
		t.Errorf("%+v", p)
	}
}

// TestPluginOptions: a skill sees values that are no secrets, and hooks see all
// (spec X-2, P-7).
func TestPluginOptions(t *testing.T) {
	w := newPlugged(t, `{"name": "p", "version": "1",
		"userConfig": {"k": {"type": "string"}, "secret": {"type": "string", "sensitive": true}},
		"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "run", "args": ["${user_config.k}", "${user_config.secret}"]}]}]}}`)
	w.write(filepath.Join(w.home, ".claude/settings.json"), `{"enabledPlugins": {"p": true}}`)
	e := w.open(Options{})
	options := e.Plugins()[0].Manifest.Options
	for i, text := range []string{"value", "hidden"} {
		if err := e.PluginValues().Set("p", options[i], text); err != nil && err != plugin.ErrInFile {
			t.Fatal(err)
		}
	}
	if got := e.PluginOptions("p"); len(got) != 1 || got["k"] != "value" {
		t.Errorf("%v", got)
	}
	h := e.PluginHooks()
	if len(h) != 1 || strings.Join(h[0].Config[0].Handlers[0].Args, " ") != "value hidden" || !slices.Contains(h[0].Env, "CLAUDE_PLUGIN_OPTION_secret=hidden") {
		t.Errorf("%+v", h)
	}
	// A keyring is not asked at every event, but again after a reload.
	if err := e.PluginValues().Set("p", options[0], "other"); err != nil {
		t.Fatal(err)
	}
	args := func() string { return strings.Join(e.PluginHooks()[0].Config[0].Handlers[0].Args, " ") }
	if got := args(); got != "value hidden" {
		t.Error(got)
	}
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := args(); got != "other hidden" {
		t.Error(got)
	}
	for entry := range e.Snapshot().All() {
		if entry.Origin.Source != skill.Plugin || !entry.Origin.FromWorkspace() == false {
			t.Errorf("%+v", entry.Origin)
		}
	}
}
