package knack_test

import (
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

// An engine goes on with a session that was resumed: its id, what was told.
func TestResumedSession(t *testing.T) { // spec M-4, L-6
	s := session.New("earlier")
	s.Tell(session.Main, map[string]skill.Summary{"gone": {ID: "gone"}})
	dir := t.TempDir()
	e, err := knack.New(t.Context(), knack.Options{
		Dir: dir, Home: t.TempDir(), StateDir: t.TempDir(), Session: s, SessionID: "ignored",
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.Session() != s || e.Session().ID != "earlier" {
		t.Errorf("session %q", e.Session().ID)
	}
	if _, ok := e.Announce(session.Main); !ok {
		t.Error("nobody is told that a skill is gone")
	}
	if _, told := s.Told(session.Main)["gone"]; told {
		t.Error("the resumed session was not used")
	}
}
