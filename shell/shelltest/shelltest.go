// Package shelltest holds the contract that every [shell.Runner] must keep
// (spec P-9, P-11, P-12). It needs bash and a Unix system.
package shelltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/shell"
)

// patience bounds what the suite waits for. Nothing waits that long unless the
// runner is at fault.
const patience = 30 * time.Second

// Run runs the suite against r.
func Run(t *testing.T, r shell.Runner) {
	t.Run("output", func(t *testing.T) { output(t, r) })
	t.Run("arguments", func(t *testing.T) { arguments(t, r) })
	t.Run("surroundings", func(t *testing.T) { surroundings(t, r) })
	t.Run("input", func(t *testing.T) { input(t, r) })
	t.Run("merge", func(t *testing.T) { merge(t, r) })
	t.Run("limit", func(t *testing.T) { limit(t, r) })
	t.Run("time", func(t *testing.T) { timeout(t, r) })
	t.Run("background", func(t *testing.T) { background(t, r) })
	t.Run("cancel", func(t *testing.T) { cancel(t, r) })
	t.Run("parallel", func(t *testing.T) { parallel(t, r) })
	t.Run("refused", func(t *testing.T) { refused(t, r) })
}

// must runs c and fails the test on an error.
func must(t *testing.T, r shell.Runner, c shell.Command) shell.Output {
	t.Helper()
	out, err := r.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("Run(%q): %v", c.Line, err)
	}
	return out
}

func output(t *testing.T, r shell.Runner) {
	for _, tt := range []struct {
		line           string
		stdout, stderr string
		exit           int
	}{
		{"echo hello", "hello\n", "", 0},
		{"printf 'no newline'", "no newline", "", 0},
		{"echo out; echo err >&2", "out\n", "err\n", 0},
		{"exit 7", "", "", 7},
		{"false", "", "", 1},
		{"kill -TERM $$", "", "", 128 + 15},
		{"kill -KILL $$", "", "", 128 + 9},
		{"printf 'a\\0b'", "a\x00b", "", 0},
		{"printf '\\377'", "\xff", "", 0},
		{"first=1\nif true; then\n  echo $((first + 1))\nfi", "2\n", "", 0},
		{"shopt -q login_shell || [[ $- != *i* ]] && echo plain", "plain\n", "", 0},
	} {
		out := must(t, r, shell.Command{Line: tt.line})
		if got := string(out.Stdout); got != tt.stdout {
			t.Errorf("%q: stdout %q, want %q", tt.line, got, tt.stdout)
		}
		if got := string(out.Stderr); got != tt.stderr {
			t.Errorf("%q: stderr %q, want %q", tt.line, got, tt.stderr)
		}
		if out.Exit != tt.exit || out.TimedOut || out.Lost {
			t.Errorf("%q: exit %d, timed out %v, lost %v; want exit %d", tt.line, out.Exit, out.TimedOut, out.Lost, tt.exit)
		}
		if out.Duration <= 0 {
			t.Errorf("%q: duration %v", tt.line, out.Duration)
		}
	}
	out := must(t, r, shell.Command{Line: "no-such-program-here"})
	if out.Exit != 127 || !strings.Contains(string(out.Stderr), "no-such-program-here") {
		t.Errorf("unknown program: exit %d, stderr %q", out.Exit, out.Stderr)
	}
}

// arguments: they are data whatever they contain (spec P-9).
func arguments(t *testing.T, r shell.Runner) {
	dir := t.TempDir()
	pwned := filepath.Join(dir, "pwned")
	evil := []string{
		"plain", "", "two words", "don't", `say "hi"`, "$(touch " + pwned + ")", "`touch " + pwned + "`",
		"x; touch " + pwned, "-x", "--", "-c", "touch " + pwned, "line\nbreak", "*", "~", "${HOME}", "日本 語", `back\slash`,
	}
	out := must(t, r, shell.Command{Line: `printf '<%s>' "$0" "$@"`, Args: evil, Dir: dir})
	if got, want := string(out.Stdout), "<"+strings.Join(evil, "><")+">"; got != want {
		t.Errorf("arguments arrive as\n%q, want\n%q", got, want)
	}
	// A line that begins with a dash is still the line.
	out = must(t, r, shell.Command{Line: "-x", Args: []string{"touch " + pwned}, Dir: dir})
	if out.Exit != 127 {
		t.Errorf("line -x: exit %d, want 127", out.Exit)
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("an argument ran as a program")
	}
}

func surroundings(t *testing.T, r shell.Runner) {
	dir := t.TempDir()
	startup := filepath.Join(dir, "startup")
	if err := os.WriteFile(startup, []byte("echo read start-up file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "ONLY=this one", "BASH_ENV=" + startup, "ENV=" + startup}
	for line, want := range map[string]string{
		"pwd -P":                               real(t, dir) + "\n",
		"cat; echo end":                        "end\n", // standard input is empty
		"test -t 0 || test -t 1 || echo none":  "none\n",
		"(: </dev/tty) 2>/dev/null || echo no": "no\n", // and there is no terminal to open
		`echo "$ONLY/$HOME"`:                   "this one/\n",
		// The command leads a process group, which can be killed as one.
		`kill -0 -- -$$ && echo leader`: "leader\n",
	} {
		out := must(t, r, shell.Command{Line: line, Dir: dir, Env: env})
		if got := string(out.Stdout); got != want {
			t.Errorf("%q printed %q, want %q (stderr %q)", line, got, want, out.Stderr)
		}
	}
	t.Setenv("KNACK_SHELLTEST", "inherited")
	if out := must(t, r, shell.Command{Line: "echo $KNACK_SHELLTEST"}); string(out.Stdout) != "inherited\n" {
		t.Errorf("nil Env: printed %q, want the process's own", out.Stdout)
	}
}

func real(t *testing.T, dir string) string {
	t.Helper()
	p, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// merge: both streams come in the order in which they were written, also to
// who follows them, and a follower that fails is not the command's trouble.
func merge(t *testing.T, r shell.Runner) {
	const line = "for i in 0 1 2 3 4 5 6 7 8 9; do echo out$i; echo err$i >&2; done"
	var want strings.Builder
	for i := range 10 {
		fmt.Fprintf(&want, "out%d\nerr%d\n", i, i)
	}
	var got strings.Builder
	out := must(t, r, shell.Command{Line: line, Merge: true, Follow: &got})
	if string(out.Stdout) != want.String() || len(out.Stderr) > 0 {
		t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
	}
	if got.String() != want.String() {
		t.Errorf("followed %q", got.String())
	}
	out = must(t, r, shell.Command{Line: line, Merge: true, Follow: deaf{}, Limit: 10})
	if out.Exit != 0 || string(out.Stdout) != want.String()[:10] {
		t.Errorf("exit %d, stdout %q", out.Exit, out.Stdout)
	}
	got.Reset()
	out = must(t, r, shell.Command{Line: line, Follow: &got})
	if got.String() != string(out.Stdout) || strings.Contains(got.String(), "err") {
		t.Errorf("followed %q without merging", got.String())
	}
}

// deaf is a writer that always fails.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func limit(t *testing.T, r shell.Runner) {
	const line = "for i in 0 1 2 3 4 5 6 7 8 9; do printf '%s' aaaaaaaaa$i; printf '%s' bbbbbbbbb$i >&2; done"
	var want [2]string
	for i := range 10 {
		want[0] += fmt.Sprintf("aaaaaaaaa%d", i)
		want[1] += fmt.Sprintf("bbbbbbbbb%d", i)
	}
	spill := filepath.Join(t.TempDir(), "new", "spill")
	out := must(t, r, shell.Command{Line: line, Limit: 25, Spill: spill})
	for i, got := range []struct {
		head []byte
		file string
	}{{out.Stdout, out.StdoutFile}, {out.Stderr, out.StderrFile}} {
		if string(got.head) != want[i][:25] {
			t.Errorf("head %q, want %q", got.head, want[i][:25])
		}
		full, err := os.ReadFile(got.file)
		if err != nil || string(full) != want[i] {
			t.Errorf("file holds %q (%v), want %q", full, err, want[i])
		}
		if info, err := os.Stat(got.file); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("file mode %v, want 0600", info.Mode())
		}
	}
	if out.Lost {
		t.Error("lost is set though everything was saved")
	}
	out = must(t, r, shell.Command{Line: line, Limit: 100, Spill: spill})
	if out.StdoutFile != "" || string(out.Stdout) != want[0] {
		t.Errorf("output of exactly the limit went to a file: %q", out.StdoutFile)
	}
	out = must(t, r, shell.Command{Line: line, Limit: 25})
	if out.StdoutFile != "" || string(out.Stdout) != want[0][:25] || !out.Lost {
		t.Errorf("without a spill directory: %q in %q, lost %v", out.Stdout, out.StdoutFile, out.Lost)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out = must(t, r, shell.Command{Line: line, Limit: 25, Spill: blocked})
	if out.Exit != 0 || !out.Lost || string(out.Stdout) != want[0][:25] {
		t.Errorf("a spill directory that cannot be made: exit %d, lost %v, %q", out.Exit, out.Lost, out.Stdout)
	}
}

// A lifeline tells when all processes that hold it are gone: it is a FIFO, and
// its reader sees the end when the last writer has died.
type lifeline struct {
	path string
	r    *os.File
}

func newLifeline(t *testing.T, r shell.Runner) lifeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lifeline")
	if out := must(t, r, shell.Command{Line: `mkfifo "$0"`, Args: []string{path}}); out.Exit != 0 {
		t.Fatalf("mkfifo: %s", out.Stderr)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return lifeline{path, f}
}

// ended waits until no process holds the lifeline and returns what they wrote.
func (l lifeline) ended(t *testing.T) string {
	t.Helper()
	if err := l.r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(l.r)
	if err != nil {
		t.Errorf("a process is left behind: %v", err)
	}
	return string(b)
}

// timeout: the whole group dies, and a grandchild that holds the output does
// not keep Run waiting.
func timeout(t *testing.T, r shell.Runner) {
	// What a command needs to begin is no part of what is tested: a sandbox is
	// slower, and so is a busy machine.
	enough := 300*time.Millisecond + 20*must(t, r, shell.Command{Line: ":"}).Duration
	for _, line := range []string{
		`exec 3>"$0"; echo up >&3; sleep 9999`,
		`exec 3>"$0"; echo up >&3; sleep 9999 & wait`,
		`exec 3>"$0"; echo up >&3; (trap '' TERM INT HUP; sleep 9999; sleep 9999) & sleep 9999`,
		`exec 3>"$0"; echo up >&3; while :; do :; done`,
		`exec 3>"$0"; echo up >&3; yes`,
	} {
		l := newLifeline(t, r)
		out := must(t, r, shell.Command{Line: "echo partial; " + line, Args: []string{l.path}, Timeout: enough})
		if !out.TimedOut || out.Exit != 128+9 {
			t.Errorf("%q: timed out %v, exit %d", line, out.TimedOut, out.Exit)
		}
		if !strings.HasPrefix(string(out.Stdout), "partial\n") {
			t.Errorf("%q: output before the timeout is gone: %.20q", line, out.Stdout)
		}
		l.ended(t)
	}
	if out := must(t, r, shell.Command{Line: "echo quick", Timeout: patience}); out.TimedOut || string(out.Stdout) != "quick\n" {
		t.Errorf("a quick command: timed out %v, %q", out.TimedOut, out.Stdout)
	}
}

// background: children that outlive the command are awaited for a moment, for
// the sake of their output, and then killed.
func background(t *testing.T, r shell.Runner) {
	for line, want := range map[string]string{
		`exec 3>"$0"; echo up >&3; sleep 300 & echo done`:                   "done\n",
		`exec 3>"$0"; echo up >&3; sleep 300 >/dev/null 2>&1 & echo done`:   "done\n",
		`exec 3>"$0"; echo up >&3; set -m; sleep 300 3>&- & echo done`:      "done\n",
		`exec 3>"$0"; echo up >&3; { echo late | cat | cat; } & echo -n ''`: "late\n",
	} {
		l := newLifeline(t, r)
		out := must(t, r, shell.Command{Line: line, Args: []string{l.path}})
		if out.Exit != 0 || out.TimedOut || string(out.Stdout) != want {
			t.Errorf("%q: exit %d, timed out %v, %q", line, out.Exit, out.TimedOut, out.Stdout)
		}
		if got := l.ended(t); got != "up\n" {
			t.Errorf("%q: lifeline %q", line, got)
		}
	}
}

func cancel(t *testing.T, r shell.Runner) {
	l := newLifeline(t, r)
	ctx, stop := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx, shell.Command{Line: `exec 3>"$0"; echo up >&3; sleep 300 & sleep 300`, Args: []string{l.path}})
		done <- err
	}()
	waitFor(t, l)
	stop(errors.New("enough"))
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: error %v, want context.Canceled", err)
		}
	case <-time.After(patience):
		t.Fatal("a cancelled command goes on")
	}
	l.ended(t)
	if _, err := r.Run(ctx, shell.Command{Line: "echo no"}); !errors.Is(err, context.Canceled) {
		t.Errorf("started under a cancelled context: %v", err)
	}
}

// waitFor reads the first byte that the command writes to its lifeline.
func waitFor(t *testing.T, l lifeline) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		if err := l.r.SetReadDeadline(deadline); err != nil {
			t.Fatal(err)
		}
		n, err := l.r.Read(make([]byte, 1))
		if n > 0 {
			return
		}
		if err != io.EOF || time.Now().After(deadline) { // end: no writer has come yet
			t.Fatalf("the command does not start: %v", err)
		}
	}
}

func parallel(t *testing.T, r shell.Runner) {
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			want := fmt.Sprintf("number %d\n", i)
			out, err := r.Run(t.Context(), shell.Command{Line: `echo "number $0"`, Args: []string{fmt.Sprint(i)}})
			if err != nil || string(out.Stdout) != want {
				t.Errorf("got %q (%v), want %q", out.Stdout, err, want)
			}
		})
	}
	wg.Wait()
}

func refused(t *testing.T, r shell.Runner) {
	var missing *shell.MissingError
	if _, err := r.Run(t.Context(), shell.Command{Line: "echo", Shell: "no-such-shell"}); !errors.As(err, &missing) {
		t.Errorf("unknown shell: %v, want a MissingError", err)
	}
	dir := filepath.Join(t.TempDir(), "gone")
	if _, err := r.Run(t.Context(), shell.Command{Line: "echo", Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("missing directory: %v, want an error that names it", err)
	}
}
