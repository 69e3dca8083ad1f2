//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// shell runs a line of bash in which knack is the program.
func (w *world) shell(line string) output {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.repo, w.env, time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil || cmd.ProcessState == nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// TestAttackHostileHooks proves: a hook that hangs, leaves children, floods a
// gigabyte or closes its pipes takes the session neither down nor along, and
// what rules refuse stays refused beside it.
func TestAttackHostileHooks(t *testing.T) {
	w := newWorld(t)
	var handlers []string
	for _, line := range []string{"sleep 300", "trap '' TERM; sleep 300 & sleep 300", "yes | head -c 1000000000", "yes >&2", "exec <&- >&- 2>&-; exit 0", "exec <&- >&- 2>&-; sleep 300", "sleep 300 & exit 0", "kill -KILL 0", "printf '{'"} {
		handlers = append(handlers, `{"type":"command","timeout":1,"command":`+quoted(line)+`}`)
	}
	list := `[{"hooks":[` + strings.Join(handlers, ",") + `]}]`
	w.file("../home/.claude/settings.json", `{"permissions":{"deny":["Bash(touch:*)"]},"hooks":{"PreToolUse":`+list+`,"UserPromptSubmit":`+list+`}}`)
	results, said := w.acts([]string{bash("printf fine"), bash("touch pwned")}, "-p", "go", "--allowedTools", "Bash")
	w.attacked("a hostile hook")
	if len(results) != 2 || results[0] != "fine" || !strings.Contains(results[1], "denied by Bash(touch:*)") {
		t.Errorf("%q %s", results, said)
	}
	if !strings.Contains(said, "its time limit") {
		t.Error("nobody is told of a guard that did not speak")
	}
}

// TestAttackDiskFull proves: where nothing can be written nothing is trusted,
// approved or allowed because of it; work goes on, and every loss is said.
func TestAttackDiskFull(t *testing.T) {
	for name, prefix := range map[string]string{
		"a full disk":        "trap '' XFSZ; ulimit -f 0; ",
		"an unwritable path": "export KNACK_STATE_DIR=/proc/none; ",
		"a file in the way":  "export KNACK_STATE_DIR=$HOME/file; ",
	} {
		w := newWorld(t)
		w.file("../home/file", "x")
		w.skill("runs", "---\ndescription: d\nallowed-tools: Bash(touch:*)\n---\n!`touch pwned`\n")
		if out := w.shell(prefix + "knack doctor --trust"); out.code == 0 {
			t.Errorf("%s: trust was stored: %+v", name, out)
		}
		if out := w.shell(prefix + "knack -p /runs"); !strings.Contains(out.stderr+out.stdout, "not trusted") {
			t.Errorf("%s: %+v", name, out)
		}
		w.attacked(name)
		script := w.file("script.json", `{"steps":[`+steps(calls(bash("touch pwned")), calls(skillCall("runs", "")), `{"text":"end"}`)+`]}`)
		out := w.shell(prefix + "knack -p go --trust --model scripted:" + script + " 2>&1 | cat")
		w.attacked(name)
		if !strings.Contains(out.stdout, "end") {
			t.Errorf("%s: the work did not go on: %+v", name, out)
		}
		if out := w.run("doctor"); !strings.Contains(out.stdout, "not trusted") || strings.Contains(out.stderr, "panic") {
			t.Errorf("%s, afterwards: %+v", name, out)
		}
	}
}

// TestAttackKilled proves: kill -9 at any moment leaves files that can be read,
// and never an answer that nobody gave.
func TestAttackKilled(t *testing.T) {
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("this machine has no timeout(1)")
	}
	w := newWorld(t)
	w.skill("runs", "---\ndescription: d\nallowed-tools: Bash(printf:*)\n---\n!`printf fine`\n")
	for i := range 12 {
		w.shell(fmt.Sprintf("timeout -s KILL 0.%03d knack doctor --distrust; timeout -s KILL 0.%03d knack -p '/aaa x'; timeout -s KILL 0.%03d knack render runs", 5*i, 4*i, 6*i))
		if out := w.run("doctor"); strings.Contains(out.stdout, "damaged") || !strings.Contains(out.stdout, "trusted") {
			t.Fatalf("round %d: %+v", i, out)
		}
		if out := w.run("render", "runs"); strings.Contains(out.stdout, "\nfine") {
			t.Fatalf("round %d: it is trusted: %+v", i, out)
		}
	}
	if out := w.run("audit", "--json"); out.code != 0 || !json.Valid([]byte(strings.Split(out.stdout, "\n")[0])) {
		t.Errorf("the log: %+v", out)
	}
}
