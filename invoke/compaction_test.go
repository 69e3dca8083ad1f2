package invoke_test

import (
	"strings"
	"testing"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
)

// Skills are restored whoever invoked them, and one whose text compaction took
// away is injected in full again.
func TestCompaction(t *testing.T) { // spec I-7, M-2
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/typed/SKILL.md":  file("Typed for $ARGUMENTS."),
		"user/called/SKILL.md": file("Called."),
		"user/large/SKILL.md":  file(strings.Repeat("Many words that take much space.\n", 200)),
	})
	env := w.env()
	run := func(name, args string, by invoke.Caller) *invoke.Result {
		t.Helper()
		r, err := invoke.Invoke(t.Context(), invoke.Request{Name: name, Args: args, By: by}, env)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	run("typed", "5m x", invoke.ByUser)
	run("called", "", invoke.ByModel)
	large := run("large", "", invoke.ByModel)
	r := env.Session.Restore(session.Main, session.Budget{PerSkill: 300})
	contains(t, "restored", r.Text, "## Skill typed\n")
	contains(t, "restored", r.Text, "not to be acted on again: 5m x\n")
	contains(t, "restored", r.Text, "Typed for 5m x.")
	contains(t, "restored", r.Text, "Called.")
	contains(t, "restored", r.Text, "[Cut here: ")
	if !run("called", "", invoke.ByUser).Repeat || !run("typed", "5m x", invoke.ByModel).Repeat {
		t.Error("a text that was restored whole is injected again")
	}
	again := run("large", "", invoke.ByModel)
	if again.Repeat || again.Messages[1].Text != large.Text {
		t.Errorf("of a text that was cut, this is injected: %.200q", again.Messages[1].Text)
	}
	if !run("large", "", invoke.ByModel).Repeat {
		t.Error("it is injected twice")
	}
}
