package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack/shell"
)

// TestMain makes the test binary the helper as well.
func TestMain(m *testing.M) {
	if code, mine := Main(os.Args); mine {
		os.Exit(code)
	}
	// Under -race every helper would end a second later.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// only returns a sandbox of one mechanism, or of any for "".
func only(t testing.TB, mechanism string, p Policy) *Sandbox {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Self: self, Policy: func() Policy { return p }, Temp: t.TempDir(),
		Notice: func(m string) { t.Log(m) }})
	if mechanism != "" {
		all := s.mechanisms
		s.mechanisms = nil
		for _, m := range all {
			if m.name == mechanism {
				s.mechanisms = append(s.mechanisms, m)
			}
		}
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var _ shell.Runner = (*Sandbox)(nil)

// nothing is a mechanism that does not bind at all.
var nothing = mechanism{name: "nothing", wrap: func(*exec.Cmd, setup) error { return nil }}

// The trial can fail: without a sandbox every promise is broken, and seen to be.
func TestTrialFindsBreaches(t *testing.T) {
	s := only(t, "", Policy{})
	s.mechanisms = []mechanism{nothing}
	r, err := s.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Enforced != (c.Promise == Working) {
			t.Errorf("%s: enforced %v, %s", c.Promise, c.Enforced, c.Detail)
		}
		if c.Detail == "" {
			t.Errorf("%s: nothing is said", c.Promise)
		}
	}
	if len(r.Checks) != len(terms) {
		t.Errorf("%d checks of %d promises", len(r.Checks), len(terms))
	}
}

// A mechanism that cannot be made, or that holds less, gives way to another; why
// is told.
func TestBestMechanismIsChosen(t *testing.T) {
	s := only(t, "", Policy{})
	absent := mechanism{name: "absent", absent: func() string { return "not installed" }}
	broken := mechanism{name: "broken", wrap: func(*exec.Cmd, setup) error { return errors.New("no luck") }}
	fails := mechanism{name: "fails", wrap: func(c *exec.Cmd, _ setup) error { c.Path = "/bin/false"; return nil }}
	s.mechanisms = append([]mechanism{absent, broken, fails, nothing}, s.mechanisms...)
	r, err := s.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"absent: not installed", "broken: no luck", "fails: exit status 1"} {
		if i >= len(r.Tried) || r.Tried[i] != want {
			t.Errorf("tried %q, want %q", r.Tried, want)
		}
	}
	if len(s.mechanisms) > 4 && r.Mechanism == nothing.name {
		t.Errorf("chose %s: %q", r.Mechanism, r.Tried)
	}
}

// A cancelled probe is no answer to keep.
func TestProbeIsRepeatedAfterCancel(t *testing.T) {
	s := only(t, "", Policy{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Probe(ctx); err == nil {
		t.Skip("there is no mechanism that takes time here")
	}
	if r, err := s.Probe(t.Context()); err != nil || len(r.Checks) != len(terms) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Without a sandbox, off and on run a command and required does not; on says so
// once, and a mode that is not known runs nothing (spec S-13).
func TestModesWithoutSandbox(t *testing.T) {
	for mode, ran := range map[Mode]bool{"": true, Off: true, On: true, Required: false, "strict": false} {
		var told []string
		var mu sync.Mutex
		s := New(Options{Policy: func() Policy { return Policy{Mode: mode} }, Temp: t.TempDir(), Notice: func(m string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, m)
		}})
		for range 2 {
			out, err := s.Run(t.Context(), shell.Command{Line: "echo ran"})
			if (string(out.Stdout) == "ran\n") != ran {
				t.Errorf("%q: %q, %v", mode, out.Stdout, err)
			}
			var refused *UnavailableError
			if !ran && (!errors.As(err, &refused) || !strings.Contains(err.Error(), "not run: a sandbox is required")) {
				t.Errorf("%q: %v", mode, err)
			}
		}
		if want := map[Mode]int{On: 1}[mode]; len(told) != want {
			t.Errorf("%q: told %q", mode, told)
		} else if want == 1 && !strings.HasPrefix(told[0], "there is no sandbox here, so commands run with all your rights: ") {
			t.Errorf("told %q", told)
		}
	}
}

// What is not enforced refuses in mode Required and is named; what the policy
// does not ask for does not count.
func TestMissingPromises(t *testing.T) {
	r := Report{Mechanism: "m"}
	for _, x := range terms {
		r.Checks = append(r.Checks, Check{Promise: x.promise, Enforced: true})
	}
	if err := r.Unavailable(); err != nil {
		t.Errorf("nothing is missing, yet %v", err)
	}
	for i, x := range terms {
		r.Checks[i].Enforced, r.Checks[i].Detail = false, "because"
		for _, network := range []bool{false, true} {
			for _, protect := range []bool{false, true} {
				want := x.promise != Leftovers && !(x.promise == Network && network) && !(x.promise == Protected && !protect)
				if got := len(r.missing(network, protect)) == 1; got != want {
					t.Errorf("%s, network %v, protect %v: missing %v", x.promise, network, protect, got)
				}
			}
		}
		if err := r.Unavailable(); (err != nil) != x.required || err != nil && !strings.Contains(err.Error(), string(x.promise)+" (because)") {
			t.Errorf("%s: %v", x.promise, err)
		}
		if got := r.Missing(); len(got) != 1 || got[0].Promise != x.promise {
			t.Errorf("Missing: %v", got)
		}
		r.Checks[i].Enforced = true
	}
}

// Everything is not a working directory.
func TestRootIsRefused(t *testing.T) {
	s := only(t, "", Policy{Mode: On, Dirs: []string{string(filepath.Separator)}})
	var refused *UnavailableError
	if _, err := s.Run(t.Context(), shell.Command{Line: "echo ran"}); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
}

func TestResolve(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, link, gone := filepath.Join(base, "a"), filepath.Join(base, "link"), filepath.Join(base, "gone")
	if err := errors.Join(os.MkdirAll(filepath.Join(a, "b"), 0o755), os.Symlink(a, link)); err != nil {
		t.Fatal(err)
	}
	s := New(Options{})
	dirs := []string{filepath.Join(a, "b"), link, a, gone}
	want := a + " " + filepath.Join(a, "b")
	for range 2 {
		got, err := s.resolve(dirs)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
		// What a command makes of a name later changes nothing.
		err = errors.Join(os.RemoveAll(filepath.Join(a, "b")), os.Symlink("/", filepath.Join(a, "b")), os.Symlink("/", gone))
		if _, lerr := os.Lstat(gone); err != nil && lerr != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.resolve([]string{"."}); err == nil {
		t.Error("a relative directory was taken")
	}
	if got := outermost([]string{"/a/b", "/a", "/ab", "/a", "/c/d"}); strings.Join(got, " ") != "/a /ab /c/d" {
		t.Errorf("outermost: %v", got)
	}
}

// The temporary directory is private, lasts as long as the session, is not
// shared, and is made again when somebody removed it.
func TestTemporaryDirectory(t *testing.T) {
	s := only(t, "", Policy{Mode: On})
	if r, err := s.Probe(t.Context()); err != nil || r.Mechanism == "" {
		t.Skipf("UNTESTED here: the temporary directory of commands: %q %v", r.Tried, err)
	}
	run := func(line, want string) {
		t.Helper()
		out, err := s.Run(t.Context(), shell.Command{Line: line})
		if got := string(out.Stdout); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q (%v, %s)", line, got, want, err, out.Stderr)
		}
	}
	run(`echo kept > "$TMPDIR/x"; case $(mktemp) in "$TMPDIR"/*) echo inside;; esac`, "inside\n")
	run(`cat "$TMPDIR/x"; stat -c %a "$TMPDIR"; test "$TMP$TEMP" = "$TMPDIR$TMPDIR" && echo same`, "kept\n700\nsame\n")
	first := s.temp
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first); err == nil {
		t.Error("it is left behind")
	}
	run(`cat "$TMPDIR/x" 2>/dev/null; echo new`, "new\n")
	if err := os.RemoveAll(s.temp); err != nil {
		t.Fatal(err)
	}
	run(`echo again`, "again\n")
}

// A program that does not call Main is found out, and does not start itself for
// ever.
func TestMainIsMissed(t *testing.T) {
	if code, mine := Main([]string{"knack", "doctor", "-v"}); mine || code != 0 {
		t.Errorf("Main takes what is not its own: %d %v", code, mine)
	}
	for _, args := range [][]string{{"x"}, {"x", argRun}, {"x", "run", argRun}} {
		if _, mine := Main(args); mine {
			t.Errorf("Main takes %q", args)
		}
	}
	s := New(Options{Self: "/bin/true", Temp: t.TempDir()})
	r, err := s.Probe(t.Context())
	if err != nil || r.Mechanism != "" {
		t.Errorf("%+v, %v", r, err)
	}
	t.Setenv(guardVar, "1")
	r, err = only(t, "", Policy{}).Probe(t.Context())
	if err != nil || r.Mechanism != "" || len(mechanisms()) > 0 && !strings.Contains(strings.Join(r.Tried, ""), "did not call sandbox.Main") {
		t.Errorf("%+v, %v", r, err)
	}
}

// The profile of macOS names what may be written and what may not, and quotes it.
func TestProfile(t *testing.T) {
	got := profile(setup{roots: []string{`/Users/x/my "app"`, "/private/tmp/t"}, protected: []string{`/Users/x/my "app"/.git`}})
	for _, want := range []string{
		"(deny file-write*)\n", "(allow file-write*\n  (subpath \"/Users/x/my \\\"app\\\"\")\n  (subpath \"/private/tmp/t\"))\n" +
			"(deny file-write*\n  (subpath \"/Users/x/my \\\"app\\\"/.git\"))\n", "(deny network*)\n", "(deny signal (target others))",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Count(got, "(") != strings.Count(got, ")") || strings.Contains(got, "network-outbound") {
		t.Errorf("profile\n%s", got)
	}
	if got := profile(setup{roots: []string{"/t"}, network: true}); !strings.Contains(got, "(allow network-outbound (remote ip))") || strings.Contains(got, ".git") {
		t.Errorf("profile with network\n%s", got)
	}
	for in, want := range map[string]string{`a"b`: `"a\"b"`, `a\`: `"a\\"`, "é": `"é"`} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s", in, got)
		}
	}
}
