package settings

import (
	"bytes"
	"testing"
)

// FuzzText reads any bytes as the text of a settings file of each level,
// without a disk in between.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]", `{"permissions": {"allow": ["Bash(ls:*)"], "deny": [1]}}`, `{"env": {"A": "1", "A": 2}, "hooks": {"Stop": []}}`,
		"{\"a\": 1,}", "\ufeff{}", "{\"a\"", "{\"skillPrecedence\": [\"user\", \"x\"]}", `{"permissions": {"disableBypassPermissionsMode": "x"}}`,
		`{"argumentBase": "auto", "sandbox": "off", "skillListingBudget": 1e3}`, "{ // c\n}", `{"\u0000": "\ud800"}`,
		`{"permissions": {"deny": ["A"]}, "permissions": null, "strictKnownMarketplaces": {"a": [1]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := loader{src: Sources{ProjectDir: "/repo", Home: "/home"}}
		for _, level := range []Level{ManagedLevel, CommandLineLevel, LocalLevel, ProjectLevel, UserLevel} {
			l.text(File{Level: level, Path: string(level), Exists: true}, data)
		}
		s := &Settings{Files: l.files, Root: "/repo", found: l.problems}
		for _, trusted := range []bool{false, true} {
			s := s.ForTrust(trusted)
			rules, problems := s.Rules(trusted)
			for _, p := range append(problems, s.Problems...) {
				if p.Code == "" || p.Message == "" || p.Fix == "" || p.Path == "" || p.Line < 0 || p.Line > 1+bytes.Count(data, []byte("\n")) {
					t.Errorf("bad problem: %+v", p)
				}
			}
			for _, r := range rules.Allow {
				if !trusted && Level(r.Scope).fromWorkspace() {
					t.Errorf("untrusted rule %v", r)
				}
			}
			for key := range s.Files[1].places {
				if s.From(key) == "" {
					t.Errorf("%q is in force and from nowhere", key)
				}
			}
		}
		if len(s.Files[4].Values.Permissions.Deny) > 0 && len(s.ForTrust(false).Permissions.Deny) == 0 {
			t.Error("deny rules are lost")
		}
	})
}
