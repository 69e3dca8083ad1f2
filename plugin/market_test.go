package plugin_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/settings"
	source "github.com/knack-skills/knack/source/plugin"
)

// marketplace makes one in a directory: plugins in it, one that shares a skill by
// a link, one whose entry says everything.
func marketplace(t *testing.T) string {
	t.Helper()
	dir := write(t, t.TempDir(), map[string]string{
		".claude-plugin/marketplace.json": `{"name": "team", "owner": {"name": "Team"}, "metadata": {"pluginRoot": "./plugins"}, "plugins": [
			{"name": "one", "source": "./plugins/one", "version": "9", "description": "first"},
			{"name": "bare", "source": "one"},
			{"name": "some", "source": "./", "strict": false, "skills": ["./pool/b", "./pool/c"]},
			{"name": "clash", "source": "./plugins/clash", "strict": false, "skills": ["./x"]},
			{"name": "linked", "source": "./plugins/linked"},
			{"name": "needs", "source": "./plugins/needs"},
			{"name": "circle", "source": "./plugins/circle"},
			{"name": "out", "source": "../elsewhere"},
			{"name": "abs", "source": "/etc"},
			{"name": "one", "source": "./plugins/two"},
			{"name": "no source"},
			{"name": "ext", "source": {"source": "url", "url": "ext::sh -c true"}},
			{"name": "home", "source": {"source": "directory", "path": "/home"}},
			{"name": "git", "source": {"source": "git-subdir", "url": "https://example.org/x.git", "path": "p", "commit": "0123456789012345678901234567890123456789"}}]}`,
		"plugins/one/.claude-plugin/plugin.json":    `{"name": "one", "version": "1.2.3"}`,
		"plugins/one/skills/s/SKILL.md":             described,
		"plugins/clash/.claude-plugin/plugin.json":  `{"name": "clash", "skills": "./y"}`,
		"plugins/clash/x/SKILL.md":                  described,
		"plugins/linked/.claude-plugin/plugin.json": `{"name": "linked"}`,
		"plugins/needs/.claude-plugin/plugin.json":  `{"name": "needs", "version": "1", "dependencies": ["circle", {"name": "one", "version": "^1.0"}]}`,
		"plugins/needs/skills/n/SKILL.md":           described,
		"plugins/circle/.claude-plugin/plugin.json": `{"name": "circle", "version": "1", "dependencies": ["needs"]}`,
		"plugins/circle/skills/c/SKILL.md":          described,
		"pool/a/SKILL.md":                           described,
		"pool/b/SKILL.md":                           described,
		"pool/c/SKILL.md":                           described,
		"skills/d/SKILL.md":                         described,
	})
	must(t, os.Symlink(filepath.FromSlash("../../pool"), filepath.Join(dir, "plugins", "linked", "skills")))
	return dir
}

func known(t *testing.T, in plugin.Installer, dir string) {
	t.Helper()
	m, problems := plugin.ReadMarket(dir)
	if m == nil {
		t.Fatal(problems)
	}
	_, err := in.Store.KeepMarket("", plugin.Known{Name: m.Name, Origin: plugin.Origin{Kind: plugin.Directory, Path: dir}, Path: dir}, "")
	must(t, err)
}

// TestMarket installs from a marketplace (spec X-4).
func TestMarket(t *testing.T) {
	in := installer(t.TempDir())
	dir := marketplace(t)
	known(t, in, dir)
	tests := []struct{ name, version, skills, err string }{
		{"one", "1.2.3", "one:s", ""},
		{"bare", "1.2.3", "bare:s", ""},
		{"some", "", "some:b some:c", ""},
		{"linked", "", "linked:a linked:b linked:c", ""},
		{"clash", "", "", "strict is false"},
		{"out", "", "", "leads out"},
		{"abs", "", "", "leads out"},
		{"ext", "", "", "no repository"},
		{"home", "", "", "cannot stand in a marketplace"},
		{"nope", "", "", "has no plugin nope"},
	}
	for _, tt := range tests {
		all, err := in.PrepareAll(t.Context(), tt.name, "team", plugin.Origin{})
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		must(t, err)
		p := all[0]
		if got := strings.Join(p.Brings.Skills, " "); got != tt.skills || tt.version != "" && p.Record.Version != tt.version || p.Record.ID != tt.name+"@team" {
			t.Errorf("%s: %q %+v", tt.name, got, p.Record)
		}
		must(t, p.Discard())
	}
	m, problems := plugin.ReadMarket(dir)
	if len(problems) != 6 || m.Owner != "Team" {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
	if o, ok := m.Find("git"); !ok || o.Origin.Kind != plugin.Git || o.Origin.SHA == "" || o.Origin.Path != "p" {
		t.Errorf("%+v", o)
	}
}

// TestDependencies come along, once, and before the plugin that needs them.
func TestDependencies(t *testing.T) {
	in := installer(t.TempDir())
	dir := marketplace(t)
	known(t, in, dir)
	all, err := in.PrepareAll(t.Context(), "needs", "team", plugin.Origin{})
	must(t, err)
	var got []string
	for _, p := range all {
		got = append(got, p.Record.ID)
		must(t, p.Discard())
	}
	if strings.Join(got, " ") != "circle@team one@team needs@team" {
		t.Errorf("%v", got)
	}
	write(t, dir, map[string]string{"plugins/one/.claude-plugin/plugin.json": `{"name": "one", "version": "2.0.0"}`})
	all, err = in.PrepareAll(t.Context(), "needs", "team", plugin.Origin{})
	if err == nil || !strings.Contains(err.Error(), "^1.0 is needed") {
		t.Errorf("%v", err)
	}
	for _, p := range all {
		must(t, p.Discard())
	}
}

// TestBadMarket is refused as a whole, for one stated reason.
func TestBadMarket(t *testing.T) {
	for data, why := range map[string]string{
		`[]`: "no JSON", `{"name": "a b", "plugins": []}`: "cannot be its name", `{"name": "a"}`: `no list "plugins"`, `{"name": "a", "plugins": {}}`: "no JSON",
	} {
		dir := write(t, t.TempDir(), map[string]string{plugin.MarketFile: data})
		m, problems := plugin.ReadMarket(dir)
		if m != nil || len(problems) != 1 || problems[0].Code != "marketplace" || !strings.Contains(problems[0].Message, why) {
			t.Errorf("%s: %v", data, problems)
		}
	}
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, ".claude-plugin"), 0o755))
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, filepath.FromSlash(plugin.MarketFile))))
	if m, _ := plugin.ReadMarket(dir); m != nil {
		t.Error("a link out was read")
	}
}

// TestNames: nobody takes the name of a marketplace that is known, or of its maker's.
func TestNames(t *testing.T) {
	s := plugin.Store{Dir: t.TempDir()}
	a := plugin.Known{Name: "team", Origin: plugin.Origin{Kind: plugin.GitHub, Repo: "o/a"}, Path: "marketplaces/x"}
	_, err := s.KeepMarket("", a, "")
	must(t, err)
	a.Origin = plugin.Origin{Kind: plugin.Git, URL: "git@github.com:O/A.git"} // the same one
	_, err = s.KeepMarket("", a, "")
	must(t, err)
	a.Origin = plugin.Origin{Kind: plugin.GitHub, Repo: "o/b"}
	if _, err := s.KeepMarket("", a, ""); err == nil {
		t.Error("another marketplace took the name")
	}
	for repo, fine := range map[string]bool{"anthropics/skills": true, "anthropics-x/skills": false, "someone/skills": false} {
		_, err := plugin.Store{Dir: t.TempDir()}.KeepMarket("", plugin.Known{Name: "agent-skills", Origin: plugin.Origin{Kind: plugin.GitHub, Repo: repo}}, "")
		if (err == nil) != fine {
			t.Errorf("%s: %v", repo, err)
		}
	}
	must(t, s.ForgetMarket("team"))
	if err := s.ForgetMarket("team"); !errors.Is(err, plugin.ErrUnknownMarket) {
		t.Error(err)
	}
}

// TestPolicy holds origins against both lists of the administrator (spec S-11).
func TestPolicy(t *testing.T) {
	gh := plugin.Origin{Kind: plugin.GitHub, Repo: "Acme/Plugins"}
	tests := []struct {
		strict, blocked string
		name            string
		origin          plugin.Origin
		fine            bool
	}{
		{"", "", "team", gh, true},
		{`[]`, "", "team", gh, false},
		{`[]`, "", "", plugin.Origin{Kind: plugin.Directory, Path: "/x"}, false},
		{`["team"]`, "", "team", gh, true},
		{`["acme/plugins"]`, "", "team", gh, true},
		{`["https://github.com/acme/plugins.git"]`, "", "team", gh, true},
		{`["acme/plugin"]`, "", "team", gh, false},
		{`[{"source": "github", "repo": "acme/plugins"}]`, "", "team", gh, true},
		{`[{"source": "github", "repo": "acme/plugins", "ref": "v1"}]`, "", "team", gh, false},
		{`[{"source": "github", "repo": "acme/plugins"}]`, "", "team", plugin.Origin{Kind: plugin.Git, URL: "https://github.com/acme/plugins"}, true},
		{`[{"source": "git", "url": "https://git.acme.org/p.git"}]`, "", "team", plugin.Origin{Kind: plugin.Git, URL: "https://git.acme.org/p"}, true},
		{`[{"source": "hostPattern", "hostPattern": ".*\\.acme\\.org"}]`, "", "team", plugin.Origin{Kind: plugin.Git, URL: "https://git.acme.org/p"}, true},
		{`[{"source": "hostPattern", "hostPattern": "acme\\.org"}]`, "", "team", plugin.Origin{Kind: plugin.Git, URL: "https://evil-acme.org.example/p"}, false},
		{`[{"source": "directory", "path": "/opt/plugins"}]`, "", "team", plugin.Origin{Kind: plugin.Directory, Path: "/opt/plugins"}, true},
		{`[{"source": "pathPattern", "pathPattern": "/opt/.*"}]`, "", "team", plugin.Origin{Kind: plugin.Directory, Path: "/opt/../home/x"}, false},
		{`[{"source": "npm", "package": "@acme/p"}]`, "", "", plugin.Origin{Kind: plugin.NPM, Package: "@acme/p"}, true},
		{`[7]`, "", "team", gh, false},
		{"", `["team"]`, "team", gh, false},
		{"", `["acme/plugins"]`, "other", gh, false},
		{"", `[{"source": "github", "repo": "acme/plugins"}]`, "other", plugin.Origin{Kind: plugin.Git, URL: "ssh://git@github.com/acme/plugins.git"}, false},
		{"", `["else"]`, "team", gh, true},
		{"", `[7]`, "team", gh, false},
		{"", `["*"]`, "team", gh, false},
		{`["team"]`, `["acme/plugins"]`, "team", gh, false},
	}
	for _, tt := range tests {
		s := &settings.Settings{}
		if tt.strict != "" {
			s.StrictKnownMarketplaces = json.RawMessage(tt.strict)
		}
		if tt.blocked != "" {
			s.BlockedMarketplaces = json.RawMessage(tt.blocked)
		}
		p, problems := plugin.PolicyOf(s)
		err := p.Allows(tt.name, tt.origin)
		if (err == nil) != tt.fine || (len(problems) > 0) != strings.Contains(tt.strict+tt.blocked, "7") {
			t.Errorf("%+v: %v %v", tt, err, problems)
		}
		if _, ok := errors.AsType[*plugin.PolicyError](err); err != nil && !ok {
			t.Errorf("%T", err)
		}
	}
}

// TestPolicyAtLoad: a plugin that is on and that policy turned against is left out
// with the reason (spec S-11).
func TestPolicyAtLoad(t *testing.T) {
	in := installer(t.TempDir())
	known(t, in, marketplace(t))
	_, err := install(t, in, "one", "team", plugin.Origin{}, plugin.Where{Scope: plugin.User})
	must(t, err)
	set := enabled("one@team", "gone@team")
	active, problems := in.Store.Active(set)
	if len(active) != 1 || len(problems) != 1 || problems[0].Code != "plugin-missing" {
		t.Fatalf("%v %v", active, problems)
	}
	set.BlockedMarketplaces = json.RawMessage(`["team"]`)
	active, problems = in.Store.Active(set)
	if len(active) != 0 || !slices.ContainsFunc(problems, func(p problem) bool { return p.Code == "plugin-blocked" }) {
		t.Errorf("%v %v", active, problems)
	}
	in.Policy, _ = plugin.PolicyOf(set)
	if _, err := in.PrepareAll(t.Context(), "one", "team", plugin.Origin{}); err == nil {
		t.Error("installed against policy")
	}
}

// TestValidate names what is wrong before others find it.
func TestValidate(t *testing.T) {
	checked, problems, err := plugin.Validate(t.Context(), marketplace(t))
	must(t, err)
	var codes []string
	for _, p := range problems {
		if !slices.Contains(codes, p.Code) {
			codes = append(codes, p.Code)
		}
	}
	slices.Sort(codes)
	if checked != 8 || strings.Join(codes, " ") != "marketplace-entry plugin-manifest" {
		t.Errorf("%d %v", checked, problems)
	}
	dir := write(t, t.TempDir(), map[string]string{source.ManifestFile: `{"name": "p", "skill": "./x", "displayName": "P"}`})
	_, problems, err = plugin.Validate(t.Context(), dir)
	if err != nil || len(problems) != 2 || problems[0].Code != "plugin-unknown-key" || !strings.Contains(problems[0].Fix, "skills") || problems[1].Code != "plugin-empty" {
		t.Errorf("%v %v", problems, err)
	}
}
