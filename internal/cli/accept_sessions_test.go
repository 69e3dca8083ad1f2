//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A held run waits in a command until it is let go.
type held struct {
	cmd   *exec.Cmd
	id    string // of its session
	lines *bufio.Scanner
	pipe  string
}

// hold starts a run whose model calls "cat pipe". Whoever opens the pipe to
// write waits for that command, and closing it lets the command end.
func (w *world) hold(script string, args ...string) *held {
	w.t.Helper()
	h := &held{pipe: w.path("pipe")}
	if err := os.Remove(h.pipe); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	if err := syscall.Mkfifo(h.pipe, 0o600); err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(w.t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(w.t.Context(), time.Minute)
	w.t.Cleanup(stop)
	h.cmd = w.command(ctx, append(args, "--model", "scripted:"+file, "--allowedTools", "Bash(cat pipe)", "--output-format", "stream-json")...)
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	h.lines = bufio.NewScanner(out)
	h.lines.Buffer(nil, 1<<20)
	if !h.lines.Scan() {
		w.t.Fatal("the run printed nothing")
	}
	var first struct {
		ID string `json:"session_id"`
	}
	if err := json.Unmarshal(h.lines.Bytes(), &first); err != nil {
		w.t.Fatal(err)
	}
	h.id = first.ID
	return h
}

// end reads the rest and waits.
func (h *held) end() (lines []string) {
	for h.lines.Scan() {
		lines = append(lines, h.lines.Text())
	}
	_ = h.cmd.Wait()
	return lines
}

// TestKilledProcess: a process that is killed in the middle of a turn leaves a
// session that goes on: every call has a result, and what was invoked is known.
func TestKilledProcess(t *testing.T) { // spec M-4
	skill, wait := calls(skillCall("aaa", "")), calls(bash("cat pipe"))
	for name, tt := range map[string]struct {
		script string
		held   bool // the text of the skill had reached the model
	}{
		"in a tool":         {`{"steps":[` + steps(skill, calls(bash("cat pipe"), `{"name":"Read","input":{"file_path":"x"}}`)) + `]}`, true},
		"beside the skill":  {`{"steps":[` + calls(skillCall("aaa", ""), bash("cat pipe")) + `]}`, false},
		"in a subagent":     {`{"steps":[` + steps(skill, calls(skillCall("sub", ""))) + `],"subagents":{"*":[` + wait + `]}}`, true},
		"in the background": {`{"steps":[` + steps(skill, calls(skillCall("back", "")), wait) + `],"subagents":{"*":[{"text":"done"}]}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.skill("sub", "---\ndescription: d\ncontext: fork\n---\nSub.\n")
			w.skill("back", "---\ndescription: d\ncontext: fork\nbackground: true\n---\nBack.\n")
			h := w.hold(tt.script, "-p", "the question")
			f, err := os.OpenFile(h.pipe, os.O_WRONLY, 0) // the command runs
			if err != nil {
				t.Fatal(err)
			}
			if err := h.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			h.end()
			if err := f.Close(); err != nil { // and ends
				t.Fatal(err)
			}
			out, asked := w.requests(`{"steps":[`+calls(skillCall("aaa", ""))+`,{"text":"on"}]}`, "-p", "go on", "--continue", "--output-format", "json")
			if out.code != 0 || len(asked) != 2 || !strings.Contains(out.stdout, h.id) {
				t.Fatalf("%+v", out)
			}
			for _, r := range asked {
				wholeHistory(t, r.Messages)
			}
			if len(texts(asked, "the question")) != 1 || len(texts(asked, "First.")) != 1 || (len(texts(asked, `Skill "aaa" is already loaded`)) == 1) != tt.held {
				t.Errorf("the session forgot: %.1000v", asked[1].Messages[2:])
			}
			lost := 0
			for _, b := range resultsOf(asked) {
				if strings.Contains(b.Text, "Interrupted") {
					lost++
				}
			}
			if lost == 0 {
				t.Error("no call was interrupted")
			}
		})
	}
}

// TestTwoProcesses: a session that is open elsewhere is not touched; a copy of
// it and any other session are free.
func TestTwoProcesses(t *testing.T) { // spec M-4, M-6
	w := newWorld(t)
	h := w.hold(`{"steps":[`+calls(bash("cat pipe"))+`,{"text":"held"}]}`, "-p", "the question")
	f, err := os.OpenFile(h.pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"--continue"}, {"--resume", h.id}} {
		if out, asked := w.requests(`{"steps":[{"text":"no"}]}`, append([]string{"-p", "second"}, flags...)...); out.code != 1 || len(asked) != 0 ||
			!strings.Contains(out.stderr, fmt.Sprint("is open in process ", h.cmd.Process.Pid)) || !strings.Contains(out.stderr, "--fork-session") {
			t.Errorf("%q: %+v", flags, out)
		}
	}
	out, asked := w.requests(`{"steps":[{"text":"copied"}]}`, "-p", "in the copy", "--resume", h.id, "--fork-session", "--output-format", "json")
	if out.code != 0 || strings.Contains(out.stdout, h.id) || len(texts(asked, "the question")) != 1 {
		t.Fatalf("the copy: %+v", out)
	}
	wholeHistory(t, asked[0].Messages)
	if out, _ := w.requests(`{"steps":[{"text":"new"}]}`, "-p", "another session"); out.code != 0 {
		t.Errorf("another session: %+v", out)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if lines := h.end(); h.cmd.ProcessState.ExitCode() != 0 || !strings.Contains(lines[len(lines)-1], `"result":"held"`) {
		t.Errorf("the first process: %s, %q", h.cmd.ProcessState, lines)
	}
	out, asked = w.requests(`{"steps":[{"text":"after"}]}`, "-p", "after", "--resume", h.id)
	if out.code != 0 || len(texts(asked, "held")) != 1 || len(texts(asked, "in the copy")) != 0 || len(texts(asked, "second")) != 0 {
		t.Errorf("afterwards: %+v", out)
	}
}

// TestManyProcesses: sessions, copies and counts of one state directory, at once.
func TestManyProcesses(t *testing.T) { // spec M-6
	w := newWorld(t)
	out, _ := w.requests(`{"steps":[{"text":"begun"}]}`, "-p", "/aaa", "--output-format", "json")
	var r struct {
		ID string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
		t.Fatalf("%v: %+v", err, out)
	}
	script := w.file("script.json", `{"steps":[`+calls(skillCall("zzz", ""), `{"name":"Glob","input":{"pattern":"*"}}`)+`,{"text":"end"}]}`)
	const n = 12
	failed := make([]string, n)
	var group sync.WaitGroup
	for i := range n {
		args := []string{"-p", fmt.Sprint("question ", i), "--model", "scripted:" + script, "--output-format", "json"}
		if i%2 == 0 {
			args = append(args, "--resume", r.ID, "--fork-session")
		}
		group.Go(func() {
			if data, err := w.command(t.Context(), args...).CombinedOutput(); err != nil || !strings.Contains(string(data), `"result": "end"`) {
				failed[i] = fmt.Sprintf("%v: %s", err, data)
			}
		})
	}
	group.Wait()
	for i, why := range failed {
		if why != "" {
			t.Errorf("process %d: %s", i, why)
		}
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "state/projects/*/*.jsonl"))
	if err != nil || len(files) != n+1 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		out, asked := w.requests(`{"steps":[{"text":"on"}]}`, "-p", "on", "--resume", id)
		if out.code != 0 || out.stderr != "" || len(asked) != 1 {
			t.Fatalf("%s: %+v", id, out)
		}
		wholeHistory(t, asked[0].Messages)
		if n := strings.Count(strings.Join(texts(asked, "question "), ""), "question "); (n == 1) == (id == r.ID) {
			t.Errorf("%s holds %d questions", id, n)
		}
	}
	counts, _ := filepath.Glob(filepath.Join(w.dir, "state/usage/*.json"))
	var uses struct {
		Skills map[string]struct{ Score float64 }
	}
	data, err := os.ReadFile(counts[0])
	if err == nil {
		err = json.Unmarshal(data, &uses)
	}
	if got := uses.Skills["zzz"].Score; err != nil || got < n-0.1 || got > n {
		t.Errorf("%d uses are counted as %v, %v", n, got, err)
	}
}
