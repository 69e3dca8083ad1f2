package settings_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
)

// A tree is a set of settings directories.
type tree struct {
	root string
	src  settings.Sources
}

// newTree writes files, named by level: managed, managed.d/NAME, user, project,
// local and flag.
func newTree(t interface {
	TempDir() string
	Fatal(...any)
}, files map[string]string) tree {
	root := t.TempDir()
	tr := tree{root: root, src: settings.Sources{
		Managed: []string{filepath.Join(root, "etc")}, UserDir: filepath.Join(root, "home", ".claude"),
		ProjectDir: filepath.Join(root, "repo"), Home: filepath.Join(root, "home"),
	}}
	for name, text := range files {
		path := tr.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if name == "flag" {
			tr.src.Flag = path
		}
	}
	return tr
}

func (tr tree) path(name string) string {
	if part, ok := strings.CutPrefix(name, "managed.d/"); ok {
		return filepath.Join(tr.root, "etc", "managed-settings.d", part)
	}
	return filepath.Join(tr.root, map[string]string{
		"managed": "etc/managed-settings.json",
		"user":    "home/.claude/settings.json",
		"project": "repo/.claude/settings.json",
		"local":   "repo/.claude/settings.local.json",
		"flag":    "flags/extra.json",
	}[name])
}

// brief is problems as "name:line:column: severity [code]", name as in newTree.
func (tr tree) brief(problems []skill.Problem) []string {
	var out []string
	for _, p := range problems {
		name := p.Path
		for _, n := range []string{"managed", "user", "project", "local", "flag"} {
			if tr.path(n) == p.Path {
				name = n
			}
		}
		out = append(out, fmt.Sprintf("%s:%d:%d: %s [%s]", name, p.Line, p.Column, p.Severity, p.Code))
	}
	return out
}

func TestLevels(t *testing.T) {
	tr := newTree(t, map[string]string{
		"managed":           `{"model": "m0", "effort": "low", "skillOverrides": {"a": "off"}}`,
		"managed.d/10.json": `{"model": "m10"}`,
		"managed.d/9.json":  `{"model": "m9"}`, // bytes, not numbers: 9 comes after 10
		"managed.d/.x.json": `{"model": "hidden"}`,
		"managed.d/x.txt":   `{"model": "text"}`,
		"flag":              `{"effort": "medium", "skillListing": "ranked", "skillOverrides": {"a": "on", "b": "off"}}`,
		"local":             `{"skillListing": "equal", "afterCompaction": "full", "skillListingBudget": 10}`,
		"project":           `{"afterCompaction": "none", "skillListingMaxDescChars": 20, "skillListingBudget": 20}`,
		"user":              `{"skillListingBudgetFraction": 0.5, "skillListingMaxDescChars": 30, "skillOverrides": {"b": "on", "c": "name-only"}}`,
	})
	s := settings.Load(tr.src)
	if len(s.Problems) > 0 {
		t.Errorf("problems: %v", s.Problems)
	}
	got := []any{s.Model, s.Effort, s.SkillListing, s.AfterCompaction, *s.SkillListingBudget, *s.SkillListingMaxDescChars, *s.SkillListingBudgetFraction, s.SkillOverrides}
	want := []any{"m9", "low", "ranked", "full", 10, 20, 0.5, map[string]string{"a": "off", "b": "off", "c": "name-only"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for key, name := range map[string]string{
		"model": "managed.d/9.json", "effort": "managed", "skillListing": "flag", "afterCompaction": "local",
		"skillListingMaxDescChars": "project", "skillOverrides.b": "flag", "skillOverrides.c": "user", "skillOverrides": "managed",
	} {
		if got := s.From(key); got != tr.path(name) {
			t.Errorf("From(%q) = %s, want %s", key, got, tr.path(name))
		}
	}
	if got := s.From("skillOverrides.z"); got != "" {
		t.Errorf("From of what nobody sets: %s", got)
	}
	var order []settings.Level
	for _, f := range s.Files {
		order = append(order, f.Level)
	}
	if want := []settings.Level{"managed", "managed", "managed", "command-line", "local", "project", "user"}; !slices.Equal(order, want) {
		t.Errorf("files %v, want %v", order, want)
	}
}

func TestListsMerge(t *testing.T) {
	tr := newTree(t, map[string]string{
		"managed":          `{"permissions": {"deny": ["Read(a)"]}, "strictKnownMarketplaces": [{"source": "x"}]}`,
		"managed.d/a.json": `{"strictKnownMarketplaces": [{"source":"y"}, {"source":"x"}], "blockedMarketplaces": ["b"]}`,
		"user":             `{"permissions": {"deny": ["Read(b)", "Read(a)"]}, "skillPrecedence": ["user", "bundled"], "hooks": {"Stop": [{"u": 1}], "Start": [3]}}`,
		"flag":             `{"skillPrecedence": ["mcp"], "hooks": {"Stop": [{"f": "<"}, {"u":1}]}}`,
	})
	s := settings.Load(tr.src)
	for _, tt := range []struct{ name, got, want string }{
		{"deny", fmt.Sprint(s.Permissions.Deny), "[Read(a) Read(b)]"},
		{"precedence is one value", fmt.Sprint(s.SkillPrecedence), "[mcp]"},
		{"hooks", string(s.Hooks), `{"Start":[3],"Stop":[{"f":"<"},{"u":1}]}`},
		{"strict", string(s.StrictKnownMarketplaces), `[{"source":"y"},{"source":"x"}]`},
		{"blocked", string(s.BlockedMarketplaces), `["b"]`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestMissing(t *testing.T) {
	tr := newTree(t, nil)
	s := settings.Load(tr.src)
	if len(s.Problems) > 0 || len(s.Files) != 4 || s.Root != tr.src.ProjectDir {
		t.Errorf("got %d files, problems %v, root %s", len(s.Files), s.Problems, s.Root)
	}
	for _, f := range s.Files {
		if f.Exists {
			t.Errorf("%s exists", f.Path)
		}
	}
	if diff := cmp.Diff(settings.Values{}, s.Values); diff != "" {
		t.Error(diff)
	}
	if s := settings.Load(settings.Sources{}); len(s.Files) > 0 || len(s.Problems) > 0 {
		t.Errorf("no sources: %v %v", s.Files, s.Problems)
	}
}

func TestOnly(t *testing.T) {
	tr := newTree(t, map[string]string{
		"managed": `{"env": {"M": "1"}}`, "flag": `{"env": {"F": "1"}}`, "user": `{"env": {"U": "1"}}`,
		"project": `{"env": {"P": "1"}}`, "local": `{"env": {"L": "1"}}`,
	})
	for _, tt := range []struct {
		only []settings.Level
		want string
	}{
		{nil, "map[F:1 L:1 M:1 P:1 U:1]"},
		{[]settings.Level{}, "map[F:1 M:1]"},
		{[]settings.Level{settings.UserLevel}, "map[F:1 M:1 U:1]"},
		{[]settings.Level{settings.ProjectLevel, settings.LocalLevel}, "map[F:1 L:1 M:1 P:1]"},
	} {
		src := tr.src
		src.Only = tt.only
		if got := fmt.Sprint(settings.Load(src).ForTrust(true).Env); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.only, got, tt.want)
		}
	}
}

func TestFlag(t *testing.T) {
	tr := newTree(t, map[string]string{"user": `{"model": "u"}`})
	for _, tt := range []struct {
		flag, model, from, problem string
	}{
		{`{"model": "x"}`, "x", "--settings", ""},
		{"\n {\"model\": \"x\"} ", "x", "--settings", ""},
		{`{"model": `, "u", tr.path("user"), "--settings:1:11: error [settings-syntax]"},
		{filepath.Join(tr.root, "none.json"), "u", tr.path("user"), filepath.Join(tr.root, "none.json") + ":0:0: error [settings-unreadable]"},
		{tr.root, "u", tr.path("user"), tr.root + ":0:0: error [settings-unreadable]"},
		{"", "u", tr.path("user"), ""},
	} {
		src := tr.src
		src.Flag = tt.flag
		s := settings.Load(src)
		if got := strings.Join(tr.brief(s.Problems), "\n"); s.Model != tt.model || s.From("model") != tt.from || got != tt.problem {
			t.Errorf("%q: model %s from %s, problems %s", tt.flag, s.Model, s.From("model"), got)
		}
	}
}

// TestHomeAsProject: in the home directory the project file is the user's own,
// and is neither read twice nor distrusted.
func TestHomeAsProject(t *testing.T) {
	tr := newTree(t, map[string]string{"user": `{"mcpInline": true, "permissions": {"allow": ["Read"]}}`})
	tr.src.ProjectDir = tr.src.Home
	s := settings.Load(tr.src)
	rules, problems := s.Rules(false)
	if len(s.Problems)+len(problems) > 0 || len(rules.Allow) != 1 || s.MCPInline == nil {
		t.Errorf("problems %v %v, rules %v", s.Problems, problems, rules)
	}
	tr.src.Only = []settings.Level{settings.ProjectLevel}
	if s := settings.Load(tr.src); len(s.From("permissions.allow")) == 0 {
		t.Error("the file is not read at all when only project settings are wanted")
	}
}

func TestAdditionalDirectories(t *testing.T) {
	tr := newTree(t, map[string]string{"user": `{"permissions": {"additionalDirectories": ["~/x", "~", "../y", "/z", "~a"]}}`})
	repo := tr.src.ProjectDir
	want := []string{filepath.Join(tr.src.Home, "x"), tr.src.Home, filepath.Join(filepath.Dir(repo), "y"), "/z", filepath.Join(repo, "~a")}
	if got := settings.Load(tr.src).Permissions.AdditionalDirectories; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestArgumentBaseValue(t *testing.T) {
	for text, want := range map[string]int{`{}`: 0, `{"argumentBase": 0}`: 0, `{"argumentBase": 1}`: 1, `{"argumentBase": "auto"}`: -1, `{"argumentBase": 2}`: 0, `{"argumentBase": "1"}`: 0} {
		s := settings.Load(settings.Sources{Flag: text})
		if got := s.ArgumentBaseValue(); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
		if wrong := len(s.Problems) > 0; wrong != strings.ContainsAny(text[1:], `2`) && wrong != strings.Contains(text, `"1"`) {
			t.Errorf("%s: problems %v", text, s.Problems)
		}
	}
}

// TestWaitsForTrust is the gate of S-9 over values.
func TestWaitsForTrust(t *testing.T) {
	text := `{
  "env": {"PATH": "/evil"},
  "hooks": {"Stop": []},
  "disableAllHooks": true,
  "allowBundledOverride": true,
  "skillPrecedence": ["project"],
  "skillKeywords": {"fix": "evil"},
  "permissions": {"defaultMode": "acceptEdits", "additionalDirectories": ["/"]},
  "model": "m"
}`
	for _, level := range []string{"project", "local"} {
		tr := newTree(t, map[string]string{level: text, "user": `{"env": {"PATH": "/bin"}}`})
		s := settings.Load(tr.src)
		want := settings.Values{Model: "m", Env: map[string]string{"PATH": "/bin"}}
		if diff := cmp.Diff(want, s.Values); diff != "" {
			t.Errorf("%s, not trusted: %s", level, diff)
		}
		if got := tr.brief(s.Problems); !slices.Equal(got, []string{level + ":8:49: warning [setting-untrusted]"}) {
			t.Errorf("%s: problems %v", level, got)
		}
		if got := s.From("env.PATH"); got != tr.path("user") {
			t.Errorf("%s: PATH from %s", level, got)
		}
		s = s.ForTrust(true)
		if s.Env["PATH"] != "/evil" || s.Hooks == nil || !*s.DisableAllHooks || !*s.AllowBundledOverride || len(s.SkillPrecedence) != 1 || s.SkillKeywords["fix"] != "evil" ||
			s.Permissions.DefaultMode != "acceptEdits" || len(s.Permissions.AdditionalDirectories) != 1 || len(s.Problems) != 0 {
			t.Errorf("%s, trusted: %+v %v", level, s.Values, s.Problems)
		}
		if got := s.From("env.PATH"); got != tr.path(level) {
			t.Errorf("%s: PATH from %s", level, got)
		}
	}
}

// TestBounds: what a level may not say does not hold, and is reported (S-11).
func TestBounds(t *testing.T) {
	for _, key := range []string{
		`"allowManagedHooksOnly": true`, `"allowManagedPermissionRulesOnly": true`, `"strictPluginOnlyCustomization": ["skills"]`,
		`"strictKnownMarketplaces": []`, `"blockedMarketplaces": []`,
		`"mcpInline": true`, `"sandbox": "off"`, `"permissions": {"defaultMode": "bypassPermissions"}`,
	} {
		policy := strings.Contains(key, "anaged") || strings.Contains(key, "arketplaces") || strings.Contains(key, "strict")
		for _, level := range []string{"managed", "flag", "user", "project", "local"} {
			tr := newTree(t, map[string]string{level: "{" + key + "}"})
			s := settings.Load(tr.src).ForTrust(true)
			may := level == "managed" || !policy && (level == "flag" || level == "user")
			if holds := !cmp.Equal(s.Values, settings.Values{}); holds != may {
				t.Errorf("%s in %s: holds %v", key, level, holds)
			}
			reported := len(s.Problems) == 1 && s.Problems[0].Code == "setting-level" && s.Problems[0].Severity == skill.Warning
			if reported == may {
				t.Errorf("%s in %s: problems %v", key, level, s.Problems)
			}
		}
	}
}

func TestSandboxOnlyGetsStricter(t *testing.T) {
	for _, tt := range []struct{ flag, user, project, local, want, from string }{
		{"", "on", "required", "", "required", "project"},
		{"", "required", "on", "", "required", "user"},
		{"off", "required", "", "", "off", "flag"}, // the person's own word for this run
		{"off", "", "", "on", "on", "local"},
		{"", "", "on", "required", "required", "local"},
		{"", "", "required", "on", "required", "project"},
	} {
		files := map[string]string{}
		for name, v := range map[string]string{"flag": tt.flag, "user": tt.user, "project": tt.project, "local": tt.local} {
			if v != "" {
				files[name] = `{"sandbox": "` + v + `"}`
			}
		}
		tr := newTree(t, files)
		s := settings.Load(tr.src)
		if s.Sandbox != tt.want || s.From("sandbox") != tr.path(tt.from) {
			t.Errorf("%v: got %s from %s", tt, s.Sandbox, s.From("sandbox"))
		}
	}
}

func TestNoShellHolds(t *testing.T) {
	tr := newTree(t, map[string]string{
		"project": `{"disableSkillShellExecution": false}`, "user": `{"disableSkillShellExecution": true}`,
	})
	s := settings.Load(tr.src)
	if !*s.DisableSkillShellExecution || s.From("disableSkillShellExecution") != tr.path("user") {
		t.Errorf("%v from %s", *s.DisableSkillShellExecution, s.From("disableSkillShellExecution"))
	}
}

// TestMergeLaws: whatever levels say, each list holds all items, and each key
// of an object has the word of the strongest.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type content struct {
			Permissions struct {
				Deny []string `json:"deny"`
			} `json:"permissions"`
			SkillKeywords map[string]string `json:"skillKeywords"`
		}
		word := rapid.StringMatching(`[a-d]`)
		files := map[string]string{}
		all := map[string]bool{}
		want := map[string]string{}
		for _, level := range []string{"user", "project", "local", "flag", "managed"} { // weakest first
			var c content
			c.Permissions.Deny = rapid.SliceOf(word).Draw(t, level+" deny")
			c.SkillKeywords = rapid.MapOf(word, word).Draw(t, level+" keywords")
			for _, d := range c.Permissions.Deny {
				all[d] = true
			}
			for k, v := range c.SkillKeywords {
				want[k] = v
			}
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			files[level] = string(text)
		}
		s := loadOf(t, files).ForTrust(true)
		if len(s.Permissions.Deny) != len(all) {
			t.Fatalf("deny %q, want those of %v", s.Permissions.Deny, all)
		}
		for _, d := range s.Permissions.Deny {
			if !all[d] {
				t.Fatalf("%q came from nowhere", d)
			}
		}
		if len(want) > 0 && !cmp.Equal(want, s.SkillKeywords) {
			t.Fatalf("keywords %v, want %v", s.SkillKeywords, want)
		}
	})
}

// tempDir lends a directory to newTree inside a property.
type tempDir struct {
	*rapid.T
	dir string
}

func (d tempDir) TempDir() string { return d.dir }

// loadOf loads the levels of one try of a property.
func loadOf(t *rapid.T, files map[string]string) *settings.Settings {
	dir, err := os.MkdirTemp("", "settings")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	return settings.Load(newTree(tempDir{t, dir}, files).src)
}
