package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/settings"
)

// TestDirectoriesOnTheWayUp: in a part of a repository the settings of every
// directory up to its root count, nearest first, each with its own root (spec
// S-1, S-8, C-2), and all of them wait for trust (spec S-9).
func TestDirectoriesOnTheWayUp(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("repo/.claude/settings.json", `{"permissions": {"allow": ["Edit(/far)"], "deny": ["Bash(far:*)"]}, "skillOverrides": {"x": "off", "y": "off"}}`)
	put("repo/a/.claude/settings.json", `{"permissions": {"deny": ["Bash(middle:*)"]}}`)
	put("repo/a/b/.claude/settings.json", `{"permissions": {"allow": ["Edit(/near)"], "deny": ["Bash(near:*)"]}, "skillOverrides": {"x": "on"}}`)
	put("repo/a/.claude/settings.local.json", `{"permissions": {"deny": ["Bash(local:*)"]}}`)
	put("repo/c/.claude/settings.json", `{"permissions": {"deny": ["Bash(beside:*)"]}}`)
	put(".claude/settings.json", `{"permissions": {"deny": ["Bash(above:*)"]}}`)
	repo := filepath.Join(dir, "repo")
	texts := func(s *settings.Settings, trusted bool) string {
		rules, _ := s.Rules(trusted)
		var out []string
		for _, r := range rules.Deny {
			out = append(out, r.Text)
		}
		for _, r := range rules.Allow {
			rel, err := filepath.Rel(repo, r.Root)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r.Text+" in "+filepath.ToSlash(rel))
		}
		return strings.Join(out, ", ")
	}
	for _, tt := range []struct {
		work    string
		trusted bool
		want, x string
	}{
		{"a/b", false, "Bash(local:*), Bash(near:*), Bash(middle:*), Bash(far:*)", "on"},
		{"a/b", true, "Bash(local:*), Bash(near:*), Bash(middle:*), Bash(far:*), Edit(/near) in a/b, Edit(/far) in .", "on"},
		{"a", true, "Bash(local:*), Bash(middle:*), Bash(far:*), Edit(/far) in .", "off"},
		{".", true, "Bash(far:*), Edit(/far) in .", "off"},
		{"", true, "Bash(far:*), Edit(/far) in .", "off"},
		{"..", true, "Bash(far:*), Edit(/far) in .", "off"},
	} {
		src := settings.Sources{ProjectDir: repo, Home: dir}
		if tt.work != "" {
			src.WorkDir = filepath.Join(repo, tt.work)
		}
		s := settings.Load(src).ForTrust(tt.trusted)
		if got := texts(s, tt.trusted); got != tt.want || s.SkillOverrides["x"] != tt.x || s.SkillOverrides["y"] != "off" {
			t.Errorf("in %q, trusted %t: %s, %v", tt.work, tt.trusted, got, s.SkillOverrides)
		}
	}
}
