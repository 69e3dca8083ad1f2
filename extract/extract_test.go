package extract

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModes: 0700 and 0600, whatever the archive says, and links become copies.
func TestModes(t *testing.T) {
	items := []item{
		{"p/", fs.ModeDir | 0o777, ""}, {"p/SKILL.md", 0o666, "text"}, {"p/run.sh", fs.ModeSetuid | 0o777, "#!"},
		{"p/shared/a", 0o444, "a"}, {"p/copy", fs.ModeSymlink, "shared"}, {"p/again", fs.ModeSymlink, "copy/a"}, {"p/bin", fs.ModeSymlink, "./run.sh"},
	}
	hashes := map[string]bool{}
	for kind, data := range map[string][]byte{"zip": zipOf(t, items...), "tar": tarOf(t, items...), "tar.gz": gzipped(t, tarOf(t, items...))} {
		_, dir, s, err := unpack(t, data, Limits{})
		must(t, err)
		var got []string
		must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			must(t, err)
			info, err := e.Info()
			must(t, err)
			want := fs.FileMode(0o600)
			if e.IsDir() {
				want = fs.ModeDir | 0o700
			}
			if info.Mode() != want {
				t.Errorf("%s: %s has mode %v", kind, path, info.Mode())
			}
			if rel, err := filepath.Rel(dir, path); err == nil && !e.IsDir() {
				got = append(got, filepath.ToSlash(rel))
			}
			return nil
		}))
		if g := strings.Join(got, " "); g != "p/SKILL.md p/again p/bin p/copy/a p/run.sh p/shared/a" {
			t.Errorf("%s: %s", kind, g)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "p/again")); err != nil || string(data) != "a" {
			t.Errorf("%s: %q %v", kind, data, err)
		}
		if strings.Join(s.Programs, " ") != "p/bin p/run.sh" || s.Files != 6 {
			t.Errorf("%s: %+v", kind, s)
		}
		hashes[s.Hash] = true
		must(t, Executable(dir, "p/run.sh"))
		if info, err := os.Stat(filepath.Join(dir, "p/run.sh")); err != nil || info.Mode() != 0o700 {
			t.Errorf("%s: %v %v", kind, info.Mode(), err)
		}
	}
	if len(hashes) != 1 {
		t.Errorf("one content has hashes %v", hashes)
	}
}

// TestTree copies a directory with links in it (spec X-3, S-15): those inside
// become copies, others are left out with a word about it.
func TestTree(t *testing.T) {
	top := t.TempDir()
	write := func(name, data string) {
		must(t, os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(top, name), []byte(data), 0o755))
	}
	write("plugin/skills/a/SKILL.md", "a")
	write("plugin/.git/config", "secret")
	write("shared/s/SKILL.md", "s")
	for from, to := range map[string]string{
		"plugin/skills/s": "../../shared/s", "plugin/out": "/etc/passwd", "plugin/up": "..", "plugin/gone": "nowhere", "plugin/loop": "skills/../loop",
	} {
		must(t, os.Symlink(to, filepath.Join(top, from)))
	}
	root, err := os.OpenRoot(top)
	must(t, err)
	defer root.Close()
	into := t.TempDir()
	w, err := New(into, Limits{})
	must(t, err)
	defer w.Close()
	must(t, w.Tree(t.Context(), root, "plugin"))
	s, err := w.Finish()
	must(t, err)
	var got []string
	must(t, filepath.WalkDir(into, func(path string, e fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(into, path); !e.IsDir() {
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	}))
	// "up" holds a copy of what lies beside the plugin, without the plugin itself.
	if g := strings.Join(got, " "); g != "skills/a/SKILL.md skills/s/SKILL.md up/shared/s/SKILL.md" {
		t.Errorf("%s", g)
	}
	if g := strings.Join(s.Skipped, "; "); !strings.Contains(g, "gone is a link") || !strings.Contains(g, "out is a link") || !strings.Contains(g, "loop is a link") || !strings.Contains(g, "up/plugin is a link to what it lies in") {
		t.Errorf("%s", g)
	}
}

// TestTop finds what was packed in one folder.
func TestTop(t *testing.T) {
	has := func(dir string) bool { _, err := os.Stat(filepath.Join(dir, "SKILL.md")); return err == nil }
	for name, want := range map[string]string{"SKILL.md": ".", "x/SKILL.md": "x", "x/y/SKILL.md": "x"} {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		if got := Top(dir, has); got != filepath.Join(dir, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzName: whatever a name is, what is taken stays inside.
func FuzzName(f *testing.F) {
	for _, s := range []string{"a", "../a", "/a", "a/./b", "C:x", "a\\b", "nul", "a/../b", "./a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		outer := t.TempDir()
		dir := filepath.Join(outer, "in")
		must(t, os.Mkdir(dir, 0o700))
		w, err := New(dir, Limits{Files: 40})
		must(t, err)
		defer w.Close()
		ferr := w.File(name, false, strings.NewReader("x"))
		if left, err := os.ReadDir(outer); err != nil || len(left) != 1 {
			t.Fatalf("%q: %v %v", name, left, err)
		}
		if ferr == nil && !filepath.IsLocal(filepath.FromSlash(name)) {
			t.Fatalf("%q was taken", name)
		}
	})
}
