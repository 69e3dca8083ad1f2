package settings_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/settings"
)

// TestUnreadable: whatever lies where settings are looked for, the other files
// work, and nothing waits.
func TestUnreadable(t *testing.T) {
	makers := map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"huge":      func(path string) error { return os.WriteFile(path, make([]byte, 1<<20+1), 0o644) },
		"dangling":  func(path string) error { return os.Symlink("nowhere", path) },
		"loop":      func(path string) error { return os.Symlink(filepath.Base(path), path) },
	}
	for name, make := range special {
		makers[name] = make
	}
	for kind, make := range makers {
		for _, level := range []string{"managed", "managed.d/x.json", "project", "user"} {
			tr := newTree(t, map[string]string{"local": `{"model": "m"}`})
			path := tr.path(level)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			s := settings.Load(tr.src)
			if len(s.Problems) != 1 || s.Problems[0].Code != "settings-unreadable" || s.Problems[0].Path != path || s.Model != "m" {
				t.Errorf("%s as %s: model %q, problems %v", kind, level, s.Model, s.Problems)
			}
			closed := s.AllowManagedHooksOnly != nil && *s.AllowManagedHooksOnly
			if closed != strings.HasPrefix(level, "managed") {
				t.Errorf("%s as %s: closed %v", kind, level, closed)
			}
			if i := slices.IndexFunc(s.Files, func(f settings.File) bool { return f.Path == path }); i < 0 || !s.Files[i].Exists {
				t.Errorf("%s as %s: not among the files that exist", kind, level)
			}
		}
	}
}

func TestManagedDirectoryUnreadable(t *testing.T) {
	tr := newTree(t, nil)
	parts := filepath.Dir(tr.path("managed.d/x"))
	if err := os.MkdirAll(filepath.Dir(parts), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(parts, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := settings.Load(tr.src)
	if len(s.Problems) != 1 || s.Problems[0].Path != parts || s.AllowManagedPermissionRulesOnly == nil {
		t.Errorf("problems %v, values %+v", s.Problems, s.Values)
	}
}

func TestLargestFile(t *testing.T) {
	text := `{"model": "m"}`
	tr := newTree(t, map[string]string{"user": text + strings.Repeat(" ", 1<<20-len(text))})
	if s := settings.Load(tr.src); s.Model != "m" || len(s.Problems) > 0 {
		t.Errorf("model %q, problems %v", s.Model, s.Problems)
	}
}

// TestLinkedFile: a settings file may be a link (dotfiles are).
func TestLinkedFile(t *testing.T) {
	tr := newTree(t, map[string]string{"flag": `{"model": "m"}`})
	tr.src.Flag = ""
	if err := os.MkdirAll(tr.src.UserDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tr.path("flag"), tr.path("user")); err != nil {
		t.Fatal(err)
	}
	if s := settings.Load(tr.src); s.Model != "m" || s.From("model") != tr.path("user") {
		t.Errorf("model %q from %s", s.Model, s.From("model"))
	}
}
