package todo_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent/tool/todo"
	"github.com/knack-skills/knack/session"
)

// TestRestore: what Of returned comes back; what is no list changes nothing.
func TestRestore(t *testing.T) {
	before, after := todo.NewLists(), todo.NewLists()
	call(t, todo.New(before), session.Main, `{"todos":[{"content":"a","status":"pending","activeForm":"b"},{"content":"c","status":"completed"}]}`)
	data, err := json.Marshal(before.Of(session.Main))
	if err != nil {
		t.Fatal(err)
	}
	if err := after.Restore(session.Main, data); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{``, `7`, `[{"content":"a","status":"odd"}]`, `[],"todos":[]`} {
		if err := after.Restore(session.Main, json.RawMessage(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	if d := cmp.Diff(before.Of(session.Main), after.Of(session.Main)); d != "" {
		t.Error(d)
	}
}
