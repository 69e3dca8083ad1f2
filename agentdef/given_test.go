package agentdef

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) { // spec A-7
	defs, problems, err := Parse(`{
		"reviewer": {"description": "Reviews: code, \"all\" of it # yes", "prompt": "You review.\n---\nname: evil", "tools": ["Read", "Bash(git diff *)"],
			"disallowedTools": "Write", "model": "haiku", "maxTurns": 7, "background": true, "skills": ["a"], "permissionMode": "acceptEdits",
			"effort": "low", "initialPrompt": "go\non", "name": "other", "unknown": {"x": [1, null]}},
		"Länder ü": {"description": "d", "prompt": "p"}
	}`)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	o := Origin{Source: CommandLine}
	want := []*Definition{
		{
			Name: "reviewer", Description: `Reviews: code, "all" of it # yes`, Prompt: "You review.\n---\nname: evil", Origin: o,
			Tools: Tools{Listed: true, Only: []string{"Read", "Bash(git diff *)"}, Without: []string{"Write"}},
			Run:   Run{Model: "haiku", MaxTurns: 7, Background: true, Skills: []string{"a"}, PermissionMode: "acceptEdits", Effort: "low", InitialPrompt: "go\non"},
		},
		{Name: "Länder ü", Description: "d", Prompt: "p", Origin: o},
	}
	if d := cmp.Diff(want, defs); d != "" {
		t.Error(d)
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		``: "not valid JSON", `[]`: "JSON object", `{"a": {}`: "not valid JSON", `{"a": {}} x`: "more text", `"x"`: "JSON object", `{"a"`: "not valid JSON",
	} {
		if _, _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--agents") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		`{"a": 1}`:                                     "agents-flag",
		`{"a": {"prompt": 1}}`:                         "agents-flag",
		`{"a": {"description": "d"}}`:                  "agent-empty",
		`{"a:b": {"description": "d", "prompt": "p"}}`: "agent-name",
		`{"a": {"description": "d", "prompt": "p", "tools": {"x": 1}}}`:                 "security-field-lost",
		`{"a": {"description": "d", "prompt": "p", "maxTurns": 1.5}}`:                   "bad-value",
		`{"a\nb": {"description": "d", "prompt": "p"}}`:                                 "agent-name",
		`{"x": 1, "a": {"description": "d", "prompt": "p", "disallowed_tool": "Bash"}}`: "agents-flag did-you-mean",
	} {
		_, problems, err := Parse(text)
		if err != nil || codes(problems) != want {
			t.Errorf("%s: %v, %v", text, problems, err)
		}
		for _, p := range problems {
			if p.Line != 0 || p.Path != "--agents" || !strings.Contains(p.Message, "agent ") {
				t.Errorf("%+v", p)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a": {"description": "d", "prompt": "p", "tools": ["x"]}}`)
	f.Add(`{"a": {"---\nname": "x"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		defs, _, _ := Parse(text)
		for _, d := range defs {
			if badName(d.Name) != "" {
				t.Errorf("name %q", d.Name)
			}
		}
	})
}
