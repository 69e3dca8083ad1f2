package knack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/session"
)

// monorepo is a repository whose parts have skills of their own.
func monorepo(t *testing.T) *lab {
	return newLab(t, map[string]string{
		"repo/.claude/skills/deploy/SKILL.md":                  doc("Ships all"),
		"repo/.gitignore":                                      "dist/\n",
		"repo/apps/.claude/skills/style/SKILL.md":              doc("Style of all apps", `paths: "*.css"`),
		"repo/apps/web/.claude/skills/deploy/SKILL.md":         doc("Ships the web"),
		"repo/apps/web/.claude/skills/style/SKILL.md":          doc("Style of the web", `paths: "/src/*.css"`),
		"repo/apps/web/.agents/skills/lint/SKILL.md":           doc("Lints the web"),
		"repo/apps/web/dist/.claude/skills/trap/SKILL.md":      doc("Was built"),
		"repo/apps/web/src/a.css":                              "",
		"repo/apps/web/node_modules/p/.claude/skills/x/y/z.md": "",
		"repo/apps/api/.claude/skills/empty/notes.txt":         "",
	})
}

func discover(t *testing.T, e *knack.Engine, files ...string) knack.Discovery {
	t.Helper()
	d, err := e.Discover(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDiscover(t *testing.T) { // spec D-1, D-3, D-5
	l := monorepo(t)
	e := l.open()
	equal(t, "at the start", known(e), []string{"deploy=project"})

	d := discover(t, e, "apps/x.css")
	equal(t, "notices", d.Notices(), []string{"skills found in apps: style", "activated by apps/x.css: style"})
	equal(t, "listed", listed(e), []string{"deploy", "style"})

	d = discover(t, e, "apps/web/README.md")
	equal(t, "notices", d.Notices(), []string{"skills found in apps/web: apps/web:deploy, style, lint"})
	equal(t, "below", d.Below(), []string{"apps/web"})
	// The deeper one owns the bare name now, and is not active because the other is.
	equal(t, "listed", listed(e), []string{"apps/web:deploy", "apps:style", "deploy", "lint"})

	equal(t, "not its pattern", discover(t, e, "apps/web/other/a.css").IDs(), nil)
	d = discover(t, e, "apps/web/src/a.css")
	equal(t, "ids", d.IDs(), []string{"style"})
	equal(t, "lasting ids", d.Lasting(), []string{"apps/web:style"})
	equal(t, "notices", d.Notices(), []string{"activated by apps/web/src/a.css: style"})
	equal(t, "no news", discover(t, e, "apps/web/src/a.css", "apps/x.css"), knack.Discovery{})

	d = discover(t, e, "apps/web/dist/a.js", "apps/web/node_modules/p/a.js")
	if len(d.Found)+len(d.Notices()) > 0 || len(d.Refused) != 1 || d.Refused[0].Code != "nested-ignored" {
		t.Errorf("ignored: %+v", d)
	}
	if !strings.Contains(d.Refused[0].Message, `"dist/"`) || !strings.Contains(d.Refused[0].Message, l.base+"/repo/.gitignore") {
		t.Errorf("no pattern, no file: %s", d.Refused[0].Message)
	}
	if p := e.Snapshot().ProblemsOf(l.base + "/repo/apps/web/dist/.claude/skills"); len(p) != 1 {
		t.Errorf("problems %v", p)
	}
	if d = discover(t, e, "apps/api/main.go"); len(d.Notices()) > 0 {
		t.Errorf("nothing was found: %q", d.Notices())
	}

	// A reload loses nothing, and what is no longer ignored is found.
	l.write("repo/.gitignore", "")
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "listed after a reload", listed(e), []string{"apps/web:deploy", "apps:style", "deploy", "lint", "style"})
	d = discover(t, e, "apps/web/dist/b.js")
	equal(t, "notices", d.Notices(), []string{"skills found in apps/web/dist: trap"})
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := e.Snapshot().ProblemsOf(l.base + "/repo/apps/web/dist/.claude/skills"); len(p) != 0 {
		t.Errorf("problems %v", p)
	}

	// What /clear does.
	e.Session().Forget()
	equal(t, "after /clear", listed(e), []string{"apps/web:deploy", "deploy", "lint", "trap"})
	equal(t, "again", discover(t, e, "apps/web/src/a.css").IDs(), []string{"style", "apps:style"})
}

// TestDiscoverOnResume: a session that goes on has what it found (spec M-4).
func TestDiscoverOnResume(t *testing.T) {
	l := monorepo(t)
	first := l.open()
	discover(t, first, "apps/web/src/a.css")
	m, ok := first.Announce(session.Main)
	if !ok || !strings.Contains(m.Text, "- apps/web:deploy: Ships the web") {
		t.Fatalf("announced %q", m.Text)
	}
	s := first.Session()
	equal(t, "remembered", s.Below(), []string{"apps/web", "apps"})
	s.FoundBelow("../outside", "/etc", "gone")
	e := l.open(func(o *knack.Options) { o.Session = s })
	equal(t, "listed", listed(e), listed(first))
	if m, ok := e.Announce(session.Main); ok {
		t.Errorf("told again: %q", m.Text)
	}
	equal(t, "no news", discover(t, e, "apps/web/src/a.css"), knack.Discovery{})
}

// TestDiscoverKnown needs no file of a directory that is known (spec D-2).
func TestDiscoverKnown(t *testing.T) {
	l := newLab(t, map[string]string{
		"repo/.claude/skills/ts/SKILL.md": doc("TypeScript", `paths: "*.ts"`), "repo/a/b/x.go": "",
	})
	e := l.open()
	discover(t, e, "a/b/x.go")
	if err := os.RemoveAll(l.base + "/repo/a"); err != nil {
		t.Fatal(err)
	}
	equal(t, "ids", discover(t, e, "a/b/new.ts").IDs(), []string{"ts"})
}

// TestDiscoverEdited: a condition counts as it is now (spec D-3).
func TestDiscoverEdited(t *testing.T) {
	l := newLab(t, map[string]string{"repo/.claude/skills/ts/SKILL.md": doc("TypeScript", `paths: "*.ts"`)})
	e := l.open()
	equal(t, "before", discover(t, e, "a.js").IDs(), nil)
	l.write("repo/.claude/skills/ts/SKILL.md", doc("TypeScript", `paths: "*.js"`))
	equal(t, "before the reload", discover(t, e, "a.js").IDs(), nil)
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "old pattern", discover(t, e, "a.ts").IDs(), nil)
	equal(t, "new pattern", discover(t, e, "a.js").IDs(), []string{"ts"})
	l.write("repo/.claude/skills/ts/SKILL.md", doc("TypeScript rules", `paths: "*.rs"`))
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "still active", listed(e), []string{"ts"})
	equal(t, "no news", discover(t, e, "a.js", "a.rs"), knack.Discovery{})
}

// TestDiscoverTrust: nested skills came with the repository (spec S-9).
func TestDiscoverTrust(t *testing.T) {
	l := newLab(t, map[string]string{"repo/a/.claude/skills/x/SKILL.md": doc("X", "allowed-tools: Bash(rm *)")})
	e := l.open()
	discover(t, e, "a/x")
	entry, err := e.Snapshot().Resolve("x")
	if err != nil || !entry.Origin.FromWorkspace() {
		t.Fatalf("%+v, %v", entry, err)
	}
	inert, err := e.Inert(t.Context())
	if err != nil || len(inert) != 1 || !strings.Contains(inert[0], "skill x") {
		t.Errorf("%q, %v", inert, err)
	}
}

// TestDiscoverNothing: a run that has no project skills finds none.
func TestDiscoverNothing(t *testing.T) {
	for name, change := range map[string]func(*knack.Options){
		"bare":         func(o *knack.Options) { o.Bare = true },
		"plugins only": func(*knack.Options) {},
		"no projects":  func(o *knack.Options) { o.SettingSources = []string{"user"} },
	} {
		l := monorepo(t)
		if name == "plugins only" {
			l.write("etc/managed-settings.json", `{"strictPluginOnlyCustomization": ["skills"]}`)
		}
		e := l.open(change)
		if d := discover(t, e, "apps/web/src/a.css"); len(d.Found)+len(d.Activated) > 0 || len(known(e)) > 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestDiscoverCancelled: what was found is not lost with the call.
func TestDiscoverCancelled(t *testing.T) {
	e := monorepo(t).open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Discover(ctx, "apps/web/x"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "known", known(e), []string{"apps/web:deploy=project", "apps:style=project", "deploy=project", "lint=project", "style=project"})
}

func TestNoticesAreShort(t *testing.T) {
	var many []*catalog.Entry
	for i := range 8 {
		many = append(many, &catalog.Entry{ID: fmt.Sprint("s", i)})
	}
	d := knack.Discovery{Found: []knack.FoundSkills{{Below: "a", Skills: many}, {Below: "none"}}}
	equal(t, "notices", d.Notices(), []string{"skills found in a: s0, s1, s2, s3, s4 and 3 more"})
}

// BenchmarkTouchKnown is the whole of a touch in a directory that is known.
func BenchmarkTouchKnown(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		text := doc("Rules", fmt.Sprintf(`paths: ["src/%d/**/*.ts", "*.x%d"]`, i, i))
		path := filepath.Join(dir, fmt.Sprintf(".claude/skills/s%d/SKILL.md", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "src/a/b/c"), 0o755); err != nil {
		b.Fatal(err)
	}
	e, err := knack.New(b.Context(), knack.Options{Dir: dir, Home: dir + "/home", StateDir: dir + "/state", Getenv: func(string) string { return "" }})
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(dir, "src/a/b/c/x.ts")
	e.Touch(file)
	b.ReportAllocs()
	for b.Loop() {
		e.Touch(file)
	}
}
