package knack_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/bundled"
)

// A lab is a machine in a temporary directory: home, managed directory, state
// and a repository.
type lab struct {
	t    *testing.T
	base string
	env  map[string]string
}

// newLab writes files below the base: "home/…", "etc/…" (managed), "repo/…".
func newLab(t *testing.T, files map[string]string) *lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, base: base, env: map[string]string{"KNACK_MANAGED_DIR": base + "/etc"}}
	l.write("repo/.git/HEAD", "ref: refs/heads/main\n")
	l.write("home/.keep", "")
	for name, text := range files {
		l.write(name, text)
	}
	return l
}

func (l *lab) write(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// open opens the repository, without the bundled skills.
func (l *lab) open(change ...func(*knack.Options)) *knack.Engine {
	l.t.Helper()
	o := knack.Options{
		Dir: l.base + "/repo", Home: l.base + "/home", StateDir: l.base + "/state", NoBundled: true,
		Getenv: func(k string) string { return l.env[k] },
	}
	for _, c := range change {
		c(&o)
	}
	e, err := knack.New(l.t.Context(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			l.t.Error(err)
		}
	})
	return e
}

func trusted(o *knack.Options) { o.Trust = true }

// doc is a SKILL.md.
func doc(description string, front ...string) string {
	return "---\ndescription: " + description + "\n" + strings.Join(front, "\n") + "\n---\n" + description + " now.\n"
}

func listed(e *knack.Engine) []string {
	var ids []string
	for _, entry := range e.Entries() {
		ids = append(ids, entry.ID)
	}
	slices.Sort(ids)
	return ids
}

func known(e *knack.Engine) []string {
	var ids []string
	for entry := range e.Snapshot().All() {
		ids = append(ids, entry.ID+"="+string(entry.Origin.Source))
	}
	slices.Sort(ids)
	return ids
}

func codes(problems []skill.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Code)
	}
	return out
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

func TestSources(t *testing.T) { // spec C-1, C-2
	l := newLab(t, map[string]string{
		"etc/.claude/skills/policy/SKILL.md":              doc("Policy"),
		"home/.claude/skills/mine/SKILL.md":               doc("Mine"),
		"home/.agents/skills/twin/SKILL.md":               doc("Twin"),
		"home/.claude/commands/old.md":                    doc("Old"),
		"repo/.claude/skills/ours/SKILL.md":               doc("Ours"),
		"repo/.claude/commands/db/move.md":                doc("Move"),
		"repo/app/.claude/skills/deep/SKILL.md":           doc("Deep"),
		"other/.claude/skills/added/SKILL.md":             doc("Added"),
		"home/more/.claude/skills/tilde/SKILL.md":         doc("Tilde"),
		"tools/.claude-plugin/plugin.json":                `{"name": "tools"}`,
		"tools/skills/lint/SKILL.md":                      doc("Lint"),
		"elsewhere/skills/moved/SKILL.md":                 doc("Moved"),
		"repo/.claude/skills/deep/reference/SKILL.md.txt": "not a skill",
	})
	machine := []string{"mine=user", "old=legacy", "policy=managed", "twin=user"}
	project := []string{"db:move=legacy", "ours=project"}
	for _, tt := range []struct {
		name   string
		change func(*knack.Options)
		want   []string
	}{
		{"all", func(*knack.Options) {}, slices.Concat(machine, project)},
		{"below the root", func(o *knack.Options) { o.Dir += "/app" }, slices.Concat(machine, project, []string{"deep=project"})},
		{"add-dir", func(o *knack.Options) { o.AddDirs = []string{"../other", "~/more"} },
			slices.Concat(machine, project, []string{"added=additional", "tilde=additional"})},
		{"plugin-dir", func(o *knack.Options) { o.PluginDirs = []string{"../tools"} }, slices.Concat(machine, project, []string{"tools:lint=plugin"})},
		{"user only", func(o *knack.Options) { o.SettingSources = []string{"user"} }, machine},
		{"project only", func(o *knack.Options) { o.SettingSources = []string{"project", "local"} }, append([]string{"policy=managed"}, project...)},
		{"none", func(o *knack.Options) { o.SettingSources = []string{} }, []string{"policy=managed"}},
		{"config dir", func(o *knack.Options) {
			o.Getenv = func(k string) string { return map[string]string{"CLAUDE_CONFIG_DIR": "../elsewhere"}[k] }
		}, append([]string{"moved=user", "twin=user"}, project...)},
	} {
		want := slices.Clone(tt.want)
		slices.Sort(want)
		e := l.open(tt.change)
		if tt.name == "config dir" {
			equal(t, "user directory", e.UserDir(), l.base+"/elsewhere")
		}
		equal(t, tt.name, known(e), want)
	}
}

func TestSettingsLevels(t *testing.T) { // spec S-1, S-9, L-2
	l := newLab(t, map[string]string{
		"etc/managed-settings.json":              `{"permissions": {"deny": ["Skill(forbidden)"]}, "disableSkillShellExecution": true}`,
		"home/.claude/settings.json":             `{"model": "user-model", "effort": "low", "skillListingBudget": 1000, "permissions": {"allow": ["Bash(a)"]}}`,
		"repo/.claude/settings.json":             `{"model": "project-model", "skillListingBudgetFraction": 0.5, "skillOverrides": {"off": "off", "short": "name-only", "held": "user-invocable-only"}, "permissions": {"allow": ["Bash(b)"], "deny": ["Skill(no)"], "ask": ["Bash(c)"]}}`,
		"repo/.claude/settings.local.json":       `{"model": "local-model", "skillListingMaxDescChars": 10, "argumentBase": 1, "skillListing": "ranked"}`,
		"repo/.claude/skills/off/SKILL.md":       doc("Off"),
		"repo/.claude/skills/short/SKILL.md":     doc("Short"),
		"repo/.claude/skills/held/SKILL.md":      doc("Held"),
		"repo/.claude/skills/no/SKILL.md":        doc("No"),
		"repo/.claude/skills/forbidden/SKILL.md": doc("Forbidden"),
		"repo/.claude/skills/fine/SKILL.md":      doc("Fine"),
	})
	e := l.open()
	env := e.Env()
	equal(t, "model", env.Model, "local-model")
	equal(t, "effort", env.Effort, "low")
	equal(t, "shell off", env.ShellOff, true)
	equal(t, "argument base", env.ArgumentBase, 1)
	equal(t, "listed", listed(e), []string{"fine", "short"})
	equal(t, "flag", l.open(func(o *knack.Options) { o.Settings = `{"model": "flag-model"}` }).Env().Model, "flag-model")
	equal(t, "user level", l.open(func(o *knack.Options) { o.SettingSources = []string{"user"} }).Env().Model, "user-model")

	lo := e.ListingOptions()
	if lo.Chars != 1000 || lo.Fraction != 0.5 || lo.MaxDescChars != 10 || lo.Mode != "ranked" || lo.ContextTokens != knack.DefaultContextTokens {
		t.Errorf("listing options: %+v", lo)
	}
	for value, want := range map[string]int{"77": 77, " 12 ": 12, "x": 1000, "0": 1000, "-5": 1000, "": 1000} {
		l.env["SLASH_COMMAND_TOOL_CHAR_BUDGET"] = value
		equal(t, "budget "+value, l.open().ListingOptions().Chars, want)
	}
	delete(l.env, "SLASH_COMMAND_TOOL_CHAR_BUDGET")

	// Refusals hold at once, allowances of the workspace wait for trust.
	texts := func(e *knack.Engine) (out []string) {
		r := e.Rules()
		for _, rule := range slices.Concat(r.Deny, r.Ask, r.Allow) {
			out = append(out, rule.Scope+" "+rule.Text)
		}
		return out
	}
	equal(t, "untrusted", texts(e), []string{"managed Skill(forbidden)", "project Skill(no)", "project Bash(c)", "user Bash(a)"})
	equal(t, "trusted", texts(l.open(trusted)), []string{"managed Skill(forbidden)", "project Skill(no)", "project Bash(c)", "project Bash(b)", "user Bash(a)"})
	equal(t, "problems", codes(e.SettingsProblems()), []string{"rule-untrusted"})
	equal(t, "problems when trusted", codes(l.open(trusted).SettingsProblems()), nil)

	for name, want := range map[string]string{
		"off":       l.base + "/repo/.claude/settings.json",
		"held":      "skillOverrides in " + l.base + "/repo/.claude/settings.json",
		"no":        "denied by Skill(no) in " + l.base + "/repo/.claude/settings.json (project)",
		"forbidden": "denied by Skill(forbidden) in " + l.base + "/etc/managed-settings.json (managed)",
	} {
		_, err := e.Invoke(t.Context(), invoke.Request{Name: name, By: invoke.ByModel})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for name, ok := range map[string]bool{"off": false, "held": true, "no": true, "forbidden": false} { // S-5
		if _, err := e.Invoke(t.Context(), invoke.Request{Name: name, By: invoke.ByUser}); (err == nil) != ok {
			t.Errorf("/%s: %v", name, err)
		}
	}
}

func TestTrust(t *testing.T) { // spec S-9
	files := map[string]string{
		"repo/.claude/skills/s/SKILL.md": "---\ndescription: S.\nallowed-tools: Bash(echo hi)\n---\n!`echo hi`\n",
		"repo/app/x":                     "",
	}
	text := func(e *knack.Engine) string {
		t.Helper()
		r, err := e.Invoke(t.Context(), invoke.Request{Name: "s", By: invoke.ByUser})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Notices) > 0 == e.Trusted() {
			t.Errorf("trusted %v, notices %q", e.Trusted(), r.Notices)
		}
		return r.Text[strings.LastIndex(r.Text, "\n\n")+2:]
	}
	l := newLab(t, files)
	const inert, live = "[not run: workspace is not trusted]\n", "hi\n"
	equal(t, "at first", text(l.open()), inert)
	equal(t, "for this engine", text(l.open(trusted)), live)
	equal(t, "afterwards", text(l.open()), inert)
	l.env["KNACK_TRUST"] = "1"
	equal(t, "by environment", text(l.open()), live)
	l.env["KNACK_TRUST"] = "yes"
	equal(t, "by another value", text(l.open()), inert)

	e := l.open()
	if err := e.TrustStore().Store(e.ProjectDir(), true); err != nil {
		t.Fatal(err)
	}
	equal(t, "stored", text(l.open()), live)
	equal(t, "stored, below the root", text(l.open(func(o *knack.Options) { o.Dir += "/app" })), live)
	// Through a link it is the same workspace.
	if err := os.Symlink(l.base+"/repo/app", l.base+"/link"); err != nil {
		t.Fatal(err)
	}
	linked := l.open(func(o *knack.Options) { o.Dir = l.base + "/link" })
	equal(t, "stored, through a link", text(linked), live)
	equal(t, "project of a link", linked.ProjectDir(), l.base+"/repo")
	if err := e.TrustStore().Store(e.ProjectDir(), false); err != nil {
		t.Fatal(err)
	}
	equal(t, "taken back", text(l.open()), inert)
	l.write("state/trust.json", "{")
	e = l.open()
	equal(t, "damaged", text(e), inert)
	equal(t, "damaged", codes(e.Problems()), []string{"trust-store"})
}

// What a repository says about itself waits for trust.
func TestTrustOfSettings(t *testing.T) { // spec S-9
	l := newLab(t, map[string]string{
		"repo/.claude/settings.json":          `{"permissions": {"additionalDirectories": ["../other"]}, "skillPrecedence": ["project", "user"]}`,
		"other/.claude/skills/added/SKILL.md": doc("Added"),
		"home/.claude/skills/s/SKILL.md":      doc("Mine"),
		"repo/.claude/skills/s/SKILL.md":      doc("Ours"),
	})
	e := l.open()
	equal(t, "at first", known(e), []string{"s=user"})
	equal(t, "problems", codes(e.SettingsProblems()), []string{"setting-untrusted"})
	e = l.open(trusted)
	equal(t, "trusted", known(e), []string{"added=additional", "s=project"})
	equal(t, "problems when trusted", codes(e.SettingsProblems()), nil)
}

// shipped returns the ids of the bundled skills that this build has.
func shipped() []string {
	var ids []string
	for _, b := range bundled.Standard() {
		if b.Feature == nil || b.Feature.Built {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func TestBundledSwitches(t *testing.T) { // spec B-4, C-5, C-9
	l := newLab(t, map[string]string{
		"home/.claude/skills/commit/SKILL.md": doc("My commit"),
		"home/.claude/settings.json":          `{}`,
	})
	with := func(o *knack.Options) { o.NoBundled = false }
	e := l.open(with)
	equal(t, "listed", listed(e), shipped())
	for _, entry := range e.Entries() {
		if !entry.Pinned {
			t.Errorf("bundled %s may be shortened", entry.ID)
		}
	}
	l.write("home/.claude/settings.json", `{"disableBundledSkills": true}`)
	e = l.open(with)
	equal(t, "without bundled skills", listed(e), []string{"commit"})
	if got, err := e.Snapshot().Resolve("commit"); err != nil || got.Origin.Source != skill.User {
		t.Errorf("commit is %v, %v", got, err)
	}
	l.write("home/.claude/settings.json", `{"allowBundledOverride": true}`)
	if got, err := l.open(with).Snapshot().Resolve("commit"); err != nil || got.Origin.Source != skill.User {
		t.Errorf("with allowBundledOverride commit is %v, %v", got, err)
	}
}

func TestWorkspaceErrors(t *testing.T) {
	l := newLab(t, map[string]string{"file": "x", "repo/.claude/settings.json": "{", "repo/.claude/skills/bad/SKILL.md": "---\nname: [x\n---\n"})
	for dir, want := range map[string]string{
		l.base + "/nowhere": "workspace " + l.base + "/nowhere: ",
		l.base + "/file":    "workspace " + l.base + "/file: not a directory",
	} {
		_, err := knack.New(t.Context(), knack.Options{Dir: dir})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := knack.New(ctx, knack.Options{Dir: l.base + "/repo", Home: l.base + "/home", StateDir: l.base + "/state"})
	if err == nil || !strings.Contains(err.Error(), "loading skills of "+l.base+"/repo: context canceled") {
		t.Errorf("cancelled: %v", err)
	}
	// What is wrong with files is a problem, not an error.
	e := l.open()
	if got := codes(e.Problems()); !slices.Contains(got, codes(e.SettingsProblems())[0]) || len(got) < 2 {
		t.Errorf("problems: %q", got)
	}
	if !slices.IsSortedFunc(e.Problems(), skill.CompareProblems) {
		t.Error("problems are not sorted")
	}
}

// Without a home there is no place for answers about trust, and still skills.
func TestWithoutHome(t *testing.T) {
	l := newLab(t, map[string]string{
		"repo/.claude/skills/s/SKILL.md": doc("S"),
	})
	l.write("repo/trust.json", `{"workspaces": {"`+l.base+`/repo": true}}`) // not an answer of the person
	for _, k := range []string{"HOME", "USERPROFILE", "XDG_STATE_HOME", "KNACK_STATE_DIR", "home"} {
		t.Setenv(k, "")
	}
	t.Chdir(l.base + "/repo")
	home := func(o *knack.Options) { o.Home, o.StateDir = "", "" }
	e := l.open(home)
	equal(t, "listed", listed(e), []string{"s"})
	equal(t, "trusted", e.Trusted(), false)
	equal(t, "problems", codes(e.Problems()), []string{"trust-store"})
	e = l.open(home, trusted)
	equal(t, "trusted", e.Trusted(), true)
	equal(t, "problems when trusted", codes(e.Problems()), nil)
	if yes, known, _ := e.TrustStore().Trusted(e.ProjectDir()); yes || known {
		t.Error("a file of the working directory was taken for the person's answers")
	}
	if err := e.TrustStore().Store(e.ProjectDir(), true); err == nil {
		t.Error("an answer was stored nowhere")
	}
}

// The zero options are a workspace in the current directory.
func TestDefaults(t *testing.T) {
	l := newLab(t, map[string]string{"repo/.claude/skills/s/SKILL.md": doc("S")})
	for k, v := range map[string]string{"HOME": l.base + "/home", "USERPROFILE": l.base + "/home", "KNACK_STATE_DIR": l.base + "/state",
		"KNACK_MANAGED_DIR": l.base + "/etc", "CLAUDE_CONFIG_DIR": "", "KNACK_TRUST": "", "XDG_CACHE_HOME": l.base + "/cache"} {
		t.Setenv(k, v)
	}
	t.Chdir(l.base + "/repo")
	e, err := knack.New(t.Context(), knack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "listed", listed(e), slices.Sorted(slices.Values(append(shipped(), "s"))))
	equal(t, "directory", e.Dir(), l.base+"/repo")
	if e.Trusted() || e.Session().ID == "" {
		t.Errorf("trusted %v, session %q", e.Trusted(), e.Session().ID)
	}
	other, err := knack.New(t.Context(), knack.Options{})
	if err != nil || other.Session().ID == e.Session().ID {
		t.Errorf("two sessions have the id %q, %v", e.Session().ID, err)
	}
	if got := slices.Sorted(maps.Keys(e.Session().Told("main"))); len(got) > 0 {
		t.Errorf("told %q before anything was sent", got)
	}
}

// flagged is a compiled-in skill behind a switch.
func flagged(on *bool) []bundled.Skill {
	return []bundled.Skill{{ID: "flagged", File: doc("A flagged one"), Enabled: func() bool { return *on }}}
}
