package bundled

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"
)

// TestPurge: opening the cache removes what crashed processes left there more
// than a week ago, and nothing else (spec S-15).
func TestPurge(t *testing.T) {
	parent, outside := t.TempDir(), t.TempDir()
	old := time.Now().Add(-8 * 24 * time.Hour)
	kept := []string{"bundled-YOUNG", "other-OLD", "bundled-FILE", "bundled-LINK"}
	for _, name := range []string{"bundled-OLD", "bundled-YOUNG", "other-OLD"} {
		dir := filepath.Join(parent, name, "review")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(parent, "bundled-FILE"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(parent, "bundled-LINK")); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	for _, p := range []string{"bundled-OLD", "other-OLD", "bundled-FILE"} {
		if err := os.Chtimes(filepath.Join(parent, p), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(outside, old, old); err != nil {
		t.Fatal(err)
	}
	s := New(parent, Skill{ID: "review", File: file, Files: fstest.MapFS{"a.txt": {Data: []byte("a")}}})
	in := invoke(t, load(t, s)[0])
	if in.Note != "" || in.Dir == "" {
		t.Errorf("got %+v, want a directory", in)
	}
	if _, err := os.Lstat(filepath.Join(parent, "bundled-OLD")); !os.IsNotExist(err) {
		t.Errorf("the directory of a crashed process is still there: %v", err)
	}
	for _, name := range kept {
		if _, err := os.Lstat(filepath.Join(parent, name)); err != nil {
			t.Errorf("%s must stay: %v", name, err)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("what a link leads to must stay: %v", err)
	}
}

// TestSource: `knack show` reads fields and hash of a bundled skill from its
// whole file (spec B-4).
func TestSource(t *testing.T) {
	s := New(t.TempDir(), Skill{ID: "review", File: file})
	b, ok := load(t, s)[0].Content.Body.(interface{ Source() string })
	if !ok || b.Source() != file {
		t.Errorf("the body of a bundled skill must know its whole file, got %v", ok)
	}
}
