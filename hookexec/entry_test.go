package hookexec

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/hook"
)

func TestEntries(t *testing.T) {
	a, b, c := hook.Handler{Command: "a"}, hook.Handler{Command: "b"}, hook.Handler{Command: "c"}
	like := Entry{Owner: "formatter", Level: Plugin, Env: []string{"X=1"}}
	var want []Entry
	for _, w := range []struct {
		event   hook.Event
		matcher string
		handler hook.Handler
	}{{hook.Stop, "", a}, {hook.PreToolUse, "Bash", b}, {hook.PreToolUse, "Bash", c}} {
		e := like
		e.Event, e.Matcher, e.Handler = w.event, w.matcher, w.handler
		want = append(want, e)
	}
	got := Entries(hook.Config{
		{Event: hook.Stop, Handlers: []hook.Handler{a}},
		{Event: hook.PreCompact},
		{Event: hook.PreToolUse, Matcher: "Bash", Handlers: []hook.Handler{b, c}},
	}, like)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
