package bash_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/bash"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
)

// TestBackground follows one command. The pipes make it wait where the test
// wants it to.
func TestBackground(t *testing.T) {
	b := newBench(t, "")
	up, on := b.pipe("up"), b.pipe("on")
	id := b.background("echo one; echo err >&2; echo >up; cat on; echo two; printf 'thr'; echo >up; cat on; echo ee; echo >up; exit 4")
	read(t, up)
	b.eventually(id, "[bash_1: running]\none\nerr")
	if got := b.call("BashOutput", args{"bash_id": id}); got != "[bash_1: running]\n(no new output)" {
		t.Errorf("%q", got)
	}
	write(t, on)
	read(t, up)
	write(t, on)
	read(t, up)
	// What was not read in time is still there, with how it ended.
	if err := b.shells.Wait(session.Main, id); err != nil {
		t.Fatal(err)
	}
	if got := b.call("BashOutput", args{"bash_id": id}); got != "[bash_1: ended with exit code 4]\ntwo\nthree" {
		t.Errorf("%q", got)
	}
	if got := b.call("KillShell", args{"shell_id": id}); got != "bash_1 had already ended: ended with exit code 4." {
		t.Errorf("%q", got)
	}
}

// eventually polls until the output is there: it travels through a pipe, which
// is not done when the command has written it.
func (b *bench) eventually(id, want string) {
	b.t.Helper()
	head, rest, _ := strings.Cut(want, "\n")
	var got string
	for b.t.Context().Err() == nil && len(got) < len(rest) {
		state, text, _ := strings.Cut(b.call("BashOutput", args{"bash_id": id}), "\n")
		if state != head {
			b.t.Fatalf("%q, want %q", state, head)
		}
		if text != "(no new output)" {
			got = strings.TrimPrefix(got+"\n"+text, "\n")
		}
	}
	if got != rest {
		b.t.Errorf("output %q, want %q", got, rest)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestKill(t *testing.T) {
	b := newBench(t, "")
	up := b.pipe("up")
	id := b.background("exec 3>up; echo begun >&3; (trap '' TERM; sleep 9999) & echo out; wait")
	f, err := os.Open(up)
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 6)
	if _, err := f.Read(line); err != nil {
		t.Fatal(err)
	}
	if got := b.call("KillShell", args{"shell_id": id}); got != "bash_1: killed." {
		t.Errorf("%q", got)
	}
	if n, err := f.Read(line); n != 0 || err == nil { // the end: nobody holds the pipe
		t.Errorf("something is left running: %d, %v", n, err)
	}
	if got := b.call("BashOutput", args{"bash_id": id}); !strings.HasPrefix(got, "[bash_1: killed]\n") {
		t.Errorf("%q", got)
	}
}

func TestClose(t *testing.T) {
	b := newBench(t, "")
	up := b.pipe("up")
	b.background("exec 3>up; sleep 9999 & sleep 9999")
	f, err := os.Open(up) // waits for the command
	if err != nil {
		t.Fatal(err)
	}
	if err := b.shells.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("something is left running: %d, %v", n, err)
	}
	if got := b.call("Bash", args{"command": "sleep 9999", "run_in_background": true}); got != "! the session is ending: nothing is started any more" {
		t.Errorf("%q", got)
	}
	if err := b.shells.Close(); err != nil {
		t.Error(err)
	}
}

func TestAgentsApart(t *testing.T) { // spec I-10
	b := newBench(t, "")
	id := b.background("sleep 9999")
	for _, name := range []string{"BashOutput", "KillShell"} {
		key := map[string]string{"BashOutput": "bash_id", "KillShell": "shell_id"}[name]
		if got := b.as("other", name, args{key: id}); got != `! there is no background command "bash_1": none was started` {
			t.Errorf("%s: %q", name, got)
		}
		if got := b.call(name, args{key: "bash_9"}); got != `! there is no background command "bash_9": there are bash_1` {
			t.Errorf("%s: %q", name, got)
		}
	}
	b.shells.EndAgent("other")
	if got := b.call("BashOutput", args{"bash_id": id}); got != "[bash_1: running]\n(no new output)" {
		t.Errorf("%q", got)
	}
	b.shells.EndAgent(session.Main)
	if got := b.call("BashOutput", args{"bash_id": id}); !strings.HasPrefix(got, "! there is no background command") {
		t.Errorf("%q", got)
	}
}

// TestOutlives: the end of a turn does not end what it left in the background.
func TestOutlives(t *testing.T) {
	b := newBench(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := b.plan("Bash", args{"command": "sleep 9999", "run_in_background": true}).Run(ctx, agent.CallEnv{Agent: session.Main, Progress: func(string) {}}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := b.call("BashOutput", args{"bash_id": "bash_1"}); got != "[bash_1: running]\n(no new output)" {
		t.Errorf("%q", got)
	}
}

func TestTooMany(t *testing.T) {
	wait := runner(func(ctx context.Context, _ shell.Command) (shell.Output, error) {
		<-ctx.Done()
		return shell.Output{}, ctx.Err()
	})
	s := bash.NewShells(bash.Options{Base: tool.Base{Dir: "/"}, Runner: wait})
	for i := range 21 {
		p, err := s.Tools()[0].Plan(json.RawMessage(`{"command":"x","run_in_background":true}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Run(t.Context(), agent.CallEnv{Progress: func(string) {}})
		if err != nil || r.IsError != (i == 20) {
			t.Errorf("%d: %+v, %v", i, r, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
