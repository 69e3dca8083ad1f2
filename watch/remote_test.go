package watch_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/knack-skills/knack/watch"
)

// TestRemote: on a network file system nothing is watched natively, and the
// number of a file, which such a system may make up anew, is no difference.
func TestRemote(t *testing.T) {
	top, f := realTemp(t), newFake()
	file := filepath.Join(top, "skills", "a", "SKILL.md")
	old := time.Now().Add(-time.Hour)
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "x")
	s, err := watch.Stop(watch.Options{Native: f.open, Debounce: 1}, []watch.Root{{Path: filepath.Join(top, "skills")}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if st := s.Status(); st.Watches == 0 || st.Polled != 0 {
		t.Errorf("before: %+v", st)
	}
	look := func() []string {
		t.Helper()
		b, err := s.Look()
		if err != nil {
			t.Fatal(err)
		}
		return b.Changed
	}
	s.Remote()
	look()
	if st := s.Status(); st.Watches != 0 || st.Polled != 1 || !st.Native || len(f.watched()) > 0 {
		t.Errorf("after: %+v, watched %v", st, f.watched())
	}
	write(file+".new", "y") // another number, the same size and time
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	if got := look(); len(got) > 0 {
		t.Errorf("another number is reported: %v", got)
	}
	write(file, "longer")
	if got := look(); !slices.Equal(got, []string{file}) {
		t.Errorf("another size: %v", got)
	}
}
