//go:build linux || darwin

package transcript_test

import (
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/knack-skills/knack/session/transcript"
)

// writeUntilFull fails in the middle of an entry, as on a full disk, and goes
// on when there is room again.
func writeUntilFull(args []string) error {
	tr, _, err := transcript.Project{Dir: args[0]}.Resume(args[1])
	if err != nil {
		return err
	}
	if err := tr.Append("", message("before")); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	const max = 1000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: max, Max: limit.Max}); err != nil {
		return err
	}
	if err := tr.Append("", message(strings.Repeat("x", max))); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("writing more than fits: %v", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := tr.Append("", message("after")); err != nil {
		return err
	}
	return tr.Close()
}

func TestFullDisk(t *testing.T) { // spec M-4
	p := project(t)
	closed(t, create(t, p, "one"))
	if out, err := process(t, "full", p.Dir, "one").Output(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	_, c := resume(t, p, "one")
	if got := messages(c); !slices.Equal(got, []string{"before", "after"}) || codes(c) != "" {
		t.Errorf("messages %q, problems %s", got, codes(c))
	}
}
