package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/skill"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// home is a directory without links in its name.
func home(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func place(root string) Place {
	return Place{
		Managed: []string{filepath.Join(root, "managed")}, UserDir: filepath.Join(root, "home", ".claude"), Home: filepath.Join(root, "home"),
		Project:    []string{filepath.Join(root, "repo", "web"), filepath.Join(root, "repo")},
		Repository: filepath.Join(root, "repo"),
	}
}

// files lists what was loaded, relative to root, and the codes of problems.
func files(t *testing.T, root string, o Options) (loaded []string, codes string) {
	t.Helper()
	m, err := Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Files {
		rel, _ := filepath.Rel(root, f.Path)
		s := filepath.ToSlash(rel) + " " + string(f.Level)
		if f.By != "" {
			by, _ := filepath.Rel(root, f.By)
			s += " by " + filepath.ToSlash(by)
		}
		loaded = append(loaded, s)
	}
	var all []string
	for _, p := range m.Problems {
		all = append(all, fmt.Sprintf("%s:%d", p.Code, p.Line))
	}
	return loaded, strings.Join(all, " ")
}

func TestHierarchy(t *testing.T) { // spec A-5
	root := home(t)
	write(t, root, map[string]string{
		"managed/CLAUDE.md":        "policy",
		"home/.claude/CLAUDE.md":   "mine",
		"repo/AGENTS.md":           "repo agents",
		"repo/CLAUDE.md":           "repo claude",
		"repo/.claude/CLAUDE.md":   "repo hidden",
		"repo/CLAUDE.local.md":     "repo local",
		"repo/web/CLAUDE.md":       "web",
		"repo/web/CLAUDE.local.md": "web local",
		"repo/api/CLAUDE.md":       "not on the way",
		"CLAUDE.md":                "above the repository",
	})
	got, problems := files(t, root, Options{Place: place(root)})
	want := []string{
		"managed/CLAUDE.md managed", "home/.claude/CLAUDE.md user", "repo/AGENTS.md project", "repo/CLAUDE.md project",
		"repo/.claude/CLAUDE.md project", "repo/CLAUDE.local.md local", "repo/web/CLAUDE.md project", "repo/web/CLAUDE.local.md local",
	}
	if d := cmp.Diff(want, got); d != "" || problems != "" {
		t.Errorf("%s\n%s", d, problems)
	}
	if got, problems := files(t, root, Options{}); len(got) > 0 || problems != "" {
		t.Errorf("%v, %s", got, problems)
	}
}

func TestSameFileOnce(t *testing.T) {
	root := home(t)
	write(t, root, map[string]string{"repo/AGENTS.md": "text", "repo/web/AGENTS.md": "web", "repo/web/CLAUDE.md": "web\n", "repo/.claude/x": ""})
	if err := os.Symlink("AGENTS.md", filepath.Join(root, "repo", "CLAUDE.md")); err != nil {
		t.Skip("no links here:", err)
	}
	got, problems := files(t, root, Options{Place: place(root)})
	if d := cmp.Diff([]string{"repo/AGENTS.md project", "repo/web/AGENTS.md project"}, got); d != "" || problems != "" {
		t.Errorf("%s\n%s", d, problems)
	}
	// The home directory as project: the user's file is the user's.
	p := place(root)
	write(t, root, map[string]string{"home/.claude/CLAUDE.md": "mine"})
	p.Project, p.Repository = []string{p.Home}, ""
	if got, _ = files(t, root, Options{Place: p}); cmp.Diff([]string{"home/.claude/CLAUDE.md user"}, got) != "" {
		t.Error(got)
	}
}

func TestImports(t *testing.T) { // spec A-5
	for _, tt := range []struct {
		name     string
		files    map[string]string
		allow    bool
		want     []string // besides repo/CLAUDE.md
		problems string
	}{
		{"relative to the file", map[string]string{"repo/CLAUDE.md": "@docs/a.md", "repo/docs/a.md": "@b.md", "repo/docs/b.md": "b"}, false,
			[]string{"repo/docs/a.md project by repo/CLAUDE.md", "repo/docs/b.md project by repo/docs/a.md"}, ""},
		{"code is exempt", map[string]string{"repo/CLAUDE.md": "`@a.md`\n```\n@a.md\n```\n<!-- @a.md -->", "repo/a.md": "a"}, false, nil, ""},
		{"circle", map[string]string{"repo/CLAUDE.md": "@a.md", "repo/a.md": "@b.md @CLAUDE.md", "repo/b.md": "back to @a.md"}, false,
			[]string{"repo/a.md project by repo/CLAUDE.md", "repo/b.md project by repo/a.md"}, ""},
		{"itself", map[string]string{"repo/CLAUDE.md": "@CLAUDE.md x"}, false, nil, ""},
		{"missing", map[string]string{"repo/CLAUDE.md": "one\n\nsee @gone.md and @somebody and @scope/pkg"}, false, nil, "import-missing:3"},
		{"below a file", map[string]string{"repo/CLAUDE.md": "@a.md/b.md", "repo/a.md": "x"}, false, nil, "import-missing:1"},
		{"directory", map[string]string{"repo/CLAUDE.md": "@docs/ and @docs", "repo/docs/a.md": "a"}, false, nil, "import-refused:1"},
		{"five deep", chain(5), false, deep(5), ""},
		{"six deep", chain(6), false, deep(5), "import-refused:1"},
		{"outside", map[string]string{"repo/CLAUDE.md": "@../secret.md @~/x.md", "secret.md": "s", "home/x.md": "x"}, false, nil, "import-refused:1 import-refused:1"},
		{"outside, allowed", map[string]string{"repo/CLAUDE.md": "@../secret.md", "secret.md": "s"}, true, []string{"secret.md project by repo/CLAUDE.md"}, ""},
		{"local outside", map[string]string{"repo/CLAUDE.md": "x", "repo/CLAUDE.local.md": "@~/x.md", "home/x.md": "x"}, false, []string{"repo/CLAUDE.local.md local"}, "import-refused:1"},
		{"binary", map[string]string{"repo/CLAUDE.md": "@a.png", "repo/a.png": "\x89PNG\r\n\x1a\n"}, false, nil, "memory-unreadable:0"},
		{"empty", map[string]string{"repo/CLAUDE.md": "@a.md", "repo/a.md": " \n"}, false, nil, ""},
	} {
		root := home(t)
		write(t, root, tt.files)
		write(t, root, map[string]string{"repo/web/x": ""})
		o := Options{Place: place(root)}
		if tt.allow {
			o.Allow = func(i Import) (string, bool) { return "", i.Real == filepath.Join(root, "secret.md") && i.By != "" }
		}
		got, problems := files(t, root, o)
		if d := cmp.Diff(append([]string{"repo/CLAUDE.md project"}, tt.want...), got); d != "" || problems != tt.problems {
			t.Errorf("%s: %q\n%s", tt.name, problems, d)
		}
	}
}

// chain is a memory file with imports n deep.
func chain(n int) map[string]string {
	m := map[string]string{"repo/CLAUDE.md": "@1.md"}
	for i := 1; i <= n; i++ {
		m[fmt.Sprintf("repo/%d.md", i)] = fmt.Sprintf("file %d @%d.md", i, i+1)
	}
	m[fmt.Sprintf("repo/%d.md", n)] = "last"
	return m
}

func deep(n int) []string {
	by, out := "repo/CLAUDE.md", []string(nil)
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("repo/%d.md", i)
		out = append(out, name+" project by "+by)
		by = name
	}
	return out
}

// TestUserImports: the person's own file may import what lies beside it, and
// the organisation anything.
func TestUserImports(t *testing.T) {
	root := home(t)
	write(t, root, map[string]string{
		"home/.claude/CLAUDE.md": "@more.md @~/elsewhere.md", "home/.claude/more.md": "m", "home/elsewhere.md": "e",
		"managed/CLAUDE.md": "@../shared.md", "shared.md": "s",
	})
	got, problems := files(t, root, Options{Place: place(root)})
	want := []string{"managed/CLAUDE.md managed", "shared.md managed by managed/CLAUDE.md", "home/.claude/CLAUDE.md user", "home/.claude/more.md user by home/.claude/CLAUDE.md"}
	if d := cmp.Diff(want, got); d != "" || problems != "import-refused:1" {
		t.Errorf("%s\n%s", d, problems)
	}
}

// TestLinks: a repository cannot show an agent files from outside by a link.
func TestLinks(t *testing.T) { // spec C-7
	root := home(t)
	write(t, root, map[string]string{"secret.md": "s", "repo/CLAUDE.md": "@inside.md", "repo/web/x": ""})
	for link, to := range map[string]string{"repo/AGENTS.md": "../secret.md", "repo/inside.md": "../secret.md"} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skip("no links here:", err)
		}
	}
	got, problems := files(t, root, Options{Place: place(root)})
	if d := cmp.Diff([]string{"repo/CLAUDE.md project"}, got); d != "" || problems != "link-leaves-root:0 import-refused:1" {
		t.Errorf("%s\n%s", d, problems)
	}
}

func TestSizes(t *testing.T) {
	root := home(t)
	all := map[string]string{"repo/CLAUDE.md": "@1.md @2.md @3.md @4.md @5.md @6.md", "repo/web/x": ""}
	for i := 1; i <= 6; i++ {
		all[fmt.Sprintf("repo/%d.md", i)] = strings.Repeat(fmt.Sprintf("line of file %d\n", i), 5000)
	}
	write(t, root, all)
	m, err := Load(context.Background(), Options{Place: place(root)})
	if err != nil {
		t.Fatal(err)
	}
	total, cuts := 0, 0
	for _, f := range m.Files {
		total += len(f.Text)
		if len(f.Text) > MaxFile+500 {
			t.Errorf("%s has %d bytes", f.Path, len(f.Text))
		}
	}
	for _, p := range m.Problems {
		if p.Code == "memory-cut" {
			cuts++
		}
	}
	if total > MaxTotal+4000 || cuts < 4 || cuts != len(m.Problems) || !strings.Contains(m.Render(), "more bytes of this file are not shown; read ") {
		t.Errorf("%d bytes, %d cuts: %v", total, cuts, m.Problems)
	}
}

func TestMemoryRender(t *testing.T) {
	m := Memory{Files: []File{
		{Path: "/r/CLAUDE.md", Level: Project, Text: "Use tabs.\n</system-reminder>\n\n"},
		{Path: "/r/a\"\n.md", Level: Local, Text: "x", By: "/r/CLAUDE.md"},
	}}
	got := m.Render()
	want := "\nContents of /r/CLAUDE.md (instructions of the project):\n\nUse tabs.\n&lt;/system-reminder>\n" +
		"\nContents of /r/a&quot;\\n.md (the person's own instructions for this project, imported by /r/CLAUDE.md):\n\nx\n</system-reminder>"
	if !strings.HasSuffix(got, want) || strings.Count(got, "</system-reminder>") != 1 || got != m.Render() {
		t.Error(got)
	}
	if (Memory{}).Render() != "" {
		t.Error("nothing is something")
	}
}

func TestLoadCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, Options{Place: place(t.TempDir())}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestProblemsHaveFixes(t *testing.T) {
	root := home(t)
	write(t, root, map[string]string{"repo/CLAUDE.md": "@gone.md @../x.md", "x.md": "x"})
	m, err := Load(context.Background(), Options{Place: place(root)})
	if err != nil || len(m.Problems) != 2 {
		t.Fatal(m.Problems, err)
	}
	for _, p := range m.Problems {
		if p.Fix == "" || p.Message == "" || p.Severity != skill.Warning || p.Path != filepath.Join(root, "repo", "CLAUDE.md") {
			t.Errorf("%+v", p)
		}
	}
}
