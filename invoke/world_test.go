package invoke_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/bundled"
	"github.com/knack-skills/knack/source/dir"
	"github.com/knack-skills/knack/source/mcp"
	"github.com/knack-skills/knack/source/plugin"
)

// A world is a workspace on disk with one root of each kind.
type world struct {
	t    *testing.T
	dir  string // the working directory
	snap *catalog.Snapshot
}

// roots says where the first part of a file's name in a world leads.
func roots(base string) map[string]dir.Root {
	return map[string]dir.Root{
		"managed": {Path: base + "/etc/skills", Source: skill.Managed},
		"user":    {Path: base + "/home/.claude/skills", Source: skill.User},
		"project": {Path: base + "/work/.claude/skills", Source: skill.Project},
		"added":   {Path: base + "/other/.claude/skills", Source: skill.Additional},
		"command": {Path: base + "/work/.claude/commands", Source: skill.Legacy, Scope: skill.Project},
		"web":     {Path: base + "/work/apps/web/.claude/skills", Source: skill.Project, Below: "apps/web"},
		"api":     {Path: base + "/work/apps/api/.claude/skills", Source: skill.Project, Below: "apps/api"},
	}
}

// newWorld writes files, such as "user/deploy/SKILL.md", and loads them. Files
// below "bundled/" are compiled in, files below "plugin/NAME/" are a plugin's.
func newWorld(t *testing.T, o catalog.Options, files map[string]string, more ...catalog.Source) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: base + "/work"}
	places := roots(base)
	var compiled []bundled.Skill
	plugins := map[string]bool{}
	for name, text := range files {
		kind, rest, _ := strings.Cut(name, "/")
		path := filepath.Join(places[kind].Path, rest)
		switch kind {
		case "bundled":
			id, _, _ := strings.Cut(rest, "/")
			compiled = append(compiled, bundled.Skill{ID: id, File: text})
			continue
		case "plugin":
			owner, _, _ := strings.Cut(rest, "/")
			plugins[owner] = true
			path = filepath.Join(base, "plugins", rest)
		}
		write(t, path, text)
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sources := append(more, bundled.New(filepath.Join(base, "cache"), compiled...))
	for _, r := range places {
		sources = append(sources, r)
	}
	for owner := range plugins {
		sources = append(sources, plugin.Source{Name: owner, Dir: filepath.Join(base, "plugins", owner)})
	}
	if w.snap, err = catalog.New(o, sources...).Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// env is that of a trusted workspace with rules such as "allow user Bash(ls)",
// and a new session.
func (w *world) env(rules ...string) invoke.Env {
	w.t.Helper()
	return invoke.Env{
		Catalog: w.snap, Session: session.New("session-1"), Rules: rulesOf(w.t, rules...),
		Shell: shell.Exec{}, WorkDir: w.dir, ProjectDir: w.dir, Home: filepath.Join(w.dir, "../home"),
		Trusted: true, SpillDir: w.t.TempDir(),
	}
}

// rulesOf parses "LIST SCOPE RULE".
func rulesOf(t *testing.T, lines ...string) permission.Rules {
	t.Helper()
	var out permission.Rules
	lists := map[string]*[]permission.Rule{"deny": &out.Deny, "ask": &out.Ask, "allow": &out.Allow}
	for _, l := range lines {
		part := strings.SplitN(l, " ", 3)
		rule, err := permission.ParseRule(part[2])
		if err != nil {
			t.Fatal(err)
		}
		rule.Scope, rule.From = part[1], part[1]+"/settings.json"
		*lists[part[0]] = append(*lists[part[0]], rule)
	}
	return out
}

func (w *world) entry(name string) *catalog.Entry {
	w.t.Helper()
	e, err := w.snap.Resolve(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, name))
	return err == nil
}

// file is a SKILL.md with frontmatter lines and a body.
func file(body string, front ...string) string {
	return "---\ndescription: Does it.\n" + strings.Join(append(front, ""), "\n") + "---\n" + body + "\n"
}

// person answers questions and remembers them.
type person struct {
	answer invoke.Answer
	err    error
	asked  []invoke.Question
}

func (p *person) Ask(_ context.Context, q invoke.Question) (invoke.Answer, error) {
	p.asked = append(p.asked, q)
	return p.answer, p.err
}

// agents runs forks by answering with a fixed result.
type agents struct {
	result invoke.ForkResult
	err    error
	got    []invoke.ForkRequest
}

func (a *agents) Fork(_ context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
	a.got = append(a.got, r)
	return a.result, a.err
}

// server is an MCP server with one prompt, as a client would show it.
type server struct{ text string }

func (server) Prompts(context.Context) ([]mcp.Prompt, error) {
	return []mcp.Prompt{{Name: "issue", Description: "Files an issue."}}, nil
}
func (s server) Get(context.Context, string, map[string]string) (string, error) { return s.text, nil }

// refusal returns the refusal behind err, or fails the test.
func refusal(t *testing.T, err error) *invoke.RefusedError {
	t.Helper()
	r, ok := errors.AsType[*invoke.RefusedError](err)
	if !ok {
		t.Fatalf("got %v, want a refusal", err)
	}
	return r
}

func contains(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s = %q, want %q in it", what, text, w)
		}
	}
}

// values is a source of plain values.
type values []*skill.Skill

func (v values) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	return v, nil, ctx.Err()
}
