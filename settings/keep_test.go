package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/settings"
)

// TestBefore: a file that is broken while the process runs still says what it
// said, one that is gone does not; a managed one fails closed (spec S-11, D-8).
func TestBefore(t *testing.T) {
	top := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const denies = `{"permissions": {"deny": ["Bash(rm *)"]}, "unknown": 1}`
	project := write("repo/.claude/settings.json", denies)
	src := settings.Sources{Managed: []string{filepath.Join(top, "etc")}, ProjectDir: filepath.Join(top, "repo"), Home: top}
	next := func(held ...string) *settings.Settings {
		src.Held = held
		src.Before = settings.Load(src)
		return src.Before
	}
	if s := next(); len(s.Permissions.Deny) != 1 || len(s.Problems) != 1 {
		t.Fatalf("%q %v", s.Permissions.Deny, s.Problems)
	}
	write("repo/.claude/settings.json", `{"permissions": {`)
	for range 2 { // also when it stays broken
		if s := next(); len(s.Permissions.Deny) != 1 || !strings.Contains(s.Problems[0].Message, "still counts") {
			t.Errorf("broken: %q %v", s.Permissions.Deny, s.Problems)
		}
	}
	if err := os.Remove(project); err != nil {
		t.Fatal(err)
	}
	if s := next(); len(s.Permissions.Deny) != 0 || len(s.Problems) != 0 {
		t.Errorf("gone: %q %v", s.Permissions.Deny, s.Problems)
	}
	write("repo/.claude/settings.json", `{"permissions": {`)
	if s := next(); len(s.Permissions.Deny) != 0 || !strings.Contains(s.Problems[0].Message, "nothing in this file") {
		t.Errorf("new and broken: %q %v", s.Permissions.Deny, s.Problems)
	}

	// Held: neither a change, nor that it is gone, nor its problems.
	write("repo/.claude/settings.json", denies)
	next()
	write("repo/.claude/settings.json", `{}`)
	if s := next(project); len(s.Permissions.Deny) != 1 || len(s.Problems) != 1 {
		t.Errorf("held: %q %v", s.Permissions.Deny, s.Problems)
	}
	if s := next(); len(s.Permissions.Deny) != 0 {
		t.Errorf("let go: %q", s.Permissions.Deny)
	}

	managed := write("etc/managed-settings.json", `{"disableBypassPermissionsMode": "disable", "allowManagedHooksOnly": false}`)
	next()
	write("etc/managed-settings.json", `{`)
	if s := next(managed); s.AllowManagedHooksOnly == nil || !*s.AllowManagedHooksOnly {
		t.Error("a broken managed file does not fail closed")
	}
}
