package settings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/settings"
)

// TestEnviron: the setting env by level and trust (spec S-1, S-9), and what may
// never be set from where.
func TestEnviron(t *testing.T) {
	const (
		path = `{"env": {"PATH": "/evil"}}`
		only = `{"allowManagedPermissionRulesOnly": true}`
	)
	tests := []struct {
		files   map[string]string
		trusted bool
		want    string // NAME=value, with blanks between
		codes   string
	}{
		{map[string]string{"user": `{"env": {"B": "2", "A": "1=1"}}`}, false, "A=1=1 B=2", ""},
		{map[string]string{"user": path}, false, "PATH=/evil", ""},
		{map[string]string{"project": path}, false, "", "setting-untrusted"},
		{map[string]string{"local": path}, false, "", "setting-untrusted"},
		{map[string]string{"project": path}, true, "PATH=/evil", ""},
		{map[string]string{"user": `{"env": {"A": "user", "B": "user"}}`, "project": `{"env": {"A": "project"}}`}, true, "A=project B=user", ""},
		{map[string]string{"user": `{"env": {"A": "user", "B": "user"}}`, "project": `{"env": {"A": "project"}}`}, false, "A=user B=user", "setting-untrusted"},
		{map[string]string{"local": `{"env": {"A": "local"}}`, "project": `{"env": {"A": "project", "B": "project"}}`}, true, "A=local B=project", ""},
		{map[string]string{"managed": `{"env": {"A": "managed"}}`, "user": `{"env": {"A": "user"}}`, "local": `{"env": {"A": "local"}}`}, true, "A=managed", ""},

		// Where only managed rules count, a repository does not say what an
		// allowed program is.
		{map[string]string{"managed": only, "project": path, "local": `{"env": {"A": "local"}}`, "user": `{"env": {"A": "user"}}`}, true, "A=user", "setting-not-managed setting-not-managed"},
		{map[string]string{"managed": `{"allowManagedPermissionRulesOnly": false}`, "project": path}, true, "PATH=/evil", ""},
		{map[string]string{"managed": `{broken`, "project": path}, true, "", "setting-not-managed settings-syntax"},

		// What loads code into any program is not for a repository.
		{map[string]string{"project": `{"env": {"LD_PRELOAD": "x", "DYLD_INSERT_LIBRARIES": "x", "OLD_X": "1"}}`}, true, "OLD_X=1", "setting-level setting-level"},
		{map[string]string{"user": `{"env": {"LD_PRELOAD": "x"}}`}, true, "LD_PRELOAD=x", ""},

		{map[string]string{"user": `{"env": {"": "x", "C=D": "x", "E": "a\u0000b", "F": ""}}`}, true, "F=", "setting-value setting-value setting-value"},
	}
	for _, tt := range tests {
		s := settings.Load(newTree(t, tt.files).src).ForTrust(tt.trusted)
		if got := strings.Join(s.Environ(), " "); got != tt.want {
			t.Errorf("%v, trusted %t: %q, want %q", tt.files, tt.trusted, got, tt.want)
		}
		var codes []string
		for _, p := range s.Problems {
			codes = append(codes, p.Code)
		}
		slices.Sort(codes)
		if got := strings.Join(codes, " "); got != tt.codes {
			t.Errorf("%v: %q, want %q", tt.files, s.Problems, tt.codes)
		}
	}
	s := settings.Load(newTree(t, map[string]string{"managed": only, "project": path, "user": path}).src).ForTrust(true)
	if from := s.From("env.PATH"); !strings.Contains(from, "home") && !strings.Contains(from, "user") {
		t.Errorf("env.PATH is said to be from %s", from)
	}
}
