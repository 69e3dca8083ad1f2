//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestInterrupt: Ctrl-C while an inline command runs ends with exit 130, and
// the command with everything it started is gone (P-11).
func TestInterrupt(t *testing.T) {
	for _, args := range [][]string{{"render", "slow", "--trust", "--yes"}, {"-p", "/slow", "--trust"}} {
		t.Run(args[0], func(t *testing.T) {
			w := newWorld(t)
			pipe := w.path("started")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			w.skill("slow", "---\ndescription: slow\nallowed-tools: Bash\n---\n!`sleep 1000 & echo $! > started; wait`\n")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := w.command(ctx, args...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(pipe) // waits for the command to write
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			line, err := bufio.NewReader(f).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			child, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit %d, want 130: %s", code, stderr.String())
			}
			if stdout.Len() > 0 {
				t.Errorf("a cancelled run prints %q", stdout.String())
			}
			if err := gone(ctx, child); err != nil {
				t.Errorf("the child of the inline command still runs: %v", err)
			}
		})
	}
}

// gone waits until no process has the id, or only a dead one that nobody has
// asked for yet.
func gone(ctx context.Context, pid int) error {
	for ctx.Err() == nil {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		out, err := exec.CommandContext(ctx, "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z") {
			return nil
		}
	}
	return ctx.Err()
}

// TestClosedOutput: a reader that goes away, as in `knack list | head -1`, is
// no reason to panic or to complain at length.
func TestClosedOutput(t *testing.T) {
	w := newWorld(t)
	for i := range 400 { // more than a pipe holds
		w.skill("many-"+strconv.Itoa(i), "---\ndescription: "+strings.Repeat("long ", 100)+"\n---\n")
	}
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"listing", "--context", "9000000"}, {"check", "--strict"}, {"doctor"},
		{"-p", "/aaa", "--output-format", "stream-json"}} {
		r, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := w.command(ctx, args...)
		cmd.Env = append(cmd.Env, "COLUMNS=")
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = out, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		_, _ = io.CopyN(io.Discard, r, 1)
		r.Close()
		_ = cmd.Wait()
		if ctx.Err() != nil || strings.Contains(stderr.String(), "goroutine") || strings.Count(stderr.String(), "\n") > 3 {
			t.Errorf("knack %s: %s\n%s", strings.Join(args, " "), cmd.ProcessState, stderr.String())
		}
	}
}

// TestParallel: fifty processes on one tree print the same bytes (C-11).
func TestParallel(t *testing.T) {
	w := newWorld(t)
	for i := range 100 {
		w.skill("s"+strconv.Itoa(i), "---\ndescription: number "+strconv.Itoa(i)+"\n---\n")
	}
	want := w.run("list", "--json").stdout
	var group sync.WaitGroup
	got := make([]string, 50)
	for i := range got {
		group.Go(func() {
			cmd := w.command(t.Context(), "list", "--json")
			out, err := cmd.Output()
			if err != nil {
				got[i] = err.Error()
				return
			}
			got[i] = string(out)
		})
	}
	group.Wait()
	for i, g := range got {
		if g != want {
			t.Fatalf("process %d prints something else:\n%.500s", i, g)
		}
	}
}

// TestDeletedDirectory: a working directory that is gone is an error of the
// call, in one line.
func TestDeletedDirectory(t *testing.T) {
	w := newWorld(t)
	dir := w.mkdir("../gone")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `rmdir "$PWD" && exec knack list`)
	cmd.Dir, cmd.Env = dir, w.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 && code != 2 {
		t.Errorf("exit %d, want a failure", code)
	}
	if stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 || !strings.HasPrefix(stderr.String(), "knack: ") {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
}

// TestNoHome: without a home directory there are no user skills, and the rest
// works.
func TestNoHome(t *testing.T) {
	w := newWorld(t)
	var env []string
	for _, v := range w.env {
		if !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "KNACK_STATE_DIR=") {
			env = append(env, v)
		}
	}
	w.env = env
	w.list()
	for _, args := range [][]string{{"render", "aaa"}, {"doctor"}, {"-p", "/aaa"}, {"render", "create-skill", "x"}} {
		if out := w.run(args...); out.code != 0 {
			t.Errorf("knack %s: exit %d\n%s", strings.Join(args, " "), out.code, out.stderr)
		}
	}
	if out := w.run("new", "mine", "--dir", "user"); out.code != 1 || !strings.Contains(out.stderr, "HOME") {
		t.Errorf("knack new --dir user: exit %d\n%s", out.code, out.stderr)
	}
}

// TestUnwritable: a state directory that cannot be written, and a cache that
// cannot be made, cost what needs them and nothing else.
func TestUnwritable(t *testing.T) {
	w := newWorld(t)
	blocked := w.file("../blocked", "a file where a directory should be")
	w.env = append(w.env, "KNACK_STATE_DIR="+filepath.Join(blocked, "state"), "XDG_CACHE_HOME="+filepath.Join(blocked, "cache"))
	w.list()
	if out := w.run("render", "aaa"); out.code != 0 {
		t.Errorf("knack render: exit %d\n%s", out.code, out.stderr)
	}
	if out := w.run("doctor", "--trust"); out.code != 1 || !strings.Contains(out.stderr, "storing the answer") {
		t.Errorf("knack doctor --trust: exit %d\n%s", out.code, out.stderr)
	}
	// B-2: it runs without its files, and says so.
	for _, args := range [][]string{{"render", "create-skill", "x"}, {"show", "create-skill"}, {"-p", "/create-skill x"}} {
		out := w.run(args...)
		if out.code != 0 || !strings.Contains(out.stderr, "could not be extracted") || strings.Contains(out.stdout, "Base directory") {
			t.Errorf("knack %s: exit %d\n%s", strings.Join(args, " "), out.code, out.stderr)
		}
	}
}

// TestVanishingRoot: a root that other processes remove and make again while
// it is read never fails a start.
func TestVanishingRoot(t *testing.T) {
	w := newWorld(t)
	root, away := w.path(".claude/skills"), w.path(".claude/away")
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Rename(root, away) == nil {
				_ = os.Rename(away, root)
			}
		}
	})
	for range 20 {
		if out := w.run("list", "--json"); out.code != 0 {
			t.Errorf("exit %d\n%s", out.code, out.stderr)
		}
	}
	close(stop)
	group.Wait()
}

// TestFullDisk: output that cannot be written fails every command.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no device that is always full:", err)
	}
	defer full.Close()
	w := newWorld(t)
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"show", "aaa"}, {"render", "aaa"}, {"render", "aaa", "--trace"},
		{"listing"}, {"search", "first"}, {"check"}, {"explain", "aaa"}, {"permissions", "list"}, {"permissions", "explain", "Bash", `{"command":"ls"}`},
		{"doctor"}, {"version"}, {"new", "fresh"}, {"-p", "/aaa"}, {"-p", "/aaa", "--output-format", "stream-json"}, {"help", "list"}, {"completion", "bash"}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := w.command(ctx, args...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "knack: write ") {
			t.Errorf("knack %s: exit %d\n%s", strings.Join(args, " "), code, stderr.String())
		}
	}
}
