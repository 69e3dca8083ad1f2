package knack_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/knack-skills/knack"
)

// What changes between loading and watching is told as well (spec D-5).
func TestChangedBeforeWatching(t *testing.T) {
	dir := t.TempDir()
	write := func(id, text string) {
		t.Helper()
		file := filepath.Join(dir, ".claude", "skills", id, "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\ndescription: "+text+"\n---\nDo.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("kept", "as it is")
	write("edited", "before")
	write("gone", "soon")
	e, err := knack.New(t.Context(), knack.Options{Dir: dir, Home: t.TempDir(), StateDir: t.TempDir(),
		Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	write("edited", "after, and longer")
	write("late", "new")
	if err := os.RemoveAll(filepath.Join(dir, ".claude", "skills", "gone")); err != nil {
		t.Fatal(err)
	}
	var told []knack.Change
	stop, err := e.Watch(t.Context(), knack.WatchOptions{Done: func(c knack.Change) { told = append(told, c) }})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if len(told) != 1 || !slices.Equal(told[0].Added, []string{"late"}) || !slices.Equal(told[0].Changed, []string{"edited"}) ||
		!slices.Equal(told[0].Removed, []string{"gone"}) {
		t.Errorf("told %+v", told)
	}
}

// What a touched file leads to while watching begins is told by the touch, and
// not once more as a change (spec D-5).
func TestFoundWhileWatchingBegins(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "part", ".claude", "skills", "lint", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("---\ndescription: lints\n---\nDo.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for turn := range 60 {
		e, err := knack.New(t.Context(), knack.Options{Dir: dir, Home: t.TempDir(), StateDir: t.TempDir(),
			Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		begun := make(chan func())
		go func() {
			stop, err := e.Watch(t.Context(), knack.WatchOptions{Done: func(c knack.Change) { t.Errorf("told again: %+v", c) }})
			if err != nil {
				t.Error(err)
				stop = func() {}
			}
			begun <- stop
		}()
		for range turn * 50_000 { // a little later each time
			runtime.KeepAlive(e)
		}
		d, err := e.Discover(t.Context(), "part/a.go")
		if err != nil || len(d.Found) != 1 || len(d.Found[0].Skills) != 1 {
			t.Errorf("found %+v, %v", d, err)
		}
		(<-begun)()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
