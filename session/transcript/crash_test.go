package transcript_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
)

// A crash at any byte costs at most the last entry, says so, and the session
// goes on.
func TestTruncatedAtEveryByte(t *testing.T) { // spec M-4
	p := project(t)
	tr := create(t, p, "one")
	add(t, tr, transcript.Prompt{Text: "1"}, message("2"), transcript.Invocation{ID: "s", Text: "3"}, message("é\n4"), message("5"))
	closed(t, tr)
	full, err := os.ReadFile(tr.Path)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"2", "é\n4", "5"}
	for n := range len(full) + 1 {
		if err := os.WriteFile(tr.Path, full[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		again, c, err := p.Resume("one")
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		complete := bytes.Count(full[:n], []byte("\n"))
		cut := n > 0 && full[n-1] != '\n'
		if cut && n < len(full) && full[n] == '\n' { // only the newline is missing
			complete, cut = complete+1, false
		}
		if got := codes(c); cut != strings.HasPrefix(got, "transcript-cut:") || cut != (got != "") {
			t.Fatalf("%d bytes: problems %q", n, got)
		}
		want := bytes.Count(bytes.Join(bytes.SplitAfter(full, []byte("\n"))[:complete], nil), []byte(`{"type":"message"`))
		if got := messages(c); !slices.Equal(got, all[:want]) {
			t.Fatalf("%d bytes: messages %q, want %q", n, got, all[:want])
		}
		if err := again.Append("", message("next")); err != nil {
			t.Fatal(err)
		}
		closed(t, again)
		last, c := resume(t, p, "one")
		if got := messages(c); codes(c) != "" || len(got) != want+1 || got[want] != "next" {
			t.Fatalf("%d bytes, then one more entry: messages %q, problems %q", n, got, codes(c))
		}
		closed(t, last)
	}
}

// role names what a test binary that is run again as another process does.
const role = "TRANSCRIPT_TEST_ROLE"

func TestMain(m *testing.M) {
	if what := os.Getenv(role); what != "" {
		if err := roles[what](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var roles = map[string]func(args []string) error{
	"write": writeForEver,
	"open":  openOnce,
	"share": shareProject,
	"full":  writeUntilFull,
}

func process(t *testing.T, what string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), role+"="+what)
	cmd.Stderr = os.Stderr
	return cmd
}

// writeForEver resumes a session and says after each entry how many messages
// there are.
func writeForEver(args []string) error {
	p := transcript.Project{Dir: args[0]}
	tr, c, err := p.Resume(args[1])
	if err != nil {
		return err
	}
	for i := len(c.Messages); ; i++ {
		if err := tr.Append(session.Main, message(fmt.Sprint(i, strings.Repeat(" padding", i%700)))); err != nil {
			return err
		}
		fmt.Println(i + 1)
	}
}

// A process that is killed loses nothing that it had written, its session is
// free at once, and what it was writing is cut off.
func TestKilled(t *testing.T) { // spec M-4
	p := project(t)
	closed(t, create(t, p, "one"))
	for round := range 25 {
		cmd := process(t, "write", p.Dir, "one")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		known := 0
		lines := bufio.NewScanner(out)
		for range 1 + round*7%40 {
			if !lines.Scan() {
				t.Fatal("the process ended by itself")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for more := true; more; more = lines.Scan() { // what it had said by then
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				known = n
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process was not killed")
		}
		tr, c := resume(t, p, "one")
		got := messages(c)
		if len(got) < known {
			t.Fatalf("round %d: %d messages of %d", round, len(got), known)
		}
		for i, m := range got {
			if m != fmt.Sprint(i, strings.Repeat(" padding", i%700)) {
				t.Fatalf("round %d: message %d is %.40q", round, i, m)
			}
		}
		if n := strings.Count(codes(c), "transcript-"); n > 1 || n != strings.Count(codes(c), "transcript-cut:") {
			t.Fatalf("round %d: %s", round, codes(c))
		}
		closed(t, tr)
	}
}

func openOnce(args []string) error {
	tr, _, err := transcript.Project{Dir: args[0]}.Resume(args[1])
	if held, ok := errors.AsType[*transcript.HeldError](err); ok {
		fmt.Println(held.PID, err)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Println("opened")
	return tr.Close()
}

func TestHeld(t *testing.T) { // spec M-4
	p := project(t)
	tr := create(t, p, "one")
	_, _, err := p.Resume("one")
	if held, ok := errors.AsType[*transcript.HeldError](err); !ok || held.PID != os.Getpid() || held.ID != "one" {
		t.Errorf("in this process: %v", err)
	}
	if _, err = p.Create("one"); err == nil {
		t.Error("created while it is open")
	}
	out, err := process(t, "open", p.Dir, "one").Output()
	if want := fmt.Sprintf("%d session one is open in process %[1]d: end it there", os.Getpid()); err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("in another process: %q, %v", out, err)
	}
	add(t, tr, message("still mine"))
	create(t, p, "two") // others are free
	closed(t, tr)
	closed(t, tr)
	if out, err := process(t, "open", p.Dir, "one").Output(); err != nil || string(out) != "opened\n" {
		t.Errorf("after closing: %q, %v", out, err)
	}
	// A lock file that is left over holds nothing.
	if err := os.WriteFile(filepath.Join(p.Dir, "one.lock"), []byte("4194304\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := resume(t, p, "one")
	if !slices.Equal(messages(c), []string{"still mine"}) {
		t.Errorf("messages %q", messages(c))
	}
}
