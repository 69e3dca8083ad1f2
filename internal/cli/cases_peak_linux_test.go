package cli_test

import (
	"strings"
	"syscall"
	"testing"
)

// peak runs knack list and returns the largest memory it had, in KiB.
func (w *world) peak() int64 {
	w.t.Helper()
	cmd := w.command(w.t.Context(), "list", "--json")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}

// TestCasesAnchorsAreSmall: twenty documents that would unfold to 25 million
// parts each, which is a gigabyte and more, need no more memory than files of
// their size (F-4).
func TestCasesAnchorsAreSmall(t *testing.T) {
	w := newWorld(t)
	before := w.peak()
	for i := range 20 {
		w.skill("bomb-"+string(rune('a'+i)), "---\ndescription: d\nk: &x ["+strings.Repeat("a,", 5000)+"]\nz: ["+strings.Repeat("*x,", 5000)+"]\n---\nBody.\n")
	}
	if after := w.peak(); after > before+100<<10 {
		t.Errorf("%d KiB, and without them %d", after, before)
	}
}
