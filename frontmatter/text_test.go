package frontmatter

import (
	"slices"
	"strings"
	"testing"
)

// TestText is the table of F-4: text is text.
func TestText(t *testing.T) {
	tests := []struct {
		name, value string // what stands behind `description:`
		want        string
		problems    string
	}{
		{"plain", " Some text.", "Some text.", ""},
		{"number", " 007", "007", ""},
		{"float", " 1.10", "1.10", ""},
		{"bool", " yes", "yes", ""},
		{"date", " 2024-01-02", "2024-01-02", ""},
		{"double quotes", ` "a: b # c"`, "a: b # c", ""},
		{"single quotes", " 'it''s'", "it's", ""},
		{"comment after quotes", ` "a" # note`, "a", ""},
		{"hash", " Fixes #12", "Fixes #12", "text-shortened"},
		{"leading hash", " # A title", "# A title", "text-shortened"},
		{"comment first, text below", " # note\n  Some text.", "Some text.", ""},
		{"comment below", " Some text.\n  # note\n# more", "Some text.", ""},
		{"tag", " !important thing", "!important thing", "text-shortened"},
		{"image", " ![logo](x.png) text", "![logo](x.png) text", "yaml-recovered"},
		{"anchor", " &ref value", "&ref value", "text-shortened"},
		{"tag and quotes", ` !important "thing"`, `!important "thing"`, "text-shortened"},
		{"anchor and quotes", ` &ref 'value'`, `&ref 'value'`, "text-shortened"},
		{"tag and block", " !important |\n  thing", "thing", "text-shortened"},
		{"tag of YAML", " !!str thing", "!!str thing", "text-shortened"},
		{"nothing but a tag", " !", "!", "text-shortened"},
		{"entity", " &nbsp;text", "&nbsp;text", "text-shortened"},
		{"list", " [a, b]", "[a, b]", "text-shortened"},
		{"template", " {skill-name}", "{skill-name}", "text-shortened"},
		{"double template", " {{NAME}}", "{{NAME}}", "text-shortened"},
		{"block list", "\n  - a\n  - b", "- a\n- b", "text-shortened"},
		{"bracket prefix", " [Beta] Formats", "[Beta] Formats", "yaml-recovered"},
		{"brackets", " [a] [b]", "[a] [b]", "yaml-recovered"},
		{"map and text", " {a: b} map", "{a: b} map", "yaml-recovered"},
		{"at", " @team does it", "@team does it", "yaml-recovered"},
		{"percent", " %d formats", "%d formats", "yaml-recovered"},
		{"backtick", " `foo` helper", "`foo` helper", "yaml-recovered"},
		{"apostrophe", " 'tis broken", "'tis broken", "yaml-recovered"},
		{"apostrophe inside", " 'don't'", "don't", "yaml-recovered"},
		{"greater", " > 5 files", "> 5 files", "yaml-recovered"},
		{"bar", " | Use when asked", "| Use when asked", "yaml-recovered"},
		{"bar and continuation", " | Use when\n  asked", "| Use when asked", "yaml-recovered"},
		{"dash", " - x", "- x", "yaml-recovered"},
		{"question mark", " ? x", "? x", "yaml-recovered"},
		{"comma", " , rest", ", rest", "yaml-recovered"},
		{"stars", " **Always** run", "**Always** run", "yaml-recovered"},
		{"colon", " Two modes: fast and slow", "Two modes: fast and slow", "yaml-recovered"},
		{"two colons", " Use when: a. Not for: b", "Use when: a. Not for: b", "yaml-recovered"},
		{"colon at the end", " Handles:", "Handles:", "yaml-recovered"},
		{"colon in continuation", " Does x.\n  TRIGGER when: y", "Does x. TRIGGER when: y", "yaml-recovered"},
		{"continuation", " one\n  two\n\n  three", "one two\nthree", ""},
		{"continuation at column 0", " First\nsecond line", "First second line", "yaml-recovered"},
		{"quoted at column 0", " \"First\nsecond\"", "First second", ""},
		{"hash and continuation", " one # two\n  three", "one # two three", "yaml-recovered"},
		{"never closed", " \"never closed", `"never closed`, "yaml-recovered"},
		{"inner quotes", ` "say "hi" now"`, `say "hi" now`, "yaml-recovered"},
		{"text after quotes", ` "[topic]" or "[url]"`, `"[topic]" or "[url]"`, "yaml-recovered"},
		{"quoted, then more", ` "quoted" then more`, `"quoted" then more`, "yaml-recovered"},
		{"bad escape", ` "matches \d+ \u00e9"`, `matches \d+ é`, "yaml-recovered"},
		{"surrogates", ` "go \ud83d\ude80"`, "go \U0001F680", ""},
		{"half a surrogate", ` "go \ud83d"`, "go \uFFFD", ""},
		{"literal", " |\n  a\n   b\n  c", "a\n b\nc", ""},
		{"literal strip", " |-\n  a\n  b", "a\nb", ""},
		{"literal keep", " |+\n  a\n", "a", ""},
		{"folded", " >\n  a\n  b", "a b", ""},
		{"folded strip", " >-\n  a\n  b\n\n  c", "a b\nc", ""},
		{"indicator", " |2\n    a\n  b", "a\nb", ""},
		{"table in literal", " |\n  | a |\n  | --- |", "| a |\n| --- |", ""},
		{"dashes", " Slides separated by --- rules", "Slides separated by --- rules", ""},
		{"line separator", " a\u2028b", "a\u2028b", "hidden-characters"},
		{"control characters", " a\x1b[2Jb\x07", "a\x1b[2Jb\x07", "hidden-characters"},
		{"alias is text", " *x", "*x", "yaml-recovered"},
		{"tab", " a\tb", "a\tb", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := header("name: a\ndescription:" + tt.value + "\nlicense: MIT\nallowed-tools: Read\n")
			doc, s, problems := load(data)
			if s.Description != tt.want || s.DescriptionFallback {
				t.Errorf("description %q, want %q", s.Description, tt.want)
			}
			if got := codes(problems); strings.ReplaceAll(got, " hidden-characters", "") != tt.problems {
				t.Errorf("problems %q, want %q: %v", got, tt.problems, problems)
			}
			// One bad key never costs another (F-3).
			if s.Name != "a" || !slices.Equal(s.Run.AllowedTools, []string{"Read"}) || written(doc, "license") != "MIT" {
				t.Errorf("the other fields suffered: %+v", s)
			}
			for _, p := range problems {
				if p.Line < 3 || p.Line > 2+strings.Count(data, "\n") || p.Column < 1 {
					t.Errorf("no place: %v", p)
				}
			}
			checkParse(t, []byte(data))
			checkFix(t, []byte(data))
			if tt.problems == "yaml-recovered" || tt.problems == "text-shortened" {
				checkFixed(t, data)
			}
		})
	}
}

// written returns a field as written.
func written(doc *Document, key string) string {
	for _, f := range doc.Fields() {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// checkFixed wants a fix after which nothing is left to say.
func checkFixed(t *testing.T, data string) {
	t.Helper()
	fixed, changes := Fix([]byte(data))
	if len(changes) != 1 || changes[0].Line != 3 {
		t.Errorf("changes %+v", changes)
	}
	if _, _, problems := load(string(fixed)); len(problems) > 0 {
		t.Errorf("left after the fix: %v\n%s", problems, fixed)
	}
}
