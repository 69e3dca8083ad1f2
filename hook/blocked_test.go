package hook_test

import (
	"errors"
	"testing"

	"github.com/knack-skills/knack/hook"
)

func TestErr(t *testing.T) { // spec H-6
	for _, tt := range []struct {
		name string
		out  hook.Outcome
		want string // empty lets the event go on
	}{
		{"nothing said", hook.Outcome{}, ""},
		{"context", hook.Outcome{Context: []string{"x"}, Opinion: hook.Allow}, ""},
		{"a question refuses nothing", hook.Outcome{Opinion: hook.Ask}, ""},
		{"blocked", hook.Outcome{Block: true, Reason: "not today"}, "a PreToolUse hook blocked this: not today"},
		{"denied", hook.Outcome{Opinion: hook.Deny}, "a PreToolUse hook blocked this: it gave no reason"},
		{"stopped", hook.Outcome{Stop: true, StopReason: "enough", Block: true, Reason: "x"}, "a PreToolUse hook ended the turn: enough"},
	} {
		err := tt.out.Err(hook.PreToolUse)
		if got := errText(err); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		var stopped *hook.StoppedError
		if errors.As(err, &stopped) != tt.out.Stop {
			t.Errorf("%s: %T", tt.name, err)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
