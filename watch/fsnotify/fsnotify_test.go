package fsnotify_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/knack-skills/knack/watch"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// TestBackend pins what package watch relies on; the rest is in its scripts.
func TestBackend(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hints := make(chan watch.Hint, 1000)
	b, err := fsnotify.Open(func(h watch.Hint) { hints <- h })
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Watch(filepath.Join(top, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	for range 2 {
		if err := b.Watch(top); err != nil {
			t.Fatal(err)
		}
	}
	file, moved := filepath.Join(top, "a"), filepath.Join(top, "b")
	steps := []struct {
		do   func() error
		want string
	}{
		{func() error { return os.WriteFile(file, []byte("x"), 0o644) }, file},
		{func() error { return os.Rename(file, moved) }, moved},
		{func() error { return os.Remove(moved) }, moved},
	}
	for i, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(err)
		}
		for got := (watch.Hint{}); got.Path != s.want; {
			select {
			case got = <-hints:
			case <-time.After(time.Minute):
				t.Fatalf("step %d: no hint of %s", i, s.want)
			}
			if got.Err != nil {
				t.Fatal(got.Err)
			}
		}
	}
	b.Unwatch(top)
	b.Unwatch(top)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Watch(top); err == nil {
		t.Error("a closed backend watches")
	}
	for len(hints) > 0 {
		<-hints
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if len(hints) > 0 {
		t.Errorf("a hint after closing: %+v", <-hints)
	}
}
