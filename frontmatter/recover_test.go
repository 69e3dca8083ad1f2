package frontmatter

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/knack-skills/knack/skill"
)

// TestKeys reads keys that people write in odd ways, in headers that YAML
// cannot read for another reason (F-3): no key is lost with the bad one.
func TestKeys(t *testing.T) {
	tests := []struct {
		name, yaml string
		want       []skill.Field
	}{
		{"blanks in the first key", "my key: v\nx: a: b", []skill.Field{{Key: "my key", Value: "v"}, {Key: "x", Value: "a: b"}}},
		{"blanks in a later key", "license: MIT\nmy key: v\nx: a: b", []skill.Field{{Key: "license", Value: "MIT"}, {Key: "my key", Value: "v"}, {Key: "x", Value: "a: b"}}},
		{"quoted", "\"license\": MIT\n'my key' : v\nx: a: b", []skill.Field{{Key: "license", Value: "MIT"}, {Key: "my key", Value: "v"}, {Key: "x", Value: "a: b"}}},
		{"blank before the colon", "license :MIT\nversion : 1.10\nx: a: b", []skill.Field{{Key: "license", Value: "MIT"}, {Key: "version", Value: "1.10"}, {Key: "x", Value: "a: b"}}},
		{"no blank behind the colon", "license:MIT\nversion:1.10\nx: a: b", []skill.Field{{Key: "license", Value: "MIT"}, {Key: "version", Value: "1.10"}, {Key: "x", Value: "a: b"}}},
		{"tab behind the colon", "license:\tMIT\nx: a: b", []skill.Field{{Key: "license", Value: "MIT"}, {Key: "x", Value: "a: b"}}},
		{"comments between", "# c\nlicense: MIT\n# d\n\n  # e\nx: a: b\n# f", []skill.Field{{Key: "license", Value: "MIT"}, {Key: "x", Value: "a: b"}}},
		{"nested maps", "metadata:\n  a:\n    b: [1, {c: d}]\nx: a: b", []skill.Field{{Key: "metadata", Value: "  a:\n    b: [1, {c: d}]"}, {Key: "x", Value: "a: b"}}},
		{"an address is no key", "license: see\nhttp://example.com/x\nx: a: b", []skill.Field{{Key: "license", Value: "see http://example.com/x"}, {Key: "x", Value: "a: b"}}},
		{"document end", "license: MIT\n...\nx: y", []skill.Field{{Key: "license", Value: "MIT"}, {Key: "x", Value: "y"}}},
		{"directive", "%YAML 1.2\nlicense: MIT", []skill.Field{{Key: "license", Value: "MIT"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := header("description: d\n" + tt.yaml + "\n")
			if tt.name == "blanks in the first key" || tt.name == "directive" {
				data = header(tt.yaml + "\ndescription: d\n")
			}
			doc, s, problems := load(data)
			var got []skill.Field
			for _, f := range doc.Fields() {
				if f.Key == "license" || f.Key == "version" || lookup(f.Key) == nil || f.Key == "metadata" {
					f.Value = lostText(f.Value)
					if f.Key == "metadata" {
						f.Value = written(doc, f.Key)
					}
					got = append(got, f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if s.Description != "d" || codes(problems) != "yaml-recovered" {
				t.Errorf("description %q, %v", s.Description, problems)
			}
			checkParse(t, []byte(data))
			checkFix(t, []byte(data))
		})
	}
}

// TestTextBeforeKeys is not passed over in silence.
func TestTextBeforeKeys(t *testing.T) {
	_, s, problems := load(header("Some prose.\ndescription: a: b\n"))
	if s.Description != "a: b" || codes(problems) != "yaml-recovered" || !strings.Contains(problems[0].Message, "before the first key is ignored") {
		t.Errorf("%q, %v", s.Description, problems)
	}
}

// TestDocumentEnd is no part of the last value.
func TestDocumentEnd(t *testing.T) {
	for _, yaml := range []string{"description: d\n...\n", "description: d\n... \n", "description: |\n  d\n...\n", "description: \"d\"\n...\n"} {
		if _, s, problems := load(header(yaml)); s.Description != "d" || len(problems) > 0 {
			t.Errorf("%q: %q, %v", yaml, s.Description, problems)
		}
	}
}

// TestOneDiagnostic wants one problem for one YAML fault, also when it costs a
// field; several faults are reported as such (F-3).
func TestOneDiagnostic(t *testing.T) {
	for yaml, want := range map[string]string{
		"description: a: b":                              "yaml-recovered",
		"description: a: b\nx: c: d\ny: @":               "yaml-recovered",
		"allowed-tools: [Read":                           "security-field-lost",
		"allowed-tools: [Read\ndescription: a: b":        "yaml-recovered security-field-lost",
		"hooks: {Stop: [":                                "security-field-lost",
		"context: \"fork":                                "security-field-lost",
		"paths: {a: [":                                   "security-field-lost",
		"disable-model-invocation: \"":                   "bad-value",
		"user-invocable: @no":                            "bad-value",
		"effort: \"high":                                 "bad-value",
		"a: &a Read\nallowed-tools: *a":                  "security-field-lost",
		"a: &a x\nmodel: *a":                             "yaml-alias",
		"a: &a x\n*a : y":                                "yaml-alias",
		"a: &a {disable-model-invocation: true}\n<<: *a": "yaml-alias",
		"\tname: x":                                      "yaml-recovered",
		"<<<<<<< ours\nname: a\n=======\nname: b\n>>>>>>> them": "merge-conflict",
	} {
		_, _, problems := load(header(yaml + "\n"))
		if got := codes(problems); got != want {
			t.Errorf("%q: %s, want %s: %v", yaml, got, want, problems)
		}
		for _, p := range problems {
			if p.Line < 2 || p.Column < 1 || p.Fix == "" || p.Path != "SKILL.md" {
				t.Errorf("%q: no place or fix: %+v", yaml, p)
			}
		}
	}
}

// TestUnreadSecurity is F-3, third step, for a header that is not read at all.
func TestUnreadSecurity(t *testing.T) {
	long := "x: " + strings.Repeat("y", MaxFrontmatter) + "\n"
	_, s, problems := load(header("disableModelInvocation: true\n" + long + "hooks:\nhooks:\n"))
	if !s.Trigger.HiddenFromModel || codes(problems) != "frontmatter-too-large security-field-lost security-field-lost" {
		t.Errorf("%+v, %v", s.Trigger, problems)
	}
	if _, s, problems = load(header("name: x\n" + long)); s.Trigger.HiddenFromModel || codes(problems) != "frontmatter-too-large" {
		t.Errorf("%+v, %v", s.Trigger, problems)
	}
}

// TestStandIns takes characters of the private range as they are, also beside
// those for which they stand in while YAML reads.
func TestStandIns(t *testing.T) {
	for _, value := range []string{"\ue185", "\ue185 \u0085", "\ue1f0\u2028", "a\x1bb", "\u2029\uffff"} {
		_, s, problems := load(header("x: [\n  a]\ndescription: " + value + "\n"))
		if s.Description != value {
			t.Errorf("%q, want %q: %v", s.Description, value, problems)
		}
	}
}

// TestKeyed compares the collection of entries with a slow and simple one.
func TestKeyed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringMatching(`[a-e]{1,2}`), 0, 200).Draw(t, "keys")
		var k keyed
		var want []entry
		for i, key := range keys {
			earlier := 0
			if at := slices.IndexFunc(want, func(e entry) bool { return e.key == key }); at >= 0 {
				earlier = want[at].line
				want = slices.Delete(want, at, at+1)
			}
			e := entry{key: key, line: i + 1}
			want = append(want, e)
			if got := k.add(e); got != earlier {
				t.Fatalf("key %d, %s: replaces line %d, want %d", i, key, got, earlier)
			}
		}
		if !slices.EqualFunc(k.all(), want, func(a, b entry) bool { return a.key == b.key && a.line == b.line }) {
			t.Errorf("%v, want %v", k.all(), want)
		}
	})
}

// TestTagLetters says what invisible letters spell (F-7).
func TestTagLetters(t *testing.T) {
	_, _, problems := load(header("description: Formats.\U000E0049\U000E0067\U000E006E\n"))
	if codes(problems) != "hidden-characters" || !strings.Contains(problems[0].Message, `U+E0049 (tag); as letters they read "Ign"`) {
		t.Errorf("%v", problems)
	}
}
