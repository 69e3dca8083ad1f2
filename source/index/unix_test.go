//go:build unix

package index

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPrivate: an index that others may write or read, or that is no plain
// file, is not used.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index")
	if err := os.WriteFile(path, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o620: false, 0o602: false, 0o640: false, 0o604: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, mine); (err == nil) != ok || !ok && !errors.Is(err, ErrUnusable) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.Symlink("index", link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{link, pipe} {
		if _, err := Open(p, mine); err == nil {
			t.Errorf("%s was read", p)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 1, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, mine); !errors.Is(err, ErrUnusable) {
			t.Errorf("of another person: %v", err)
		}
	}
}
