package invoke_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
)

// TestHeld: a model that calls what only a person may start is sent back to the
// text that a person put there; it gets no grant, and nothing without a person.
func TestHeld(t *testing.T) { // spec I-3, I-7
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/mine/SKILL.md":   file("Mine: $ARGUMENTS.", "disable-model-invocation: true", "allowed-tools: Bash(touch x)"),
		"user/forked/SKILL.md": file("Forked.", "disable-model-invocation: true", "context: fork"),
	})
	env := w.env()
	call := func(name, agent string) (*invoke.Result, error) {
		return invoke.Invoke(t.Context(), invoke.Request{Name: name, By: invoke.ByModel, Agent: session.AgentID(agent)}, env)
	}
	refused := func(name, agent string) {
		t.Helper()
		var r *invoke.RefusedError
		if _, err := call(name, agent); !errors.As(err, &r) || r.Rule != "I-3" {
			t.Errorf("%s for %q: %v", name, agent, err)
		}
	}
	refused("mine", "")
	if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: "mine", Args: "a b", By: invoke.ByUser}, env); err != nil {
		t.Fatal(err)
	}
	r, err := call("/mine", "")
	if err != nil || !r.Repeat || len(r.Override.AllowedTools) != 0 || len(r.Messages) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if note := r.Messages[1].Text; strings.Contains(note, "Mine:") || !strings.Contains(note, "already loaded") || !strings.Contains(note, "/mine") {
		t.Error(note)
	}
	refused("mine", "another")
	refused("forked", "")
	// What compaction took away is not above any more.
	env.Session.Restore(session.Main, session.Budget{Total: 1})
	refused("mine", "")
}
