package hookexec_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/hookexec"
)

func ExampleRunner_Run() {
	r := hookexec.New(hookexec.Options{})
	defer r.Close(context.Background())
	guard := hookexec.Entry{
		Level: hookexec.Skill, Owner: "release", Event: hook.PreToolUse, Matcher: "Bash",
		Handler: hook.Handler{Type: hook.Command, Command: `grep -q 'push --force' && { echo "never force" >&2; exit 2; }; exit 0`},
	}
	out := r.Run(context.Background(), [][]hookexec.Entry{nil, {guard}}, hook.Input{
		Event: hook.PreToolUse, ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"git push --force"}`),
	})
	fmt.Println(out.Block)
	fmt.Println(out.Reason)
	// Output:
	// true
	// hook of the skill release: never force
	// (the skill release registered this hook when it was invoked; it holds until the session ends, and /hooks lists it)
}
