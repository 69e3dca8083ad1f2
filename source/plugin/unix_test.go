//go:build unix

package plugin

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUnreadableManifest covers manifests that are no files; none may hang.
func TestUnreadableManifest(t *testing.T) {
	tests := map[string]func(path string) error{
		"directory": func(p string) error { return os.Mkdir(p, 0o755) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"link out":  func(p string) error { return os.Symlink("/etc/passwd", p) },
		"loop":      func(p string) error { return os.Symlink("plugin.json", p) },
		"device":    func(p string) error { return os.Symlink("/dev/zero", p) },
		"large":     func(p string) error { return os.WriteFile(p, make([]byte, maxManifest+1), 0o644) },
	}
	for name, make := range tests {
		dir := tree(t, map[string]string{".claude-plugin/x": "", "skills/s/SKILL.md": described})
		must(t, make(filepath.Join(dir, manifestFile)))
		skills, problems, err := Source{Dir: dir}.Load(t.Context())
		if err != nil || len(skills) > 0 || len(problems) != 1 || problems[0].Code != "plugin-manifest" {
			t.Errorf("%s: %v %v %v", name, skills, problems, err)
		}
	}
	_, problems, err := Source{Dir: filepath.Join(t.TempDir(), "gone")}.Load(t.Context())
	if err != nil || len(problems) != 1 || problems[0].Code != "plugin-manifest" {
		t.Errorf("missing plugin: %v %v", problems, err)
	}
}
