package knack_test

import (
	"os"
	"path/filepath"
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
