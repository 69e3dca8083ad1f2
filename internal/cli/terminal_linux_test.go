package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A screen is the other end of a terminal on which a process runs: what it
// shows, and a keyboard.
type screen struct {
	t      *testing.T
	ctx    context.Context
	cmd    *exec.Cmd
	master *os.File
	stdout bytes.Buffer
	shown  strings.Builder
	read   int // of shown, by wait
	bytes  chan []byte
}

// terminal starts knack with a terminal of its own. Its output is no terminal,
// and its input has nothing in it, as in `echo | knack -p … > file`.
func (w *world) terminal(args ...string) *screen {
	w.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		w.t.Skip("this system gives no terminals:", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		w.t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		w.t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	s := &screen{t: w.t, ctx: ctx, cmd: w.command(ctx, args...), master: master, bytes: make(chan []byte, 1024)}
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { cancel(); master.Close() })
	go func() {
		defer close(s.bytes)
		for {
			buf := make([]byte, 4096)
			n, err := master.Read(buf)
			if n > 0 {
				s.bytes <- buf[:n]
			}
			if err != nil {
				return // the process has ended
			}
		}
	}()
	return s
}

// wait reads until the screen shows want, after what was waited for before.
func (s *screen) wait(want string) *screen {
	s.t.Helper()
	for {
		rest := s.shown.String()[s.read:]
		if i := strings.Index(rest, want); i >= 0 {
			s.read += i + len(want)
			return s
		}
		if b, more := <-s.bytes; more {
			s.shown.WriteString(strings.ReplaceAll(string(b), "\r\n", "\n"))
			continue
		}
		s.t.Fatalf("the process ended without %q:\n%s", want, s.shown.String())
	}
}

func (s *screen) typed(keys string) *screen {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
	return s
}

// end waits for the process and returns its exit code.
func (s *screen) end() int {
	s.t.Helper()
	for b := range s.bytes {
		s.shown.WriteString(strings.ReplaceAll(string(b), "\r\n", "\n"))
	}
	_ = s.cmd.Wait()
	if s.ctx.Err() != nil {
		s.t.Fatalf("it hangs:\n%s", s.shown.String())
	}
	return s.cmd.ProcessState.ExitCode()
}

const choice = "[n]: "

// approvals lists what was approved for good.
func (w *world) approvals() string { return w.run("permissions", "approvals", "--json").stdout }

// shipping is a trusted workspace with a skill that runs a script of its own.
func shipping(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.skill("ship", "---\ndescription: ships the parcels to customers\nallowed-tools: Bash(sh *)\n---\nShip: !`sh ${CLAUDE_SKILL_DIR}/run.sh`\n")
	w.file(".claude/skills/ship/run.sh", "echo one\n")
	if out := w.run("doctor", "--trust"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	return w
}

// TestTerminalApproval is the whole life of an approval on a real terminal: no,
// for good, silence, a change with its diff, revoked (S-2, S-14).
func TestTerminalApproval(t *testing.T) {
	w := shipping(t)
	args := []string{"-p", "ship the parcels to customers"}
	question := "The model wants to use the skill ship."

	for keys, code := range map[string]int{"\n": 3, "n not now\n": 3, "\x04": 3, "\x03": 130} {
		s := w.terminal(args...)
		s.wait(question).wait("runs at once: sh ").wait(choice).typed(keys)
		if got := s.end(); got != code || s.stdout.Len() > 0 {
			t.Errorf("%q: exit %d, %q\n%s", keys, got, s.stdout.String(), s.shown.String())
		}
	}
	s := w.terminal(args...)
	s.wait(choice).typed("y\n")
	if s.end() != 0 || !strings.Contains(s.stdout.String(), "Ship: one") || strings.Contains(s.stdout.String(), "wants") || w.approvals() != "[]\n" {
		t.Errorf("once: %q\n%s", s.stdout.String(), s.shown.String())
	}
	s = w.terminal(args...)
	s.wait(question).wait(choice).typed("a\n")
	if s.end() != 0 || !strings.Contains(w.approvals(), `"skill":"project:ship"`) {
		t.Errorf("always: %s\n%s", w.approvals(), s.shown.String())
	}
	if out := w.run(args...); out.code != 0 || !strings.Contains(out.stdout, "Ship: one") || out.stderr != "" {
		t.Errorf("approved: %+v", out)
	}
	w.file(".claude/skills/ship/run.sh", "echo two\n")
	if out := w.run(args...); out.code != 3 || !strings.Contains(out.stderr, "run.sh has changed") {
		t.Errorf("changed, without a terminal: %+v", out)
	}
	s = w.terminal(args...)
	s.wait("is not what you approved").wait("changed: run.sh has changed").wait("| -echo one").wait("| +echo two").wait(choice).typed("a\n")
	if s.end() != 0 || !strings.Contains(s.stdout.String(), "Ship: two") {
		t.Errorf("changed: %q\n%s", s.stdout.String(), s.shown.String())
	}
	_, id, _ := strings.Cut(w.approvals(), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if out := w.run("permissions", "approvals", "--revoke", id); out.code != 0 || w.approvals() != "[]\n" {
		t.Errorf("revoke: %+v", out)
	}
	if out := w.run(args...); out.code != 3 {
		t.Errorf("revoked: %+v", out)
	}
	for _, none := range []string{"", "../x", id} {
		if out := w.run("permissions", "approvals", "--revoke", none); out.code != 2 {
			t.Errorf("revoke %q: %+v", none, out)
		}
	}
}

// TestTerminalTrust: the first time in a repository the person is asked once,
// told what it would switch on, and the answer is kept (S-9).
func TestTerminalTrust(t *testing.T) {
	for _, tt := range []struct {
		keys     string
		asked    bool // again
		inert    bool
		settings string
	}{
		{"y\n", false, false, "{}"}, {"n\n", false, true, "{}"}, {"\x04", true, true, "{}"},
		{"y\n", false, false, `{"env": {"A": "b"}, "permissions": {"allow": ["Bash(make)"]}}`},
	} {
		w := newWorld(t)
		w.skill("info", "---\ndescription: d\nallowed-tools: Bash(echo:*)\n---\nSays !`echo hello`.\n")
		w.file(".claude/settings.json", tt.settings)
		s := w.terminal("-p", "/info")
		s.wait("for the first time")
		if tt.settings != "{}" {
			s.wait("settings in " + filepath.Join(w.repo, ".claude")).wait("env").wait("allow rules").wait("Bash(make)")
		}
		s.wait("skill info allows without asking: Bash(echo:*)").wait("skill info runs at once: echo hello").wait("y / n: ").typed(tt.keys)
		if s.end() != 0 || strings.Contains(s.stdout.String(), "not run: workspace is not trusted") != tt.inert {
			t.Errorf("%q: %q\n%s", tt.keys, s.stdout.String(), s.shown.String())
		}
		s = w.terminal("-p", "/info")
		if tt.asked {
			s.wait("for the first time").wait("y / n: ").typed("n\n")
		}
		if s.end() != 0 || strings.Contains(s.stdout.String(), "not run: workspace is not trusted") != tt.inert ||
			strings.Contains(s.shown.String(), "for the first time") != tt.asked {
			t.Errorf("%q, again: %q\n%s", tt.keys, s.stdout.String(), s.shown.String())
		}
		if n := strings.Count(s.shown.String(), "not trusted"); n > 1 {
			t.Errorf("%q: %d notices\n%s", tt.keys, n, s.shown.String())
		}
	}
	// Nothing to switch on, nothing to ask.
	w := newWorld(t)
	if s := w.terminal("-p", "/aaa"); s.end() != 0 || s.shown.Len() > 0 {
		t.Errorf("%q", s.shown.String())
	}
}

// TestTerminalTools: calls of the agent are asked about as skills are, what is
// said for the session or for good is not asked again, and AskUserQuestion
// reaches the person (S-2, A-3). dontAsk asks nothing.
func TestTerminalTools(t *testing.T) {
	w := newWorld(t)
	if out := w.run("doctor", "--trust"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	bash := func(line string) string {
		return `{"calls":[{"name":"Bash","input":{"command":"` + line + `","description":"d"}}]}`
	}
	script := func(steps ...string) string {
		return w.file("script.json", `{"steps":[`+strings.Join(append(steps, `{"text":"end"}`), ",")+`]}`)
	}
	exists := func(name string) bool {
		_, err := os.Stat(w.path(name))
		return err == nil
	}
	s := w.terminal("-p", "go", "--model", "scripted:"+script(bash("touch one"), bash("touch two"), bash("mkdir three")))
	s.wait("wants to use the tool Bash").wait("$ touch one").wait(choice).typed("s\n")
	s.wait("$ mkdir three").wait(choice).typed("n no\n")
	if s.end() != 0 || !exists("one") || !exists("two") || exists("three") {
		t.Errorf("session:\n%s", s.shown.String())
	}
	s = w.terminal("-p", "go", "--model", "scripted:"+script(bash("mkdir three"), bash("mkdir four")))
	s.wait("$ mkdir three").wait("always means the rule: Bash(mkdir:*)").wait(choice).typed("a\n")
	if s.end() != 0 || !exists("three") || !exists("four") {
		t.Errorf("always:\n%s", s.shown.String())
	}
	if data, err := os.ReadFile(w.path(".claude/settings.local.json")); err != nil || !strings.Contains(string(data), `"Bash(mkdir:*)"`) {
		t.Errorf("%s, %v", data, err)
	}
	if out := w.run("-p", "go", "--model", "scripted:"+script(bash("mkdir five"))); out.code != 0 || !exists("five") {
		t.Errorf("the rule: %+v", out)
	}
	s = w.terminal("-p", "go", "--permission-mode", "dontAsk", "--model", "scripted:"+script(bash("touch six")))
	if s.end() != 0 || exists("six") || strings.Contains(s.shown.String(), choice) {
		t.Errorf("dontAsk:\n%s", s.shown.String())
	}
	ask := `{"calls":[{"name":"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"red"},{"label":"blue"}]}]}}]}`
	s = w.terminal("-p", "go", "--model", "scripted:"+script(ask), "--output-format", "stream-json")
	s.wait("Which?").wait("2  blue").wait("> ").typed("2\n")
	if s.end() != 0 || !strings.Contains(s.stdout.String(), `Which?\n- blue`) {
		t.Errorf("question: %s\n%s", s.stdout.String(), s.shown.String())
	}
}

// TestTerminalTypedAhead: what was typed before there was a question answers
// none.
func TestTerminalTypedAhead(t *testing.T) {
	w := newWorld(t)
	if out := w.run("doctor", "--trust"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	w.file("script.json", `{"steps":[{"calls":[{"name":"Bash","input":{"command":"touch one","description":"d"}}]},`+
		`{"calls":[{"name":"Bash","input":{"command":"mkdir two","description":"d"}}]},{"text":"end"}]}`)
	s := w.terminal("-p", "go", "--model", "scripted:"+w.path("script.json"))
	s.wait("$ touch one").wait(choice).typed("y\ny\ny\n")
	s.wait("$ mkdir two").wait(choice).typed("n\n")
	if s.end() != 0 {
		t.Error(s.shown.String())
	}
	if _, err := os.Stat(w.path("two")); err == nil {
		t.Errorf("a line typed ahead said yes:\n%s", s.shown.String())
	}
}

// TestTerminalTwo: two processes that ask about one skill at once, and get one
// yes for the old text and one for the new, keep what is on the disk or nothing.
func TestTerminalTwo(t *testing.T) {
	w := shipping(t)
	args := []string{"-p", "ship the parcels to customers"}
	first, second := w.terminal(args...), w.terminal(args...)
	first.wait(choice)
	second.wait(choice)
	w.file(".claude/skills/ship/run.sh", "echo two\n")
	first.typed("a\n").wait("its files have changed").wait(choice).typed("a\n") // shown again: it is another one
	if first.end() != 0 || !strings.Contains(first.stdout.String(), "Ship: two") {
		t.Errorf("first: %q\n%s", first.stdout.String(), first.shown.String())
	}
	second.typed("a\n")
	if code := second.end(); code != 0 || !strings.Contains(second.stdout.String(), "Ship: two") {
		t.Errorf("second: exit %d %q\n%s", code, second.stdout.String(), second.shown.String())
	}
	if out := w.run(args...); out.code != 0 || !strings.Contains(out.stdout, "Ship: two") {
		t.Errorf("kept: %+v", out)
	}
	w.file(".claude/skills/ship/run.sh", "echo one\n")
	if out := w.run(args...); out.code != 3 {
		t.Errorf("the old text: %+v", out)
	}
}
