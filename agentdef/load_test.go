package agentdef

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/skill"
)

func file(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nYou are %s.\n", name, description, name)
}

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

func load(t *testing.T, o Options) *Set {
	t.Helper()
	s, err := Load(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLevels: the same name at every level, strongest removed one by one.
func TestLevels(t *testing.T) { // spec A-4
	root := t.TempDir()
	place := Place{
		Managed: []string{filepath.Join(root, "managed")},
		Project: []string{filepath.Join(root, "repo", "web"), filepath.Join(root, "repo")},
		UserDir: filepath.Join(root, "home", ".claude"), Additional: []string{filepath.Join(root, "more")},
		Repository: filepath.Join(root, "repo"),
	}
	given, problems, err := Parse(`{"Explore": {"description": "given", "prompt": "p"}}`)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	levels := []struct{ path, description string }{
		{"managed/.claude/agents/e.md", "managed"},
		{"", "given"},
		{"repo/web/.claude/agents/deep/e.md", "near"},
		{"repo/.claude/agents/e.md", "far"},
		{"more/.claude/agents/e.md", "more"},
		{"home/.claude/agents/e.md", "user"},
		{"", Builtin()[1].Description},
	}
	files := map[string]string{}
	for _, l := range levels {
		if l.path != "" {
			files[l.path] = file("Explore", l.description)
		}
	}
	write(t, root, files)
	winner := func(trusted bool) *Definition {
		s := load(t, Options{Roots: place.Roots(), Given: given, Trusted: trusted})
		d, err := s.Lookup("Explore")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := winner(false); d.Description != "managed" {
		t.Errorf("not trusted: %q", d.Description)
	}
	for i, l := range levels {
		if got := winner(true).Description; got != l.description {
			t.Errorf("level %d: %q, want %q", i, got, l.description)
		}
		if l.path != "" {
			if err := os.Remove(filepath.Join(root, filepath.FromSlash(l.path))); err != nil {
				t.Fatal(err)
			}
		}
		if l.description == "given" {
			given = nil
		}
	}
}

// TestUntrustedReplacesNothing (spec S-9).
func TestUntrustedReplacesNothing(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{".claude/agents/a.md": file("general-purpose", "mine now"), ".claude/agents/b.md": file("own", "fine")})
	roots := Place{Project: []string{root}}.Roots()
	s := load(t, Options{Roots: roots})
	if d, err := s.Lookup(""); err != nil || d.Origin.Source != skill.Bundled {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := s.Lookup("own"); err != nil {
		t.Error(err)
	}
	if codes(s.Problems()) != "agent-shadowed" || len(s.Shadowed()) != 1 {
		t.Errorf("%v", s.Problems())
	}
	if d, _ := load(t, Options{Roots: roots, Trusted: true}).Lookup(""); d.Description != "mine now" {
		t.Errorf("trusted: %q", d.Description)
	}
}

func TestScan(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"agents/a.md":            file("a", "d"),
		"agents/b.MD":            file("b", "d"),
		"agents/x/y/c.md":        file("c", "d"),
		"agents/.templates/t.md": file("t", "d"),
		"agents/README.md":       "# Agents\n",
		"agents/notes.txt":       "x",
		"agents/twice.md":        file("a", "other"),
		"agents/bad.md":          "---\nname: bad\ntools: {x: y}\n---\nb",
		"outside/o.md":           file("o", "d"),
		"repo/in.md":             file("in", "d"),
	})
	agents := filepath.Join(root, "agents")
	for link, to := range map[string]string{"o.md": "../outside/o.md", "in.md": "../repo/in.md", "gone.md": "nothing", "loop": "../agents", "dir": "../repo"} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(agents, link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	s := load(t, Options{Roots: []Root{{Path: agents, Source: skill.Project, Boundary: filepath.Join(root, "repo")}}, NoBuiltin: true, Trusted: true})
	var names, found []string
	for _, d := range s.All() {
		names = append(names, d.Name)
	}
	for _, p := range s.Problems() {
		found = append(found, p.Code+" "+filepath.Base(p.Path))
	}
	if d := cmp.Diff([]string{"a", "b", "bad", "c", "in"}, names); d != "" {
		t.Error(d)
	}
	slices.Sort(found)
	want := []string{"agent-shadowed in.md", "agent-shadowed twice.md", "agent-undescribed bad.md", "dangling-link gone.md",
		"link-leaves-root o.md", "not-an-agent README.md", "security-field-lost bad.md"}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}
	_, err := s.Lookup("bad")
	if e, ok := errors.AsType[*UnusableError](err); !ok || !strings.Contains(e.Error(), "tools cannot be read") {
		t.Errorf("%v", err)
	}
}

func TestManyFiles(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{}
	for i := range maxFiles + 5 {
		files[fmt.Sprintf("%04d.md", i)] = file(fmt.Sprintf("a%d", i), "d")
	}
	files["1/2/3/4/5/6/7/8/deep.md"] = file("deep", "d")
	write(t, root, files)
	s := load(t, Options{Roots: []Root{{Path: root, Source: skill.User}}, NoBuiltin: true})
	if len(s.All()) != maxFiles || codes(s.Problems()) != "too-many-agents too-deep" {
		t.Errorf("%d, %v", len(s.All()), s.Problems())
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, Options{Roots: []Root{{Path: t.TempDir()}}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRoots: the directory that is the user's is not the project's.
func TestRoots(t *testing.T) {
	home := t.TempDir()
	p := Place{Project: []string{home}, UserDir: filepath.Join(home, ".claude")}
	want := []Root{{Path: filepath.Join(home, ".claude", "agents"), Source: skill.User}}
	if d := cmp.Diff(want, p.Roots()); d != "" {
		t.Error(d)
	}
}

func TestPluginNames(t *testing.T) { // spec X-2
	root := t.TempDir()
	write(t, root, map[string]string{"agents/r.md": file("review", "d")})
	s := load(t, Options{Roots: []Root{{Path: filepath.Join(root, "agents"), Source: skill.Plugin, Owner: "tools"}}, NoBuiltin: true})
	if _, err := s.Lookup("tools:review"); err != nil {
		t.Error(err)
	}
	_, err := s.Lookup("review")
	if e, ok := errors.AsType[*UnknownError](err); !ok || !slices.Equal(e.Near, []string{"tools:review"}) {
		t.Errorf("%v", err)
	}
}

func TestUnknown(t *testing.T) { // spec I-8
	s := load(t, Options{})
	for name, want := range map[string]string{
		"explore":         `unknown agent type "explore"; did you mean "Explore"? Known agent types: "Explore", "Plan", "general-purpose"`,
		"general_purpose": `unknown agent type "general_purpose"; did you mean "general-purpose"? Known agent types: "Explore", "Plan", "general-purpose"`,
		"general":         `unknown agent type "general"; did you mean "general-purpose"? Known agent types: "Explore", "Plan", "general-purpose"`,
		"reviewer":        `unknown agent type "reviewer". Known agent types: "Explore", "Plan", "general-purpose"`,
	} {
		if _, err := s.Lookup(name); err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
	for _, hostile := range []string{"../x", "a\x00b", strings.Repeat("x", 1<<20), "\xff"} {
		if _, err := s.Lookup(hostile); err == nil {
			t.Errorf("%.20q was found", hostile)
		}
	}
	if _, err := load(t, Options{NoBuiltin: true}).Lookup(""); err == nil || !strings.Contains(err.Error(), "no agent types") {
		t.Error(err)
	}
}

func TestBuiltin(t *testing.T) { // spec A-4
	for _, d := range Builtin() {
		if d.Description == "" || len(d.Prompt) < 1000 || badName(d.Name) != "" {
			t.Errorf("%+v", d)
		}
		if d.Name == GeneralPurpose {
			continue
		}
		p := PoolOf(d, Fork{}, every)
		for _, tool := range []string{"Write", "Edit", "MultiEdit", "CronCreate", "Agent"} {
			if slices.Contains(p.Names, tool) {
				t.Errorf("%s has %s", d.Name, tool)
			}
		}
		if !slices.Contains(p.Names, "Grep") || d.Run.PermissionMode != "plan" {
			t.Errorf("%s: %v, %+v", d.Name, p.Names, d.Run)
		}
	}
}

// TestCorpus reads agent definitions of public repositories.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("KNACK_CORPUS")
	if dir == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	s := load(t, Options{Roots: []Root{{Path: filepath.Join(dir, "examples"), Source: skill.User}}, NoBuiltin: true})
	// These are skills, which makes them hostile agents: each is loaded or named.
	if len(s.All()) == 0 || len(s.Problems()) == 0 {
		t.Errorf("%d agents, %d problems", len(s.All()), len(s.Problems()))
	}
}
