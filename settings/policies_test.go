package settings_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/settings"
)

// TestPolicies: what is in force, with who says it; what has no say is not there.
func TestPolicies(t *testing.T) {
	s := settings.Load(newTree(t, map[string]string{
		"managed":             `{"allowManagedHooksOnly": true, "sandbox": "on", "permissions": {"deny": ["Bash"]}, "model": "m"}`,
		"managed.d/10-a.json": `{"strictPluginOnlyCustomization": ["hooks"], "sandbox": "required"}`,
		"user":                `{"allowManagedPermissionRulesOnly": true, "skillOverrides": {"x": "off"}}`,
		"project":             `{"disableSkillShellExecution": true, "disableAllHooks": true}`,
	}).src)
	var got []string
	for _, p := range s.Policies() {
		got = append(got, fmt.Sprintf("%s %s %s %s", p.Key, p.Value, p.Level, filepath.Base(p.File)))
	}
	want := []string{
		`skillOverrides {"x":"off"} user settings.json`,
		`disableSkillShellExecution true project settings.json`,
		`sandbox "required" managed 10-a.json`,
		`allowManagedHooksOnly true managed managed-settings.json`,
		`strictPluginOnlyCustomization ["hooks"] managed 10-a.json`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMisspelledPolicy: a key of the administrator that nobody reads is more than
// a hint when it is nearly one that somebody does.
func TestMisspelledPolicy(t *testing.T) {
	for text, want := range map[string]string{
		`{"allowManagedHookOnly": true}`: "warning", `{"statusLine": {}}`: "info", `{"permissions": {"denny": []}}`: "warning",
	} {
		for _, level := range []string{"managed", "user"} {
			s := settings.Load(newTree(t, map[string]string{level: text}).src)
			if level == "user" {
				want = "info"
			}
			if len(s.Problems) != 1 || string(s.Problems[0].Severity) != want {
				t.Errorf("%s of %s: %v, want %s", text, level, s.Problems, want)
			}
		}
	}
}

// TestPoliciesAreWhole: what only an administrator may set is told of.
func TestPoliciesAreWhole(t *testing.T) {
	s := settings.Load(newTree(t, map[string]string{"managed": `{broken`}).src)
	if got := len(s.Policies()); got != 3 {
		t.Errorf("a file that fails closed leaves %d policies", got)
	}
	for _, k := range settings.Keys() {
		if k.Who != "only managed" {
			continue
		}
		value := `true`
		if strings.HasPrefix(k.Type, "list") {
			value = `["x"]`
		}
		s := settings.Load(newTree(t, map[string]string{"managed": `{"` + k.Name + `": ` + value + `}`}).src)
		if !slices.ContainsFunc(s.Policies(), func(p settings.Policy) bool { return p.Key == k.Name }) {
			t.Errorf("%s is not told of: %v", k.Name, s.Problems)
		}
	}
}
