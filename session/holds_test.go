package session_test

import (
	"testing"

	"github.com/knack-skills/knack/session"
)

// TestHolds: the latest text of a skill that is in an agent's history, whole.
func TestHolds(t *testing.T) { // spec I-7
	s := session.New("")
	invoke(s, "a", "Old.", "1")
	invoke(s, "a", "New.", "2")
	invoke(s, "b", prose("b", 3000), "")
	for agent, want := range map[session.AgentID]string{session.Main: "New.", "other": ""} {
		if i, ok := s.Holds(agent, "a"); i.Text != want || ok != (want != "") {
			t.Errorf("%s: %+v, %v", agent, i, ok)
		}
	}
	s.Restore(session.Main, session.Budget{PerSkill: 1000, Total: 9000})
	if i, ok := s.Holds(session.Main, "a"); !ok || i.Args != "2" {
		t.Errorf("what was restored is not held: %+v", i)
	}
	if _, ok := s.Holds(session.Main, "b"); ok {
		t.Error("what was cut counts as whole")
	}
}
