package session_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

func TestRecord(t *testing.T) { // spec I-7
	s := session.New("one")
	if s.ID != "one" {
		t.Errorf("ID = %q", s.ID)
	}
	for i, tt := range []struct {
		agent    session.AgentID
		id, text string
		repeat   bool
	}{
		{session.Main, "a", "x", false},
		{session.Main, "a", "x", true},
		{session.Main, "a", "y", false},
		{session.Main, "b", "x", false}, // another skill with the same text
		{session.Main, "a", "x", true},  // not only the latest counts
		{"worker", "a", "x", false},
		{"", "a", "x", false},
	} {
		if got := s.Record(tt.agent, session.Invoked{ID: tt.id, Text: tt.text}); got != tt.repeat {
			t.Errorf("call %d: repeat = %v", i, got)
		}
	}
	var texts []string
	for _, i := range s.Invoked(session.Main) {
		texts = append(texts, i.ID+i.Text)
	}
	if want := []string{"ax", "ax", "ay", "bx", "ax"}; !slices.Equal(texts, want) {
		t.Errorf("Invoked = %q, want %q", texts, want)
	}
}

// Nothing leaks from one agent to another, and what belongs to one goes with it.
func TestAgentsAreSeparate(t *testing.T) { // spec M-1, L-6
	s := session.New("")
	sum := map[string]skill.Summary{"a": {ID: "a", Description: "A."}}
	s.Record("worker", session.Invoked{ID: "a", Text: "x"})
	s.Tell("worker", sum)
	if len(s.Invoked(session.Main)) > 0 || len(s.Told(session.Main)) > 0 {
		t.Error("the main agent knows what its subagent was told")
	}
	s.Record(session.Main, session.Invoked{ID: "b", Text: "x"})
	s.Tell(session.Main, map[string]skill.Summary{"b": {ID: "b"}})
	s.EndAgent("worker")
	if len(s.Invoked("worker")) > 0 || len(s.Told("worker")) > 0 {
		t.Error("a subagent that ended left something behind")
	}
	if s.Record("worker", session.Invoked{ID: "a", Text: "x"}) {
		t.Error("a new agent of that name already holds the text of the old one")
	}
	if len(s.Invoked(session.Main)) != 1 || len(s.Told(session.Main)) != 1 {
		t.Error("the end of a subagent cost the main agent something")
	}
	s.EndAgent("nobody")
}

func TestTell(t *testing.T) { // spec L-6
	s := session.New("")
	one, two := skill.Summary{ID: "a", Description: "One."}, skill.Summary{ID: "a", Description: "Two."}
	s.Tell(session.Main, map[string]skill.Summary{"a": one, "b": {ID: "b"}})
	s.Tell(session.Main, map[string]skill.Summary{"a": two}, "b", "never-told")
	if d := cmp.Diff(map[string]skill.Summary{"a": two}, s.Told(session.Main)); d != "" {
		t.Error(d)
	}
	s.Tell(session.Main, nil)
	if len(s.Told(session.Main)) != 1 {
		t.Error("telling nothing changed what was told")
	}
}

// What goes in and what comes out are copies.
func TestCopies(t *testing.T) {
	s := session.New("")
	known := map[string]skill.Summary{"a": {ID: "a"}}
	s.Tell(session.Main, known)
	known["b"] = skill.Summary{ID: "b"}
	s.Told(session.Main)["c"] = skill.Summary{ID: "c"}
	if got := s.Told(session.Main); len(got) != 1 {
		t.Errorf("Told = %v", got)
	}
	s.Record(session.Main, session.Invoked{ID: "a", Text: "x"})
	got := s.Invoked(session.Main)
	got[0].ID = "changed"
	_ = append(got, session.Invoked{ID: "more"})
	if again := s.Invoked(session.Main); len(again) != 1 || again[0].ID != "a" {
		t.Errorf("Invoked = %v", again)
	}
}

func TestActivation(t *testing.T) { // spec D-3: one way, for all agents
	s := session.New("")
	if s.Active("a") || s.Activations() != 0 {
		t.Error("active before anything was touched")
	}
	s.Activate("a", "b")
	s.Activate("a")
	s.Activate()
	if !s.Active("a") || !s.Active("b") || s.Active("c") || s.Activations() != 2 {
		t.Errorf("a %v, b %v, c %v, %d activations", s.Active("a"), s.Active("b"), s.Active("c"), s.Activations())
	}
	s.EndAgent(session.Main)
	if !s.Active("a") {
		t.Error("activation ended with an agent")
	}
}

// TestForget: /clear takes back what nothing else does (spec D-3).
func TestForget(t *testing.T) {
	s := session.New("")
	s.Activate("a", "b")
	s.Tell(session.Main, map[string]skill.Summary{"a": {ID: "a"}})
	s.Record(session.Main, session.Invoked{ID: "a", Text: "x"})
	s.FoundBelow("apps/web", "apps", "apps/web")
	before := s.Activations()
	s.Forget()
	if s.Active("a") || s.Activations() == before {
		t.Errorf("still active, or what follows from it is not stale: %d", s.Activations())
	}
	if len(s.Told(session.Main))+len(s.Invoked(session.Main)) > 0 || s.Record(session.Main, session.Invoked{ID: "a", Text: "x"}) {
		t.Error("the main agent remembers")
	}
	if got := s.Below(); !slices.Equal(got, []string{"apps/web", "apps"}) {
		t.Errorf("found directories: %q", got)
	}
	s.Activate("a")
	if !s.Active("a") {
		t.Error("not active again")
	}
}

func TestConcurrentUse(t *testing.T) { // spec M-6
	s := session.New("")
	const each = 50
	var wg sync.WaitGroup
	fresh := make([]bool, each)
	for i := range each {
		agent := session.AgentID(fmt.Sprint("agent-", i%3))
		id := fmt.Sprint("skill-", i)
		wg.Go(func() { fresh[i] = !s.Record(session.Main, session.Invoked{ID: "same", Text: "x"}) })
		wg.Go(func() { s.Record(agent, session.Invoked{ID: id}); s.Invoked(agent) })
		wg.Go(func() { s.Tell(session.Main, map[string]skill.Summary{id: {ID: id}}); s.Told(session.Main) })
		wg.Go(func() { s.Activate(id); s.Active(id) })
		wg.Go(func() { s.EndAgent("passing") })
	}
	wg.Wait()
	n := 0
	for _, f := range fresh {
		if f {
			n++
		}
	}
	if n != 1 || len(s.Invoked(session.Main)) != each || len(s.Told(session.Main)) != each || s.Activations() != each {
		t.Errorf("%d fresh, %d recorded, %d told, %d active", n, len(s.Invoked(session.Main)), len(s.Told(session.Main)), s.Activations())
	}
}
