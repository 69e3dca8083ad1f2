package knack_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/invoke"
)

type sinkFunc func(audit.Record) error

func (f sinkFunc) Write(r audit.Record) error { return f(r) }

// TestEngineAudit: an engine without a conversation records its invocations,
// where the host says or in the state directory (spec S-12, I-13).
func TestEngineAudit(t *testing.T) {
	req := invoke.Request{Name: "none", By: invoke.ByUser}
	var kinds []audit.Kind
	own := sinkFunc(func(r audit.Record) error { kinds = append(kinds, r.Kind); return nil })
	dir, state := t.TempDir(), t.TempDir()
	var lost []error
	open := func(o knack.Options) *knack.Engine {
		t.Helper()
		o.Dir, o.Home, o.AuditLost = dir, t.TempDir(), func(err error) { lost = append(lost, err) }
		e, err := knack.New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open(knack.Options{StateDir: state, Audit: own})
	if _, err := e.Invoke(t.Context(), req); err == nil {
		t.Fatal("there is a skill")
	}
	if len(kinds) != 1 || kinds[0] != audit.Invocation {
		t.Errorf("the host's sink got %q", kinds)
	}
	path := filepath.Join(state, audit.FileName)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the log is written as well")
	}
	e = open(knack.Options{StateDir: state})
	_, _ = e.Invoke(t.Context(), req)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for got, err := range audit.Read(t.Context(), path, audit.Filter{Kind: []string{"invocation"}, Outcome: []string{"error"}}) {
		if err != nil || got.Record.SessionID != e.Session().ID {
			t.Errorf("%+v %v", got, err)
		}
		n++
	}
	if n != 1 || len(lost) != 0 {
		t.Errorf("%d records, %v", n, lost)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e = open(knack.Options{StateDir: filepath.Join(blocked, "state")})
	for range 3 {
		_, _ = e.Invoke(t.Context(), req)
	}
	if len(lost) != 1 {
		t.Errorf("told %v", lost)
	}
}
