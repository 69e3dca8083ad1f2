package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/shell/shelltest"
)

// each runs a test in every mechanism of the machine and says, for one that is
// missing, which promise stays unproven.
func each(t *testing.T, promise Promise, p Policy, run func(t *testing.T, s *Sandbox, full bool)) {
	for i, m := range mechanisms() {
		t.Run(m.name, func(t *testing.T) {
			if promise != Working { // the contract changes the environment
				t.Parallel()
			}
			s := only(t, m.name, p)
			r, err := s.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Mechanism == "" {
				t.Skipf("UNTESTED here: %q by %s: %s", promise, m.name, strings.Join(r.Tried, "; "))
			}
			run(t, s, i < 2)
		})
	}
}

// A sandboxed command is a command: same arguments, input, outputs, limits, and
// nothing is left behind (spec P-9, P-11, P-12).
func TestContract(t *testing.T) {
	each(t, Working, Policy{Mode: On}, func(t *testing.T, s *Sandbox, _ bool) {
		if testing.Short() && s.report.Mechanism != mechanisms()[0].name {
			t.Skip("the short run tries the contract in the first mechanism only")
		}
		base := t.TempDir()
		t.Setenv("TMPDIR", base) // where the suite has its files
		s.o.Policy = func() Policy { return Policy{Mode: On, Dirs: []string{base}} }
		shelltest.Run(t, s)
	})
}

// Where a person may make namespaces, the first mechanism holds everything: a
// fault of it must not pass for a machine that lacks it.
func TestNamespacesHoldEverything(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-Urmpn", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("UNTESTED here: namespaces cannot be made: %v %s", err, out)
	}
	r, err := only(t, mechanisms()[0].name, Policy{}).Probe(t.Context())
	if err != nil || r.Mechanism == "" || len(r.Missing()) > 0 {
		t.Errorf("%q, missing %v, %v", r.Tried, r.Missing(), err)
	}
}

// Where the kernel has Landlock, it holds what needs no mount.
func TestLandlockHoldsWrites(t *testing.T) {
	t.Parallel()
	if v := landlockVersion(); v < 6 {
		t.Skipf("UNTESTED here: Landlock has version %d, which does not hold signals", v)
	}
	r, err := only(t, mechanisms()[2].name, Policy{}).Probe(t.Context())
	if err != nil || r.Mechanism == "" {
		t.Fatalf("%q, %v", r.Tried, err)
	}
	for _, c := range r.Missing() {
		if c.Promise != Attributes && c.Promise != Protected && c.Promise != Leftovers {
			t.Errorf("%s: %s", c.Promise, c.Detail)
		}
	}
}

// A yard is a home with a project in it and things next to it.
type yard struct{ base, project, home, sibling string }

func newYard(t *testing.T) yard {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := yard{base, filepath.Join(base, "home", "project"), filepath.Join(base, "home"), filepath.Join(base, "home", "sibling")}
	for _, d := range []string{filepath.Join(y.project, ".git", "hooks"), filepath.Join(y.project, "src"), filepath.Join(y.sibling, ".git", "hooks")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"home/.bashrc", "home/key", "home/sibling/main.go", "home/project/src/main.go", "home/project/.git/config"} {
		if err := os.WriteFile(filepath.Join(base, f), []byte("original\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return y
}

// state describes everything below dir that a command could change.
func state(t *testing.T, dir string, skip ...string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, s := range skip {
			if path == s {
				return filepath.SkipDir
			}
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		st := fi.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%s %v %d:%d %d %v", path, fi.Mode(), st.Uid, st.Gid, st.Nlink, fi.ModTime().UnixNano())
		if fi.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", text)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// escapes are ways to change what lies outside of the working directory, which
// is $PWD; $HOME is its parent.
var escapes = map[string]string{
	"home":                  `echo x > "$HOME/new"; echo x >> "$HOME/.bashrc"; : > "$HOME/key"`,
	"sibling repository":    `echo x > ../sibling/main.go; touch ../sibling/.git/hooks/pre-commit`,
	"remove":                `rm -rf "$HOME/key" ../sibling`,
	"rename":                `mv "$HOME/key" "$HOME/key2"; mv "$HOME/key" .; mv src "$HOME/src"`,
	"link":                  `ln -s "$HOME" out && echo x > out/new; ln -s "$HOME/key" k && echo x > k`,
	"link swapped late":     `for i in 1 2 3 4 5 6 7 8; do ln -sfn src x; ln -sfn "$HOME" x; echo x > x/new; done`,
	"hard link":             `ln "$HOME/key" hard && echo x > hard`,
	"open file again":       `exec 5<"$HOME/key"; echo x > /proc/self/fd/5; echo x > /dev/fd/5`,
	"through /proc":         `echo x > /proc/self/root"$HOME"/new; echo x > /proc/self/cwd/../new`,
	"the parent's view":     `for p in /proc/[0-9]*; do echo x > $p/root"$HOME"/new; done`,
	"working directory":     `cd "$HOME" && mv project gone; rm -rf "$HOME/project" 2>&1 | tail -1; mkdir -p "$HOME/project2"`,
	"device":                `mknod d b 254 0; mknod c c 1 1; echo x > c`,
	"temp of others":        `echo x > "$OTHERS/file"`,
	"truncate":              `truncate -s 0 "$HOME/key"; dd if=/dev/zero of="$HOME/key" count=1`,
	"child":                 `bash -c 'bash -c "echo x > $HOME/new"'; env -i /bin/sh -c "echo x > $HOME/new"`,
	"own namespace":         `unshare -Urm sh -c "mount -t tmpfs none $HOME; echo x > $HOME/new"; nsenter -t 1 -a touch "$HOME/new"`,
	"remount":               `mount -o remount,rw /; mount --bind "$HOME" src && echo x > src/new; umount /proc`,
	"child that stays":      `setsid bash -c 'for i in 1 2 3 4 5 6 7 8 9; do echo x > "$HOME/new"; sleep 0.1; done' >/dev/null 2>&1 & sleep 0.1`,
	"copy with a directory": `cp -r src "$HOME/"; tar c src | tar x -C "$HOME"`,
}

// Nothing outside the working and temporary directory is written, in whatever
// way (spec S-13). Modes and times need a mount to be held.
func TestWritesStayInside(t *testing.T) {
	each(t, Writes, Policy{}, func(t *testing.T, s *Sandbox, _ bool) {
		for name, line := range escapes {
			t.Run(name, func(t *testing.T) {
				y, others := newYard(t), t.TempDir()
				s.o.Policy = func() Policy { return Policy{Mode: On, Dirs: []string{y.project}} }
				before := state(t, y.base, y.project) + state(t, others)
				out, err := s.Run(t.Context(), shell.Command{Line: line, Dir: y.project, Timeout: time.Minute,
					Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + y.home, "OTHERS=" + others}})
				if err != nil {
					t.Fatal(err)
				}
				if after := state(t, y.base, y.project) + state(t, others); after != before {
					t.Errorf("%s\nchanged\n%s\nto\n%s\nit said %s", line, before, after, out.Stderr)
				}
				if _, err := os.Stat(y.project); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// Modes, owners, times and attributes are held where there is a mount
// namespace; where there is none the report says so.
func TestAttributesStay(t *testing.T) {
	each(t, Attributes, Policy{}, func(t *testing.T, s *Sandbox, full bool) {
		y := newYard(t)
		s.o.Policy = func() Policy { return Policy{Mode: Required, Dirs: []string{y.project}} }
		before := state(t, y.base, y.project)
		_, err := s.Run(t.Context(), shell.Command{Dir: y.project, Args: []string{y.home},
			Line: `chmod 777 "$0/key" "$0"; touch -d 2001-01-01 "$0/key" "$0"; chown 1:1 "$0/key"; setfattr -n user.x -v y "$0/key"; ln -s "$0/key" l; chmod 777 l`})
		after := state(t, y.base, y.project)
		if full && (err != nil || before != after) {
			t.Errorf("changed\n%s\nto\n%s (%v)", before, after, err)
		}
		if r := s.report; !full && (err == nil || holds(r, Attributes)) {
			t.Errorf("nothing holds attributes, yet error %v, report %+v", err, r)
		}
	})
}

func holds(r *Report, p Promise) bool {
	for _, c := range r.Checks {
		if c.Promise == p {
			return c.Enforced
		}
	}
	return false
}

// Protected paths of the working directory are not written by inline commands
// and hooks; the Bash tool, whose commands were decided one by one, may.
func TestProtectedPaths(t *testing.T) {
	lines := map[string]string{
		"hook":           `echo x > .git/hooks/post-checkout`,
		"config":         `echo x >> .git/config; git config core.fsmonitor ./x`,
		"move it away":   `mv .git .git2; mkdir .git; mv src/.. x`,
		"remove it":      `rm -rf .git`,
		"through a link": `ln -s .git g; echo x > g/config`,
		"through /proc":  `echo x > /proc/self/cwd/.git/config`,
		"modes":          `chmod 777 .git/config; touch .git/config`,
		"remount":        `umount .git; mount -o remount,rw .git`,
	}
	each(t, Protected, Policy{}, func(t *testing.T, s *Sandbox, full bool) {
		if !full {
			if s.report == nil || holds(s.report, Protected) {
				t.Errorf("nothing holds protected paths, yet the report is %+v", s.report)
			}
			return
		}
		for name, line := range lines {
			t.Run(name, func(t *testing.T) {
				y := newYard(t)
				s.o.Policy = func() Policy { return Policy{Mode: Required, Dirs: []string{y.project}} }
				git := filepath.Join(y.project, ".git")
				before := state(t, git)
				c := shell.Command{Line: line, Dir: y.project}
				if _, err := s.Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if after := state(t, git); after != before {
					t.Errorf("changed\n%s\nto\n%s", before, after)
				}
				c.Line = `touch .git/hooks/new && rm -rf .git && mkdir .git`
				if out, err := s.Unprotected().Run(t.Context(), c); err != nil || out.Exit != 0 {
					t.Errorf("unprotected: %v, %s", err, out.Stderr)
				}
			})
		}
	})
}

// A protected path that was not there is not left there.
func TestProtectedPathsThatAreMade(t *testing.T) {
	each(t, Protected, Policy{}, func(t *testing.T, s *Sandbox, full bool) {
		y := newYard(t)
		s.o.Policy = func() Policy { return Policy{Mode: On, Dirs: []string{y.project}} }
		if err := os.Symlink("src", filepath.Join(y.project, ".claude")); err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), shell.Command{Dir: y.project,
			Line: `mkdir .husky && echo x > .husky/pre-commit; rm .claude; mkdir .claude; echo x > .mcp.json; echo x > fine`})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".husky", ".claude", ".mcp.json"} {
			if _, err := os.Lstat(filepath.Join(y.project, name)); err == nil {
				t.Errorf("%s is there", name)
			}
			if moved, _ := filepath.Glob(filepath.Join(y.project, name+".withdrawn-*")); len(moved) != 1 {
				t.Errorf("%s was not kept: %v", name, moved)
			}
			if !strings.Contains(string(out.Stderr), filepath.Join(y.project, name)+", a protected path") {
				t.Errorf("nobody is told of %s: %s", name, out.Stderr)
			}
		}
		if _, err := os.Stat(filepath.Join(y.project, "fine")); err != nil {
			t.Error(err)
		}
	})
}

// A directory that lies in another cannot be made a link that leads out: neither
// does it open what it leads to, nor is anything there renamed.
func TestDirectoriesBecomeLinks(t *testing.T) {
	each(t, Writes, Policy{}, func(t *testing.T, s *Sandbox, _ bool) {
		y := newYard(t)
		deep := filepath.Join(y.project, "a", "deep")
		victim := filepath.Join(y.sibling, "deep")
		if err := errors.Join(os.MkdirAll(deep, 0o755), os.MkdirAll(filepath.Join(victim, ".husky"), 0o755)); err != nil {
			t.Fatal(err)
		}
		s.o.Policy = func() Policy { return Policy{Mode: On, Dirs: []string{y.project, deep}} }
		before := state(t, y.base, y.project)
		for _, line := range []string{`mv a b; ln -s ../sibling a`, `echo x > a/deep/new; echo x > ../sibling/deep/new`} {
			if _, err := s.Run(t.Context(), shell.Command{Line: line, Dir: y.project}); err != nil {
				t.Fatal(err)
			}
		}
		if link, err := os.Readlink(filepath.Join(y.project, "a")); err != nil || link != "../sibling" {
			t.Errorf("the attack did not begin: %q %v", link, err)
		}
		if after := state(t, y.base, y.project); after != before {
			t.Errorf("changed\n%s\nto\n%s", before, after)
		}
	})
}

// The network is not reached unless it is allowed, and local services never.
func TestNetwork(t *testing.T) {
	each(t, Network, Policy{}, func(t *testing.T, s *Sandbox, _ bool) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		sock := filepath.Join(t.TempDir(), "s")
		for _, name := range []string{sock, "@knack-test-" + rand.Text()} {
			u, err := net.Listen("unix", name)
			if err != nil {
				t.Fatal(err)
			}
			defer u.Close()
		}
		port := l.Addr().(*net.TCPAddr).Port
		connect := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && echo connected", port)
		for _, tt := range []struct {
			line    string
			network bool
			want    string
		}{
			{connect, false, ""},
			{connect, true, "connected\n"},
			{fmt.Sprintf("(exec 3<>/dev/udp/127.0.0.1/%d) && echo connected", port), false, ""},
			{"bash -c '" + connect + "'", false, ""},
			{unixClient(sock), false, ""},
			{unixClient(sock), true, ""},
		} {
			s.o.Policy = func() Policy { return Policy{Mode: On, Network: tt.network} }
			out, err := s.Run(t.Context(), shell.Command{Line: tt.line, Timeout: time.Minute})
			if err != nil || string(out.Stdout) != tt.want {
				t.Errorf("%s (network %v): %q, %v, %s", tt.line, tt.network, out.Stdout, err, out.Stderr)
			}
		}
	})
}

// unixClient is a line that prints "connected" when a socket in the file system
// can be reached.
func unixClient(path string) string {
	if _, err := exec.LookPath("python3"); err == nil {
		return `python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print("connected")' ` + path
	}
	return `curl -s --unix-socket ` + path + ` http://x/ -m 1; test $? = 52 && echo connected`
}

// What programs need goes on working: pipes and socket pairs, shared memory,
// terminals of their own (where there is a mount namespace), the null device.
func TestOrdinaryProgramsWork(t *testing.T) {
	each(t, Writes, Policy{}, func(t *testing.T, s *Sandbox, full bool) {
		y := newYard(t)
		s.o.Policy = func() Policy { return Policy{Mode: On, Dirs: []string{y.project}} }
		lines := map[string]string{
			"echo x >/dev/stdout; echo y >/dev/null; head -c 3 /dev/urandom | wc -c": "x\n3\n",
			"cd src && echo b >a && mv a b && rm b && mkdir d && rmdir d && echo ok": "ok\n",
			"cat <<<here; diff <(echo a) <(echo a) && echo same":                     "here\nsame\n",
		}
		if _, err := exec.LookPath("python3"); err == nil {
			lines[`python3 -c 'import socket; a,b=socket.socketpair(); a.send(b"pair"); print(b.recv(9))'`] = "b'pair'\n"
			if full {
				lines[`python3 -c 'import pty,os; m,s=pty.openpty(); os.write(s,b"x"); print(os.read(m,9))'`] = "b'x'\n"
				lines[`python3 -c 'open("/dev/shm/x","w").write("shm"); print(open("/dev/shm/x").read())'`] = "shm\n"
			}
		}
		for line, want := range lines {
			out, err := s.Run(t.Context(), shell.Command{Line: line, Dir: y.project, Timeout: time.Minute})
			if err != nil || string(out.Stdout) != want {
				t.Errorf("%s: %q, want %q (%v, %s)", line, out.Stdout, want, err, out.Stderr)
			}
		}
	})
}

// A process of the host is neither seen into, nor signalled, nor traced.
func TestOtherProcesses(t *testing.T) {
	each(t, Processes, Policy{Mode: On}, func(t *testing.T, s *Sandbox, _ bool) {
		victim := exec.Command("sleep", "300")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
		out, err := s.Run(t.Context(), shell.Command{Args: []string{fmt.Sprint(victim.Process.Pid)}, Timeout: time.Minute,
			Line: `kill -KILL $0 && echo killed; echo x > /proc/$0/mem && echo written; cat /proc/$0/environ | wc -c; strace -p $0 -e none 2>&1 | grep attached; echo x > /proc/1/mem && echo init; grep NoNewPrivs /proc/self/status; su -c 'echo root' nobody; true`})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(out.Stdout), "0\nNoNewPrivs:\t1\n"; got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
			t.Error(err)
		}
	})
}

// What leaves its session still ends with its command where there is a process
// namespace; elsewhere the report says that it does not.
func TestNothingOutlives(t *testing.T) {
	each(t, Leftovers, Policy{Mode: On}, func(t *testing.T, s *Sandbox, full bool) {
		if !full {
			if holds(s.report, Leftovers) {
				t.Error("nothing ends what left its session, yet the report says so")
			}
			return
		}
		dir := t.TempDir()
		s.o.Policy = func() Policy { return Policy{Mode: On, Dirs: []string{dir}} }
		fifo := filepath.Join(dir, "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, c := range []shell.Command{
			{Line: `exec 3>fifo; setsid -f sleep 300 >/dev/null 2>&1; echo done`},
			{Line: `exec 3>fifo; (setsid sleep 300 &) ; wait; sleep 300`, Timeout: 300 * time.Millisecond},
		} {
			c.Dir = dir
			if _, err := s.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			ended(t, f)
		}
	})
}

// ended waits until nobody holds a pipe for writing.
func ended(t *testing.T, f *os.File) {
	t.Helper()
	if err := f.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("a process is alive: %v", err)
	}
}

// The program's own file may lie in the working directory; replacing it changes
// nothing of later sandboxes.
func TestReplacedProgram(t *testing.T) {
	if os.Getenv("KNACK_TEST_REPLACED") != "" {
		s := only(t, mechanisms()[0].name, Policy{Mode: Required, Dirs: []string{os.Getenv("KNACK_TEST_REPLACED")}})
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"one\n", "two\n"} {
			out, err := s.Run(t.Context(), shell.Command{Line: `mv "$1" "$1.old"; printf '#!/bin/sh\necho breach\n' > "$1"; chmod +x "$1"; echo "$0"`,
				Args: []string{strings.TrimSpace(want), self}})
			if err != nil || string(out.Stdout) != want {
				t.Errorf("%q, %v, %s", out.Stdout, err, out.Stderr)
			}
		}
		return
	}
	if r, err := only(t, mechanisms()[0].name, Policy{}).Probe(t.Context()); err != nil || r.Mechanism == "" {
		t.Skipf("UNTESTED here: %q after the program was replaced: %v %v", Writes, r.Tried, err)
	}
	again(t, nil, "^TestReplacedProgram$", "KNACK_TEST_REPLACED")
}

// again runs tests of a copy of this binary in a directory of its own, whose
// name it finds in the variable.
func again(t *testing.T, as *syscall.Credential, tests, variable string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "knack-again-") // not below a directory that only its owner enters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	copied := filepath.Join(dir, "again.test")
	// By another process: a file that this one writes is busy in what it forks.
	if out, err := exec.Command("cp", self, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, copied, "-test.v", "-test.run", tests)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), variable+"="+dir, "TMPDIR="+dir, "HOME="+dir)
	if as != nil {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS") {
		t.Errorf("nothing ran:\n%s", out)
	}
}

// The promises hold for ordinary people as for the superuser.
func TestUnprivileged(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	if os.Getuid() != 0 {
		t.Skip("this run is one of an ordinary person already")
	}
	if testing.Short() {
		t.Skip("the short run tries the promises for one person only")
	}
	again(t, &syscall.Credential{Uid: nobody, Gid: nobody},
		"^(TestWritesStayInside|TestAttributesStay|TestProtectedPaths|TestProtectedPathsThatAreMade|TestDirectoriesBecomeLinks|TestNetwork|TestOtherProcesses|TestNothingOutlives|TestOrdinaryProgramsWork)$",
		"KNACK_TEST_UNPRIVILEGED")
}
