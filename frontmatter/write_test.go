package frontmatter

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// checkFix checks what must hold for a fix of any file (F-10).
func checkFix(t reporter, data []byte) {
	t.Helper()
	fixed, changes := Fix(data)
	if len(changes) == 0 {
		if !bytes.Equal(fixed, data) {
			t.Errorf("a fix without a change changed the file")
		}
		return
	}
	again, more := Fix(fixed)
	if len(more) > 0 || !bytes.Equal(again, fixed) {
		t.Errorf("Fix is not idempotent: %v", more)
	}
	if !sameValues(data, fixed) {
		t.Errorf("Fix changed values")
	}
	if a, b := cut(string(data)), cut(string(fixed)); string(data[a.body:]) != string(fixed[b.body:]) {
		t.Errorf("Fix changed the body")
	}
	for _, c := range changes {
		if c.Line < 2 || c.Reason == "" || c.Old == c.New || !bytes.Contains(fixed, []byte(c.New)) {
			t.Errorf("bad change %+v", c)
		}
	}
	_, problems := Parse("", data)
	doc, after := Parse("", fixed)
	if hasCode(after, "yaml-recovered") && !doc.keepsLost() {
		t.Errorf("still not YAML after the fix: %v, was %v", after, problems)
	}
}

func TestFix(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing to do", "name: a\ndescription: 'fine'\n", ""},
		{"colon", "# top\nname: a # x\n\ndescription: Use when: x   \n# below\nlicense: MIT\n",
			"# top\nname: \"a # x\"\n\ndescription: \"Use when: x\"\n# below\nlicense: MIT\n"},
		{"several lines", "description: Use when: x\n  and: y\n\nlicense: MIT\n", "description: \"Use when: x and: y\"\n\nlicense: MIT\n"},
		{"quotes", "description: \"say \"hi\" now\"\n", "description: \"say \\\"hi\\\" now\"\n"},
		{"tools", "allowed-tools: - Read\n- Grep\n", "allowed-tools: \"Read, Grep\"\n"},
		{"tools in a list", "allowed-tools:\n  - Bash(x -m: *)\n  - Read\n", "allowed-tools: \"Bash(x -m: *), Read\"\n"},
		{"paths", "paths: **/*.ts,**/*.tsx\n", "paths: \"**/*.ts,**/*.tsx\"\n"},
		{"hint", "argument-hint: [a] [b]\n", "argument-hint: \"[a] [b]\"\n"},
		{"tabs", "metadata:\n\tauthor: a\n", "metadata:\n  author: a\n"},
		{"glued colon", "name:foo\n", "name: \"foo\"\n"},
		{"stray line", "stray text\nname: a\n", "# stray text\nname: a\n"},
		{"unknown key", "x: @y\n", "x: \"@y\"\n"},
		{"unreadable restriction", "disallowed-tools: [Write\nname: a\n", ""},
		{"unreadable restriction and text", "disallowed-tools: [Write\nname: @a\n", "disallowed-tools: [Write\nname: \"@a\"\n"},
		{"conflict", "<<<<<<< a\nname: @a\n=======\nname: b\n>>>>>>> b\n", ""},
		{"duplicate", "name: a\nname: b\n", ""},
		{"duplicate and fault", "name: @a\nname: @b\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			for _, eol := range []string{"\n", "\r\n", "\r"} {
				for _, mark := range []string{"", bom} {
					wrap := func(yaml string) string {
						return mark + strings.ReplaceAll("---\n"+yaml+"--- \nBody: [x\n---\n", "\n", eol)
					}
					data := []byte(wrap(tt.in))
					fixed, _ := Fix(data)
					if string(fixed) != wrap(tt.want) {
						t.Errorf("got %q, want %q", fixed, wrap(tt.want))
					}
					checkFix(t, data)
				}
			}
		})
	}
	for _, data := range []string{"", "# no frontmatter: [x\n", "---\nname: @a\n", "---\nname: @\xe9\n---\n", "../x/SKILL.md"} {
		if fixed, changes := Fix([]byte(data)); string(fixed) != data || changes != nil {
			t.Errorf("%q was changed to %q", data, fixed)
		}
	}
}

// TestQuote wants every reader to give back the same text (F-10): the YAML
// library, this package, and JSON.
func TestQuote(t *testing.T) {
	check := func(t interface {
		Helper()
		Errorf(string, ...any)
	}, s string) {
		t.Helper()
		q := Quote(s)
		if strings.ContainsAny(q, "\n\r\t") {
			t.Errorf("%q is quoted as several lines", s)
		}
		var m map[string]string
		if err := yaml.Load([]byte("k: "+q+"\n"), &m); err != nil || m["k"] != s {
			t.Errorf("YAML reads %q as %q, %v", s, m["k"], err)
		}
		var j string
		if err := json.Unmarshal([]byte(q), &j); err != nil || j != s {
			t.Errorf("JSON reads %q as %q, %v", s, j, err)
		}
		doc, problems := Parse("", []byte("---\nk: "+q+"\n---\n"))
		if len(problems) > 0 || len(doc.entries) != 1 || doc.entries[0].val.text != s {
			t.Errorf("Parse reads %q as %+v, %v", s, doc.entries, problems)
		}
	}
	for _, s := range []string{"", "a", `"`, `\`, "a: b # c", "\n\r\t", "null", "yes", "\u0085\u2028\u2029\ufeff", "\x00\x07\x7f\u009f", "\ufffe\uffff", "👩\u200d💻", "---"} {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		if s := rapid.String().Draw(t, "s"); utf8.ValidString(s) {
			check(t, s)
		}
	})
}
