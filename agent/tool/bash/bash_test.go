package bash_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/bash"
	"github.com/knack-skills/knack/agent/tool/tooltest"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
)

// A bench is the shells of one session.
type bench struct {
	t      *testing.T
	dir    string
	shells *bash.Shells
	tools  map[string]agent.Tool
}

func newBench(t *testing.T, spill string) *bench {
	t.Helper()
	if err := (shell.Exec{}).Available("bash"); err != nil {
		t.Skip(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, tools: map[string]agent.Tool{}}
	b.shells = bash.NewShells(bash.Options{Base: tool.Base{Dir: dir, Home: "/home/u"}, Runner: shell.Exec{}, Spill: spill})
	t.Cleanup(func() {
		if err := b.shells.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, one := range b.shells.Tools() {
		b.tools[one.Spec().Name] = one
	}
	return b
}

type args map[string]any

func (b *bench) plan(name string, in args) agent.Plan {
	b.t.Helper()
	return tooltest.Plan(b.t, b.tools[name], in)
}

// as calls a tool as an agent and returns its text; errors begin with "! ".
func (b *bench) as(a session.AgentID, name string, in args) string {
	b.t.Helper()
	text := tooltest.Call(b.t, b.tools[name], agent.CallEnv{Agent: a, Progress: func(string) {}}, in)
	return strings.ReplaceAll(text, b.dir, "DIR")
}

func (b *bench) call(name string, in args) string {
	b.t.Helper()
	return b.as(session.Main, name, in)
}

// background starts a command and returns its id.
func (b *bench) background(line string) string {
	b.t.Helper()
	got := b.call("Bash", args{"command": line, "run_in_background": true})
	id, ok := strings.CutPrefix(got, "Running in the background as ")
	if !ok {
		b.t.Fatal(got)
	}
	id, _, _ = strings.Cut(id, ".")
	return id
}

// pipe makes a named pipe in the directory. Reading it waits for a command
// without a clock.
func (b *bench) pipe(name string) string {
	b.t.Helper()
	if _, err := exec.LookPath("mkfifo"); err != nil {
		b.t.Skip("this system makes no pipes:", err)
	}
	path := filepath.Join(b.dir, name)
	if got := b.call("Bash", args{"command": "mkfifo " + name}); got != "(no output)" {
		b.t.Fatal(got) // a tool that fails is no reason to skip
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestContract(t *testing.T) {
	b := newBench(t, "")
	for name, valid := range map[string][]string{
		"Bash":       {`{"command":"ls"}`, `{"command":"touch x","description":"Make x","timeout":600000,"run_in_background":true}`},
		"BashOutput": {`{"bash_id":"bash_1"}`, `{"bash_id":"bash_1","filter":"^x"}`},
		"KillShell":  {`{"shell_id":"bash_1"}`},
	} {
		t.Run(name, func(t *testing.T) { tooltest.Run(t, b.tools[name], valid...) })
	}
}

func TestBash(t *testing.T) {
	b := newBench(t, "")
	for _, tt := range []struct{ line, want string }{
		{"echo hello", "hello"},
		{"echo a; echo b >&2; echo c; echo d >&2; echo e", "a\nb\nc\nd\ne"},
		{":", "(no output)"},
		{"printf 'x\\n\\n'", "x"},
		{"echo partial; exit 3", "! partial\n[exit code 3]"},
		{"false", "! [exit code 1]"},
		{"kill -KILL $$", "! [exit code 137]"},
		{"pwd", "DIR"},
		{"read x; echo \"<$x>\"", "<>"},
		{"printf '\\377'", "\ufffd"},
		{"mkdir sub && cd sub", "(no output)\n[the cd ends with this call; the next one starts in DIR again]"},
		{"cd sub && pwd", "DIR/sub"},
		{"pwd", "DIR"},
		{"echo 'two\nlines'", "two\nlines"},
	} {
		if got := b.call("Bash", args{"command": tt.line}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
	if got := b.call("Bash", args{"command": "if"}); !strings.Contains(got, "syntax error") || !strings.HasPrefix(got, "! ") {
		t.Errorf("a line that is no bash: %q", got)
	}
}

func TestTimeout(t *testing.T) {
	b := newBench(t, "")
	got := b.call("Bash", args{"command": "echo begun; sleep 9999 & wait", "timeout": 300})
	if want := "! begun\n[killed after 300ms: the time limit; give a longer timeout, or use run_in_background]"; got != want {
		t.Errorf("%q", got)
	}
}

func TestLongOutput(t *testing.T) {
	const line = "head -c 1500000 /dev/zero | tr '\\0' x; echo end"
	got := newBench(t, "").call("Bash", args{"command": line})
	if !strings.HasSuffix(got, "x\n[the output is longer than this; the rest was dropped]") {
		t.Errorf("%q", got[len(got)-200:])
	}
	spill := t.TempDir()
	got = newBench(t, spill).call("Bash", args{"command": line})
	_, file, ok := strings.Cut(got, "\n[the output is longer than this; all of it is in ")
	if !ok {
		t.Fatalf("%q", got[len(got)-200:])
	}
	if text := read(t, strings.TrimSuffix(file, "]")); len(text) != 1_500_004 || !strings.HasSuffix(text, "xend\n") {
		t.Errorf("the file has %d bytes", len(text))
	}
}

func TestBadInput(t *testing.T) {
	b := newBench(t, "")
	for _, tt := range []struct{ tool, in, want string }{
		{"Bash", `{"command":"  "}`, "blank"},
		{"Bash", `{"command":"a\u0000b"}`, "NUL"},
		{"Bash", `{"command":"x","timeout":600001}`, "at most 600000"},
		{"Bash", `{"cmd":"x"}`, `"command" is missing`},
		{"BashOutput", `{"bash_id":"x","filter":"("}`, "missing closing )"},
	} {
		if _, err := b.tools[tt.tool].Plan(json.RawMessage(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s(%s): %v", tt.tool, tt.in, err)
		}
	}
}

func TestPlans(t *testing.T) { // spec S-7
	b := newBench(t, "")
	for _, tt := range []struct {
		in       args
		readOnly bool
	}{
		{args{"command": "git status && ls -la"}, true},
		{args{"command": "ls", "run_in_background": true}, false},
		{args{"command": "rm x"}, false},
		{args{"command": "ls > x"}, false},
	} {
		p := b.plan("Bash", tt.in)
		if p.ReadOnly != tt.readOnly || p.Ask.Tool != "Bash" || p.Ask.Input.Command != tt.in["command"] || p.Ask.WorkDir != b.dir || p.Ask.Home != "/home/u" {
			t.Errorf("%v: %+v, read only %v", tt.in, p.Ask, p.ReadOnly)
		}
	}
	if p := b.plan("KillShell", args{"shell_id": "x"}); p.Ask.Tool != "" || p.ReadOnly {
		t.Errorf("KillShell: %+v", p)
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t, "")
	path := b.pipe("up")
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	plan := b.plan("Bash", args{"command": "exec 3>up; echo up >&3; sleep 9999"})
	go func() {
		_, err := plan.Run(ctx, agent.CallEnv{Progress: func(string) {}})
		errs <- err
	}()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(f, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if rest, err := io.ReadAll(f); err != nil || len(rest) > 0 { // ends when nobody holds the pipe
		t.Errorf("%q, %v", rest, err)
	}
}

func TestProgress(t *testing.T) {
	b := newBench(t, "")
	var mu sync.Mutex
	var said []string
	_, err := b.plan("Bash", args{"command": "echo one"}).Run(t.Context(), agent.CallEnv{Progress: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, s)
	}})
	if err != nil || len(said) != 1 || said[0] != "one" {
		t.Errorf("%q, %v", said, err)
	}
}

// TestNoShell: a command that cannot be started is a failure of the call, not
// of the turn.
func TestNoShell(t *testing.T) {
	s := bash.NewShells(bash.Options{Base: tool.Base{Dir: filepath.Join(t.TempDir(), "gone")}, Runner: shell.Exec{}})
	p, err := s.Tools()[0].Plan(json.RawMessage(`{"command":"ls"}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context(), agent.CallEnv{Progress: func(string) {}})
	if err != nil || !r.IsError || r.Text == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestDefaultTimeout(t *testing.T) {
	var got []time.Duration
	record := runner(func(_ context.Context, c shell.Command) (shell.Output, error) {
		got = append(got, c.Timeout)
		return shell.Output{}, nil
	})
	s := bash.NewShells(bash.Options{Base: tool.Base{Dir: "/"}, Runner: record})
	for _, in := range []string{`{"command":"x"}`, `{"command":"x","timeout":1500}`, `{"command":"x","run_in_background":true}`} {
		p, err := s.Tools()[0].Plan(json.RawMessage(in))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), agent.CallEnv{Progress: func(string) {}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "[2m0s 1.5s 0s]" {
		t.Errorf("%v", got)
	}
}

// A runner is a [shell.Runner] that is a function.
type runner func(context.Context, shell.Command) (shell.Output, error)

func (r runner) Run(ctx context.Context, c shell.Command) (shell.Output, error) { return r(ctx, c) }

func FuzzPlan(f *testing.F) {
	for _, s := range []string{`{"command":"ls"}`, `{"command":"x","timeout":1e3}`, `{"bash_id":"a","filter":"("}`, `{"shell_id":"a"}`, `[]`} {
		f.Add([]byte(s))
	}
	s := bash.NewShells(bash.Options{Base: tool.Base{Dir: f.TempDir()}, Runner: shell.Exec{}})
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, one := range s.Tools() {
			if p, err := one.Plan(raw); err == nil && (p.Run == nil || strings.ContainsRune(p.Ask.Input.Command, 0)) {
				t.Errorf("%s(%q) asks for %q", one.Spec().Name, raw, p.Ask.Input.Command)
			}
		}
	})
}
