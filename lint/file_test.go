package lint

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/skill"
)

// open reads text as a skill file.
func open(t *testing.T, text string) *file {
	t.Helper()
	f, problems := read(&skill.Skill{}, []byte(text))
	if f == nil {
		t.Fatalf("%q was refused: %v", text, problems)
	}
	return f
}

func TestFieldPlaces(t *testing.T) { // spec F-3: line and column
	for _, tt := range []struct {
		name, text, key string
		line, column    int
	}{
		{"first", "---\nname: x\n---\n", "name", 2, 7},
		{"after a comment", "---\n# name: y\nname: x\n---\n", "name", 3, 7},
		{"wide blank", "---\nname:    x\n---\n", "name", 2, 10},
		{"no blank", "---\nname:\n  x\n---\n", "name", 2, 1},
		{"quoted key", "---\n\"name\": x\n---\n", "name", 2, 9},
		{"blank before the colon", "---\nname : x\n---\n", "name", 2, 8},
		{"camel case", "---\nwhenToUse: x\n---\n", "when-to-use", 2, 12},
		{"last one wins", "---\nname: x\nname: y\n---\n", "name", 3, 7},
		{"characters, not bytes", "---\n\"näme\": x\n---\n", "näme", 2, 9},
		{"byte order mark", "\uFEFF---\nname: x\n---\n", "name", 2, 7},
		{"crlf", "---\r\na: b\r\nname: x\r\n---\r\n", "name", 3, 7},
		{"cr", "---\ra: b\rname: x\r---\r", "name", 3, 7},
		{"glued fence", "---\nname: x\n--- body", "name", 2, 7},
		{"missing", "---\nname: x\n---\n", "model", 0, 0},
		{"nested", "---\nmetadata:\n  name: x\n---\n", "name", 0, 0},
		{"in the body", "---\na: b\n---\nname: x\n", "name", 0, 0},
		{"no frontmatter", "name: x\n", "name", 0, 0},
		{"never closed", "---\nname: x\n", "name", 0, 0},
		{"a time is no key", "---\na: b\n12:30\n---\n", "12", 0, 0},
		{"a list is no key", "---\n- name: x\n---\n", "- name", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line, column := open(t, tt.text).field(tt.key)
			if line != tt.line || column != tt.column {
				t.Errorf("%s is at %d:%d, want %d:%d", tt.key, line, column, tt.line, tt.column)
			}
		})
	}
}

func TestItemPlaces(t *testing.T) {
	text := "---\nname: Read\nallowed-tools: Read, Bash(ls)\npaths:\n  - a\n\n  # b\n  - 'ü', \"x\"\nmodel: opus\n---\nRead\n"
	for _, tt := range []struct {
		key, item    string
		line, column int
	}{
		{"allowed-tools", "Read", 3, 16},
		{"allowed-tools", "Bash(ls)", 3, 22},
		{"allowed-tools", "tools", 3, 16}, // the key is not part of the value
		{"allowed-tools", "Grep", 3, 16},  // not there: the field
		{"paths", "a", 5, 5},
		{"paths", "x", 8, 11},
		{"paths", "opus", 4, 1}, // of the next field
		{"paths", "", 4, 1},
		{"model", "opus", 9, 8},
		{"effort", "x", 0, 0},
	} {
		line, column := open(t, text).item(tt.key, tt.item)
		if line != tt.line || column != tt.column {
			t.Errorf("%q of %s is at %d:%d, want %d:%d", tt.item, tt.key, line, column, tt.line, tt.column)
		}
	}
}

func TestBodyPlaces(t *testing.T) {
	for _, tt := range []struct {
		text                 string
		line, column         int
		fileLine, fileColumn int
	}{
		{"x y\n", 1, 3, 1, 3},
		{"---\na: b\n---\nx y\nz", 1, 3, 4, 3},
		{"---\na: b\n---\nx y\nz", 2, 1, 5, 1},
		{"---\na: b\n--- x", 1, 2, 3, 5},
		{"---\na: b\n--- x\ny", 2, 1, 4, 1},
		{"\uFEFFx", 1, 1, 1, 1},
		{"---\r\na: b\r\n---\r\nx", 1, 1, 4, 1},
	} {
		line, column := open(t, tt.text).inBody(tt.line, tt.column)
		if line != tt.fileLine || column != tt.fileColumn {
			t.Errorf("%q: %d:%d of the body is %d:%d, want %d:%d", tt.text, tt.line, tt.column, line, column, tt.fileLine, tt.fileColumn)
		}
	}
}

func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []link
	}{
		{"none", nil},
		{"[a](b)", []link{{"b", 1, 5}}},
		{"x\n\n- [ä](b.md) ![c](d)", []link{{"b.md", 3, 7}, {"d", 3, 18}}},
		{"[a](b \"T\") [a](b 'T') [a](b (T))", []link{{"b", 1, 5}, {"b", 1, 16}, {"b", 1, 27}}},
		{"[a](<b c>)", []link{{"b c", 1, 6}}},
		{"[a]( b )", []link{{"b", 1, 6}}},
		{"[a](b(1).md)", []link{{"b(1).md", 1, 5}}},
		{"[[a]](b)", []link{{"b", 1, 7}}},
		{"[a](b c)", nil},
		{"[a]()", nil},
		{"[a](b", nil},
		{"[a](<b", nil},
		{"[a] (b)", nil},
		{"a](b)", nil},
		{"[a\\](b)", nil},
	} {
		if d := cmp.Diff(tt.want, links(tt.in), cmp.AllowUnexported(link{})); d != "" {
			t.Errorf("links(%q): %s", tt.in, d)
		}
	}
}

func TestLinkFile(t *testing.T) {
	for target, want := range map[string]string{
		"a.md": "a.md", "a/b": "a/b", "./a.md": "./a.md", "../a.md": "../a.md", "a.md#part": "a.md",
		"a.md?x=1": "a.md", "a%20b.md": "a b.md", "a/": "a/", "x%zz.md": "x%zz.md", "文.md": "文.md",
		"": "", "#part": "", "url": "", "/a.md": "", "~/a.md": "", "https://x/y.md": "", "mailto:a@b.c": "",
		"C:\\a.md": "", "path/to/a.md": "", "your_file.md": "", "Your-doc.md": "", "<a>.md": "", "{a}.md": "",
		"$A/b.md": "", "a/*.md": "", "a/....md": "", "…/a.md": "", "example.com/a.md": "", "www.x.y/a.md": "", "a%00.md": "",
		"@scope/x.md": "",
	} {
		got, ok := link{target: target}.file()
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q leads to %q, %v; want %q", target, got, ok, want)
		}
	}
}

func TestPatternNeverMatches(t *testing.T) { // spec D-4
	for pattern, never := range map[string]bool{
		"*.go": false, "**": false, "a": false, "/a/b": false, "a/": false, "a/**/b": false, "**/a/": false,
		"?.md": false, "[a-z].md": false, `\#a`: false, `\!a`: false, "a b": false, "*": false, "文/*.md": false,
		"": true, "  ": true, "# note": true, "~/a": true, "C:/a": true, `D:\a`: true,
		"./a": true, "a/../b": true, "..": true, "a/.": true, "a[b": true, "[": true,
	} {
		if why := patternNeverMatches(pattern); (why != "") != never {
			t.Errorf("%q: %q, want a reason: %v", pattern, why, never)
		}
	}
}

// Blanking code keeps every character in its place, and never adds a link.
func TestProseKeepsPlaces(t *testing.T) {
	marks := []string{"`", "``", "```", "~~~", "<!--", "-->", "[a](b.md)", "ä", " ", "\n", "x", "> "}
	f := func(choice []uint8) bool {
		var b strings.Builder
		for _, c := range choice {
			b.WriteString(marks[int(c)%len(marks)])
		}
		in, out := splitLines(b.String()), prose(b.String())
		if len(in) != len(out) {
			return false
		}
		for i := range in {
			if out[i] == "" {
				continue // a fence or what stands in it
			}
			before, after := []rune(in[i]), []rune(out[i])
			if len(before) != len(after) {
				return false
			}
			for j := range after {
				if after[j] != ' ' && after[j] != before[j] {
					return false
				}
			}
		}
		return len(links(b.String())) <= strings.Count(b.String(), "](")
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func FuzzLinks(f *testing.F) {
	for _, s := range []string{"[a](b.md)", "`[a](b)` [c](<d e> \"t\")", "<!-- [a](b)\n--> [c](d)", "```\n[a](b)\n```", "[ä](ö(ü))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if !utf8.ValidString(body) {
			return // bodies are valid once they were read (spec F-7)
		}
		lines := splitLines(body)
		for _, l := range links(body) {
			rest := []rune(lines[l.line-1])[l.column-1:]
			if !strings.HasPrefix(string(rest), l.target) {
				t.Fatalf("target %q is not at %d:%d", l.target, l.line, l.column)
			}
		}
	})
}
