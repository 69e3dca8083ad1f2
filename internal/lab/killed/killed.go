// Package killed ends programs in the middle of their work, for tests of what
// they leave behind.
package killed

import (
	"io"
	"os/exec"
	"testing"
)

// At starts a program and kills it when it has written n bytes, which say that
// it is at work.
func At(t testing.TB, cmd *exec.Cmd, n int) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, n)
	if n, err := io.ReadFull(out, said); err != nil {
		t.Errorf("the program says no more than %q: %v", said[:n], err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
}
