package frontmatter

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/skill"
)

// TestLineEnds wants one reading of a file for every kind of line end, with
// and without a byte order mark (F-2): no CR is left in any value.
func TestLineEnds(t *testing.T) {
	files := []string{
		header("name: demo\ndescription: parse me\ncontext: fork\nallowed-tools:\n  - Read\n  - Bash(git *)\ndisable-model-invocation: yes\n"),
		header("name: demo\ndescription: |\n  one\n  two\npaths: [\"a/**\", b]\nx: y\n"),
		header("name: demo\ndescription: Use when: x\n  more\nallowed-tools: - Read\n- Grep\n"),
		header("name: demo\ndescription: >-\n  one\n  two\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: |\n            a\n            b\n"),
		"# Title\n\nText of\nthe body.\n\nMore.\n",
	}
	for _, file := range files {
		_, want, wantProblems := load(file)
		for _, eol := range []string{"\r\n", "\r"} {
			for _, mark := range []string{"", bom} {
				data := mark + strings.ReplaceAll(file, "\n", eol)
				doc, got, problems := load(data)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%q:\n%s", data, diff)
				}
				if !cmp.Equal(wantProblems, problems) {
					t.Errorf("%q: %v, want %v", data, problems, wantProblems)
				}
				if strings.HasPrefix(doc.Body, "-") || !strings.HasSuffix(data, doc.Body) {
					t.Errorf("body %q", doc.Body)
				}
				for _, f := range doc.Fields() {
					if f.Key != "hooks" && strings.TrimSuffix(f.Value, "\r") != f.Value {
						t.Errorf("%q ends in CR", f.Value)
					}
				}
				checkParse(t, []byte(data))
				checkFix(t, []byte(data))
			}
		}
	}
}

// TestOneIdentity wants every reader to see the same fence (F-2): what stands
// in the body cannot become a second identity.
func TestOneIdentity(t *testing.T) {
	for _, data := range []string{
		"---\r\nname: safe\r\n---\r\n<!-- name: evil -->",
		"---\nname: safe\n---\n---\nname: evil\n---\n",
		"---\nname: safe\n---name: evil\n---\n",
		"---\nname: safe\n  ---\nname: still frontmatter, by F-2\n---\n",
		bom + "---\nname: safe\n---\n" + bom + "---\nname: evil\n---\n",
	} {
		doc, s, _ := load(data)
		if strings.Contains(data, "F-2") {
			if !strings.Contains(written(doc, "name"), "F-2") {
				t.Errorf("%q: name %q", data, s.Name)
			}
			continue
		}
		body, line, err := SplitBody([]byte(data))
		if s.Name != "safe" || body != doc.Body || line != doc.BodyLine || err != nil || strings.Contains(body, "safe") {
			t.Errorf("%q: name %q, body %q", data, s.Name, body)
		}
	}
}

// TestSpelling is F-4 for values that no field is declared for.
func TestSpelling(t *testing.T) {
	doc, s, problems := load(header("name: k\ndescription: null\nkeywords: [off, 007, 0x10, 1e3]\nreleased: 2026-01-01\nenabled: yes\nq: \"1\"\n" +
		"block: |\n  a\n  b\nm: {a: {b: [1.10]}}\n"))
	want := []skill.Field{
		{Key: "name", Value: "k"}, {Key: "description", Value: ""}, {Key: "keywords", Value: "[off, 007, 0x10, 1e3]"},
		{Key: "released", Value: "2026-01-01"}, {Key: "enabled", Value: "yes"}, {Key: "q", Value: "1"},
		{Key: "block", Value: "a\nb"}, {Key: "m", Value: "{a: {b: [1.10]}}"},
	}
	if diff := cmp.Diff(want, doc.Fields()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[2:], s.Content.Extra); diff != "" {
		t.Error(diff)
	}
	if s.Description != "Body text." || !s.DescriptionFallback || len(problems) > 0 {
		t.Errorf("%q, %v", s.Description, problems)
	}
	i := slices.IndexFunc(doc.entries, func(e entry) bool { return e.key == "keywords" })
	var words []string
	for _, item := range doc.entries[i].val.items {
		words = append(words, item.text)
	}
	if !slices.Equal(words, []string{"off", "007", "0x10", "1e3"}) {
		t.Errorf("keywords %q", words)
	}
}

// TestForeignRequires keeps what other programs mean by requires (F-6).
func TestForeignRequires(t *testing.T) {
	_, s, problems := load(header("description: d\nrequires: {env: [API_KEY]}\nmetadata: {host: {requires: {env: [API_KEY]}}}\n"))
	want := []skill.Field{{Key: "requires", Value: "{env: [API_KEY]}"}, {Key: "metadata", Value: "{host: {requires: {env: [API_KEY]}}}"}}
	if diff := cmp.Diff(want, s.Content.Extra); diff != "" || codes(problems) != "bad-value" {
		t.Errorf("%s\n%v", diff, problems)
	}
}

// TestLongText wants whole texts: nothing is cut when loading (F-8, L chapters).
func TestLongText(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 1602), strings.Repeat("界", 1200)} {
		_, s, problems := load(header("description: " + text + "\n"))
		if s.Description != text || len(problems) > 0 {
			t.Errorf("%d bytes, %v", len(s.Description), problems)
		}
	}
}

// TestValidIsUntouched wants no recovery and no change for valid YAML (F-3).
func TestValidIsUntouched(t *testing.T) {
	for _, src := range fastSeeds {
		if !strings.HasSuffix(src, "\n") {
			continue // the closing fence would not stand on its own line
		}
		data := []byte(header(src))
		var r reader
		_, f := r.strict(src, 2)
		_, problems := Parse("", data)
		if !empty(src) && (f != nil) != hasCode(problems, "yaml-recovered") {
			t.Errorf("%q: YAML says %v, Parse says %v", src, f, problems)
		}
		if fixed, _ := Fix(data); f == nil && !strings.Contains(src, "name:") && !bytes.Equal(fixed, data) {
			t.Errorf("valid YAML was changed: %q to %q", data, fixed)
		}
	}
}

// TestHiddenCharacters is F-7: reported where they are, emoji are not.
func TestHiddenCharacters(t *testing.T) {
	for _, text := range []string{"👩\u200d💻 works", "❤\ufe0f", "🇩🇪", "ordinary é 你好"} {
		if _, _, problems := load(header("description: " + text + "\n")); len(problems) > 0 {
			t.Errorf("%q: %v", text, problems)
		}
	}
	for _, text := range []string{"a\u202eb", "a\u200bb", "a\U000E0041b", `"a\u202eb"`, "\"a\\x07b\"", "a\x07b"} {
		_, _, problems := load(header("name: a\ndescription: " + text + "\n"))
		i := slices.IndexFunc(problems, func(p skill.Problem) bool { return p.Code == "hidden-characters" })
		if i < 0 || problems[i].Line != 3 || problems[i].Column != 14 {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

// TestBuffer wants a loaded skill to own its text (F-9).
func TestBuffer(t *testing.T) {
	for _, head := range []string{"---\nname: a\nx: y\nallowed-tools: Read, Grep\npaths: a/*.go\n---\n", "---\nname: a: b\nallowed-tools: [Read]\n---\n", ""} {
		data := []byte(head + "First paragraph.\n\nMore.\n")
		doc, _ := Parse("SKILL.md", data)
		var s, want skill.Skill
		doc.Fill(&s, false)
		fresh, _ := Parse("SKILL.md", bytes.Clone(data))
		fresh.Fill(&want, false)
		for i := range data {
			data[i] = '#'
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("the buffer shines through:\n%s", diff)
		}
	}
}
