package settings_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
)

// TestProblems: each mistake costs its key alone, and is found where it stands.
func TestProblems(t *testing.T) {
	tests := []struct {
		text string
		want string // line:column severity code, one a line
		fix  string // part of the first
	}{
		{`{"$schema": "https://x", "model": "m"}`, "", ""},
		{`{"skilloverrides": {}, "model": "m"}`, "1:2 info unknown-setting", `did you mean "skillOverrides"?`},
		{`{"skillOverides": {"x": [1, {"y": 2}]}, "model": "m"}`, "1:2 info unknown-setting", `"skillOverrides"`},
		{`{"statusLine": {}, "model": "m"}`, "1:2 info unknown-setting", "another program"},
		{"{\n  \"permissions\": {\n    \"alow\": []\n  }, \"model\": \"m\"}", "3:5 info unknown-setting", `"permissions.allow"`},
		{`{"é": 1, "ü": 2, "model": "m"}`, "1:2 info unknown-setting\n1:10 info unknown-setting", ""}, // characters, not bytes
		{"\ufeff{\"x\": 1, \"model\": \"m\"}", "1:2 info unknown-setting", ""},

		{`{"disableAllHooks": "yes", "model": "m"}`, "1:2 error setting-type", "true or false"},
		{`{"skillListingBudget": 1.5, "model": "m"}`, "1:2 error setting-type", "whole number"},
		{`{"skillListingBudget": "9", "model": "m"}`, "1:2 error setting-type", "without quotes"},
		{`{"skillListingBudget": 1e99, "model": "m"}`, "1:2 error setting-type", ""},
		{`{"skillListingBudgetFraction": 1e999, "model": "m"}`, "1:2 error setting-type", ""},
		{`{"permissions": ["x"], "model": "m"}`, "1:2 error setting-type", "object"},
		{`{"permissions": {"deny": "Bash"}, "model": "m"}`, "1:18 error setting-type", `["…"]`},
		{`{"hooks": [], "model": "m"}`, "1:2 error setting-type", "object"},
		{`{"sandbox": {"enabled": true}, "model": "m"}`, "1:2 error setting-type", "off, on, required"},
		{`{"env": {"A": 1}, "model": "m"}`, "1:10 error setting-type", "double quotes"},
		{`{"enabledPlugins": {"p": "on"}, "model": "m"}`, "1:21 error setting-type", ""},
		{"{\"permissions\": {\"ask\": [\"A\",\n 5, \"B\"]}, \"model\": \"m\"}", "2:2 error setting-type", ""},

		{`{"skillOverrides": {"a": "of"}, "model": "m"}`, "1:21 error setting-value", `did you mean "off"?`},
		{`{"skillOverrides": {"a.b[0]": "hidden"}, "model": "m"}`, "1:21 error setting-value", "name-only"},
		{`{"skillListing": "rank", "model": "m"}`, "1:2 error setting-value", "equal, ranked"},
		{`{"afterCompaction": "", "model": "m"}`, "1:2 error setting-value", "names"},
		{`{"sandbox": "yes", "model": "m"}`, "1:2 error setting-value", ""},
		{`{"permissions": {"defaultMode": "auto"}, "model": "m"}`, "1:18 error setting-value", "acceptEdits"},
		{`{"skillPrecedence": ["user", "users"], "model": "m"}`, "1:30 error setting-value", `"user"`},
		{`{"disableBypassPermissionsMode": "no", "model": "m"}`, "1:2 error setting-value", "disable"},
		{`{"argumentBase": true, "model": "m"}`, "1:2 error setting-value", `0, 1 or "auto"`},
		{`{"skillListingBudgetFraction": 0, "model": "m"}`, "1:2 error setting-value", "above 0"},
		{`{"skillListingBudgetFraction": 1.1, "model": "m"}`, "1:2 error setting-value", ""},
		{`{"skillListingBudget": -1, "model": "m"}`, "1:2 error setting-value", ""},
		{`{"skillListingMaxDescChars": 0, "model": "m"}`, "1:2 error setting-value", ""},
		{`{"skillListingBudget": 0, "skillListingBudgetFraction": 1, "model": "m"}`, "", ""},

		{`{"model": "x", "model": "m"}`, "1:16 warning duplicate-setting", "remove"},
		{`{"env": {"A": "1", "A": "2"}, "model": "m"}`, "1:20 warning duplicate-setting", ""},
		{`{"env": null, "permissions": null, "hooks": null, "model": "m"}`, "", ""},
	}
	for _, tt := range tests {
		s := settings.Load(settings.Sources{Flag: strings.TrimPrefix(tt.text, "\ufeff")})
		if strings.HasPrefix(tt.text, "\ufeff") {
			s = settings.Load(newTree(t, map[string]string{"user": tt.text}).src)
		}
		var got []string
		for _, p := range s.Problems {
			got = append(got, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Severity, p.Code))
			if p.Message == "" || p.Fix == "" {
				t.Errorf("%s: no message or fix: %v", tt.text, p)
			}
		}
		if strings.Join(got, "\n") != tt.want || s.Model != "m" {
			t.Errorf("%s: model %q, got %q, want %q", tt.text, s.Model, got, tt.want)
		}
		if tt.fix != "" && len(s.Problems) > 0 && !strings.Contains(s.Problems[0].Fix, tt.fix) {
			t.Errorf("%s: fix %q, want %q", tt.text, s.Problems[0].Fix, tt.fix)
		}
	}
}

// TestDropsOnlyWhatIsWrong looks at what stays.
func TestDropsOnlyWhatIsWrong(t *testing.T) {
	tests := []struct {
		text string
		want settings.Values
	}{
		{`{"env": {"A": 1, "B": "2"}}`, settings.Values{Env: map[string]string{"B": "2"}}},
		{`{"env": {"A": "1", "A": 2}}`, settings.Values{Env: map[string]string{}}}, // the last one counts, and is wrong
		{`{"permissions": {"ask": ["A", 5, null, "B"]}}`, settings.Values{Permissions: settings.Permissions{Ask: []string{"A", "B"}}}},
		{`{"permissions": {"deny": ["A"]}, "permissions": {"ask": ["B"]}}`, settings.Values{Permissions: settings.Permissions{Ask: []string{"B"}}}},
		// An unknown visibility was meant to hide something (C-9, F-5).
		{`{"skillOverrides": {"a": "off", "b": "?", "c": false}}`, settings.Values{SkillOverrides: map[string]string{
			"a": "off", "b": "user-invocable-only", "c": "user-invocable-only",
		}}},
		{`{"permissions": {"disableBypassPermissionsMode": "disable"}}`, settings.Values{DisableBypassPermissionsMode: "disable"}},
		{`{"model": "x", "model": null}`, settings.Values{}},
	}
	for _, tt := range tests {
		s := settings.Load(settings.Sources{Flag: tt.text})
		if diff := cmp.Diff(tt.want, s.Files[0].Values); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
}

func TestFromAfterDuplicate(t *testing.T) {
	s := settings.Load(settings.Sources{Flag: `{"env": {"A": "1"}, "env": {"B": "2"}, "skillOverrides": {"x.y": "off"}}`})
	if s.From("env.A") != "" || s.From("env.B") == "" || s.From("skillOverrides.x.y") == "" {
		t.Errorf("A %q, B %q, x.y %q", s.From("env.A"), s.From("env.B"), s.From("skillOverrides.x.y"))
	}
}

// TestSyntax: what people write that is not JSON, where it is, and what to do.
func TestSyntax(t *testing.T) {
	tests := []struct{ text, place, message, fix string }{
		{"", "1:1", "empty", "{}"},
		{" \n", "1:1", "empty", "{}"},
		{"[]", "1:1", "a list", `{"name": value`},
		{"  3", "1:3", "a number", ""},
		{`"x"`, "1:1", "a text", ""},
		{"{\n  // no\n}", "2:3", "no comments", "remove the comment"},
		{"{\n  \"a\": 1, /* é */ \"b\": 2}", "2:11", "no comments", "remove"},
		{"# x\n{}", "1:1", "no comments", "remove"},
		{"{\"a\": 1}\n// end", "2:1", "no comments", "remove"},
		{"{\"a\": 1,\n}", "1:8", `a comma before "}"`, "remove the comma"},
		{`{"é": [1, 2, ]}`, "1:12", `a comma before "]"`, "remove the comma"},
		{`{"a": 1,, "b": 2}`, "1:9", "two commas", "remove"},
		{"{\"a\": 1\n \"b\": 2}", "2:2", "comma is missing", "comma"},
		{`{"a": [1 2]}`, "1:10", "comma is missing", ""},
		{`{"a" 1}`, "1:6", "colon", ""},
		{`{"a" = 1}`, "1:6", "equals", "colon"[:0]},
		{`{a: 1}`, "1:2", "without quotes", "double quotes"},
		{`{'a': 1}`, "1:2", "single quotes", "double quotes"},
		{"{“a”: 1}", "1:2", "typographic", "straight"},
		{`{"a": True}`, "1:7", "true", "small letters"},
		{`{"a": undefined}`, "1:7", "undefined", ""},
		{`{"a": "x`, "1:9", "ends too early", "missing"},
		{`{"a": {`, "1:8", "ends too early", ""},
		{"{\"a\": \"x\ny\"}", "1:9", "over the end of the line", ""},
		{"{\"a\": \"x\ty\"}", "1:9", "control character", `\t`},
		{`{"a": "C:\dir"}`, "1:11", `"\d"`, `\\`},
		{`{} {}`, "1:4", "after the end", "remove"},
		{"{\n<<<<<<< HEAD\n}", "2:1", "merge conflict", "resolve"},
		{"{\"a\": \"\xff\"}", "1:8", "not UTF-8", "UTF-8"},
		{"\xff\xfe{\x00}\x00", "1:1", "UTF-16", "UTF-8"},
		{`{"a": 01}`, "1:8", "", ""},
		{`{"a": @}`, "1:7", "not JSON", "write a value"},
		{strings.Repeat(`{"a":`, 20000), "1:50001", "", ""},
	}
	for _, tt := range tests {
		tr := newTree(t, map[string]string{"user": tt.text, "project": `{"model": "m"}`})
		s := settings.Load(tr.src)
		if len(s.Problems) != 1 || s.Model != "m" {
			t.Errorf("%.40q: model %q, problems %v", tt.text, s.Model, s.Problems)
			continue
		}
		p := s.Problems[0]
		if p.Code != "settings-syntax" || p.Severity != skill.Error || fmt.Sprintf("%d:%d", p.Line, p.Column) != tt.place ||
			!strings.Contains(p.Message, tt.message) || !strings.Contains(p.Fix, tt.fix) || p.Fix == "" || p.Path != tr.path("user") {
			t.Errorf("%.40q: %v, fix %q", tt.text, p, p.Fix)
		}
	}
}

// TestManagedFailsClosed: a policy that cannot be read is the strict one (S-11).
func TestManagedFailsClosed(t *testing.T) {
	for _, name := range []string{"managed", "managed.d/x.json"} {
		tr := newTree(t, map[string]string{
			name: `{"allowManagedHooksOnly": false,}`, "flag": `{"permissions": {"allow": ["Read"], "deny": ["Write"]}, "allowManagedHooksOnly": false}`,
		})
		s := settings.Load(tr.src)
		if s.AllowManagedHooksOnly == nil || !*s.AllowManagedHooksOnly || !*s.AllowManagedPermissionRulesOnly || s.DisableBypassPermissionsMode != "disable" {
			t.Errorf("%s is open: %+v", name, s.Values)
		}
		if got := s.From("allowManagedHooksOnly"); got != tr.path(name) {
			t.Errorf("%s: from %s", name, got)
		}
		if !slices.ContainsFunc(s.Problems, func(p skill.Problem) bool {
			return p.Code == "settings-syntax" && strings.Contains(p.Message, "only managed hooks") && p.Line == 1
		}) {
			t.Errorf("%s: does not say so: %v", name, s.Problems)
		}
		rules, _ := s.Rules(true)
		if len(rules.Allow) != 0 || len(rules.Deny) != 1 {
			t.Errorf("%s: rules %v", name, rules)
		}
	}
}

// TestManagedKeyFailsClosed: so is a single key with a wrong value.
func TestManagedKeyFailsClosed(t *testing.T) {
	text := `{"allowManagedHooksOnly": "yes", "allowManagedPermissionRulesOnly": 1, "disableBypassPermissionsMode": true,
		"disableSkillShellExecution": "true", "sandbox": "strict", "disableAllHooks": "x"}`
	for _, level := range []string{"managed", "user"} {
		s := settings.Load(newTree(t, map[string]string{level: text}).src)
		yes := true
		want := settings.Values{}
		if level == "managed" {
			want = settings.Values{
				AllowManagedHooksOnly: &yes, AllowManagedPermissionRulesOnly: &yes, DisableBypassPermissionsMode: "disable",
				DisableSkillShellExecution: &yes, Sandbox: "required",
			}
		}
		if diff := cmp.Diff(want, s.Values); diff != "" {
			t.Errorf("%s: %s", level, diff)
		}
		if len(s.Problems) != 6 {
			t.Errorf("%s: problems %v", level, s.Problems)
		}
	}
}

func TestProblemsAreFew(t *testing.T) {
	var b strings.Builder
	b.WriteString("{")
	for i := range 30000 {
		fmt.Fprintf(&b, "\"unknown%d\": [],", i)
	}
	b.WriteString(`"model": "m"}`)
	s := settings.Load(settings.Sources{Flag: b.String()})
	if n := len(s.Problems); n != 101 || s.Model != "m" || !slices.ContainsFunc(s.Problems, func(p skill.Problem) bool { return strings.Contains(p.Message, "29900 more") }) {
		t.Errorf("%d problems, model %q", n, s.Model)
	}
}

// TestSchemaIsKnown: every field of Values has a name, a kind that the decoder
// reads, and is merged.
func TestSchemaIsKnown(t *testing.T) {
	values := map[string]string{
		"permissions":     `{"allow":["A"],"ask":["A"],"deny":["A"],"defaultMode":"plan","additionalDirectories":["/x"]}`,
		"skillPrecedence": `["user"]`, "skillOverrides": `{"a":"off"}`, "skillListing": `"equal"`, "afterCompaction": `"full"`,
		"sandbox": `"on"`, "disableBypassPermissionsMode": `"disable"`, "argumentBase": `1`, "hooks": `{"Stop":[]}`,
		"strictPluginOnlyCustomization": `true`, "strictKnownMarketplaces": `[]`, "blockedMarketplaces": `[]`,
		"skillListingBudgetFraction": `0.5`, "enabledPlugins": `{"p":true}`,
		"enabledMcpjsonServers": `["a"]`, "disabledMcpjsonServers": `["a"]`,
	}
	schema := reflect.TypeFor[settings.Values]()
	for i := range schema.NumField() {
		f := schema.Field(i)
		name := f.Tag.Get("json")
		text, ok := values[name]
		if !ok {
			text = map[reflect.Kind]string{reflect.String: `"x"`, reflect.Pointer: `true`, reflect.Map: `{"k":"v"}`}[f.Type.Kind()]
			if f.Type == reflect.TypeFor[*int]() {
				text = `7`
			}
		}
		s := settings.Load(newTree(t, map[string]string{"managed": `{"` + name + `": ` + text + `}`}).src)
		if len(s.Problems) > 0 || reflect.ValueOf(s.Values).Field(i).IsZero() {
			t.Errorf("%s: %s: problems %v, merged %v", name, text, s.Problems, reflect.ValueOf(s.Values).Field(i))
		}
	}
}
