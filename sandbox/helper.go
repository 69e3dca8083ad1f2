package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
)

// The first argument of a program that is to be a sandbox, or part of a trial.
const (
	argRun = "__knack-sandbox"
	argTry = "__knack-sandbox-try"
)

// guardVar marks the environment of a process that [Main] has to take. A program
// that finds itself with it does not call Main, and must not start itself again.
const guardVar = "KNACK_SANDBOX_HELPER"

// failed is the exit code of a sandbox that could not be made. What was to run
// in it did not run.
const failed = 126

// A plan is what a helper process does. It is its second argument.
type plan struct {
	Mounts   bool     // it is in namespaces of its own: make a view of the files
	Init     bool     // it is the first process of its namespace: stay and reap
	Roots    []string // to be written
	ReadOnly []string // existing paths below Roots that are not
	Network  bool
}

// Main is what a program that names itself in [Options.Self] calls before
// anything else, with os.Args. When the process was started to be a sandbox it
// does not return, or returns true with the exit code. It writes nothing unless
// something fails.
func Main(args []string) (code int, mine bool) {
	if len(args) < 3 || args[1] != argRun && args[1] != argTry {
		return 0, false
	}
	if args[1] == argTry {
		return try(args[2:]), true
	}
	_ = os.Unsetenv(guardVar) // cannot fail for such a name
	var p plan
	err := json.Unmarshal([]byte(args[2]), &p)
	if err == nil && len(args) < 4 {
		err = fmt.Errorf("there is nothing to run")
	}
	if err == nil {
		code, err = p.run(args[3:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox: not run:", err)
		return failed, true
	}
	return code, true
}
