package session_test

import (
	"testing"

	"github.com/knack-skills/knack/session"
)

// An approval is for one agent and one content, and ends with the agent (spec
// M-1, S-14).
func TestApproved(t *testing.T) {
	s := session.New("s")
	child := s.StartAgent(session.Main, "", "")
	s.Approve(child, "project:x", "h1")
	for _, tt := range []struct {
		agent       session.AgentID
		skill, hash string
		want        bool
	}{
		{child, "project:x", "h1", true}, {child, "project:x", "h2", false}, {child, "project:y", "h1", false}, {session.Main, "project:x", "h1", false},
	} {
		if got := s.Approved(tt.agent, tt.skill, tt.hash); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
	}
	s.EndAgent(child)
	s.Approve(child, "project:x", "h1")
	if s.Approved(child, "project:x", "h1") {
		t.Error("an agent that has ended is approved")
	}
}
