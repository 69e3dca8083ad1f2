package knack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

func refreshed(t *testing.T, e *knack.Engine) {
	t.Helper()
	if _, err := e.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestReloadKeepsLastVersion: a skill that an edit broke is still there, and its
// owner is told; a new engine knows nothing of it (spec D-8).
func TestReloadKeepsLastVersion(t *testing.T) {
	l := newLab(t, map[string]string{"repo/.claude/skills/a/SKILL.md": doc("Good"), "repo/.claude/commands/b.md": "Good command.\n"})
	e := l.open()
	told := func(e *knack.Engine) (paths []string) {
		for _, p := range e.Snapshot().Problems {
			if p.Code == "last-version-kept" {
				paths = append(paths, strings.TrimPrefix(p.Path, l.base))
			}
		}
		return paths
	}
	l.write("repo/.claude/skills/a/SKILL.md", "---\ndescription: Ha")
	l.write("repo/.claude/commands/b.md", "")
	refreshed(t, e)
	for _, id := range []string{"a", "b"} {
		entry, err := e.Snapshot().Resolve(id)
		if err != nil || !strings.HasPrefix(entry.Description, "Good") {
			t.Errorf("%s: %v, %v", id, entry, err)
		}
		// The text was not asked to be kept: then it is not made up either.
		if _, err := e.Invoke(t.Context(), invoke.Request{Name: id, By: invoke.ByUser}); err == nil || !strings.Contains(err.Error(), "repair the file") {
			t.Errorf("%s: %v", id, err)
		}
	}
	equal(t, "told", told(e), []string{"/repo/.claude/commands/b.md", "/repo/.claude/skills/a/SKILL.md"})
	equal(t, "told by a new engine", told(l.open()), nil)

	l.write("repo/.claude/skills/a/SKILL.md", doc("Repaired"))
	if err := os.Remove(l.base + "/repo/.claude/commands/b.md"); err != nil {
		t.Fatal(err)
	}
	refreshed(t, e)
	equal(t, "after", listed(e), []string{"a"})
	equal(t, "told after", told(e), nil)
	if entry, err := e.Snapshot().Resolve("a"); err != nil || entry.Description != "Repaired" {
		t.Error(entry, err)
	}
}

// A runner does something while a command of a skill runs.
type runner func() error

func (f runner) Run(context.Context, shell.Command) (shell.Output, error) {
	return shell.Output{}, f()
}

// TestInvocationKeepsItsSnapshot: what happens to a skill while it is compiled
// does not reach the invocation (spec C-12).
func TestInvocationKeepsItsSnapshot(t *testing.T) {
	l := newLab(t, map[string]string{"repo/.claude/skills/a/SKILL.md": doc("Old", "model: old-model", "allowed-tools: Bash(x *)") + "!`x now`\n"})
	var e *knack.Engine
	e = l.open(trusted, func(o *knack.Options) {
		o.Shell = runner(func() error {
			for _, text := range []string{"", doc("New", "model: new-model", "disable-model-invocation: true")} {
				l.write("repo/.claude/skills/a/SKILL.md", text)
				if _, err := e.Refresh(t.Context()); err != nil {
					return err
				}
			}
			return errors.Join(os.RemoveAll(l.base+"/repo/.claude/skills/a"), func() error { _, err := e.Refresh(t.Context()); return err }())
		})
	})
	r, err := e.Invoke(t.Context(), invoke.Request{Name: "a", By: invoke.ByUser})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Text, "Old now.") || r.Override.Model != "old-model" || r.Entry.Description != "Old" {
		t.Errorf("%q %+v", r.Text, r.Override)
	}
	equal(t, "after", listed(e), nil)
}

// TestSearchFollowsReload: a search after a change finds what an engine that was
// opened then would find.
func TestSearchFollowsReload(t *testing.T) { // spec L-8
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("repo/.claude/skills/s%02d/SKILL.md", i)] = doc(fmt.Sprintf("Number%d of all", i)) + fmt.Sprintf("\n# Heading%d\n", i)
	}
	l := newLab(t, files)
	e := l.open()
	check := func(step string) {
		t.Helper()
		refreshed(t, e)
		fresh := l.open()
		for _, query := range []string{"all", "number3", "heading3", "heading99", "changed", "s05", "num"} {
			got, err := e.Search(t.Context(), query, 0)
			want, werr := fresh.Search(t.Context(), query, 0)
			if err != nil || werr != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s: %v %v, want %v %v", step, query, got, err, want, werr)
			}
		}
	}
	check("start")
	l.write("repo/.claude/skills/s03/SKILL.md", doc("Changed"))
	check("changed")
	l.write("repo/.claude/skills/s04/SKILL.md", doc("Number4 of all")+"\n# Heading99\n")
	check("heading changed")
	if err := os.RemoveAll(l.base + "/repo/.claude/skills/s05"); err != nil {
		t.Fatal(err)
	}
	check("removed")
	l.write("repo/.claude/skills/s99/SKILL.md", doc("Number3 again"))
	check("added")
}

// A counter is a source that counts its loads.
type counter struct{ loads chan struct{} }

func (c counter) Load(context.Context) ([]*skill.Skill, []skill.Problem, error) {
	c.loads <- struct{}{}
	return nil, nil, nil
}

// TestListingScansNothing: any number of readers cost no look at the disk.
func TestListingScansNothing(t *testing.T) { // spec C-12
	l := newLab(t, map[string]string{"repo/.claude/skills/a/SKILL.md": doc("First")})
	src := counter{make(chan struct{}, 100)}
	e := l.open(func(o *knack.Options) { o.Sources = append(o.Sources, src) })
	for range 30 {
		e.Listing()
		e.Problems()
		if _, err := e.Search(t.Context(), "first", 0); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(src.loads); n != 1 {
		t.Errorf("%d loads", n)
	}
}
