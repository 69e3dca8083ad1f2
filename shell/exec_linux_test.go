package shell_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/knack-skills/knack/shell"
)

// Job control puts background children into groups of their own; they are
// found by their session.
func TestExecJobControl(t *testing.T) {
	for name, c := range map[string]shell.Command{
		"left behind": {Line: `set -m; exec 3>"$0"; sleep 300 & echo done`},
		"timed out":   {Line: `set -m; exec 3>"$0"; sleep 300 >/dev/null 2>&1 & wait`, Timeout: 200 * time.Millisecond},
	} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.Args = []string{fifo}
		out, err := shell.Exec{}.Run(t.Context(), c)
		if err != nil || out.TimedOut != (c.Timeout > 0) {
			t.Errorf("%s: timed out %v, error %v", name, out.TimedOut, err)
		}
		if err := f.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(f); err != nil {
			t.Errorf("%s: a child is alive: %v", name, err)
		}
		f.Close()
	}
}
