package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// shown lists references as path, path:from-to.
func shown(text string) string {
	var out []string
	for _, r := range References(text) {
		s := r.Path
		if r.From > 0 {
			s += fmt.Sprintf(":%d-%d", r.From, r.To)
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func TestReferences(t *testing.T) { // spec A-5, P-15
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"@", ""},
		{"@ x", ""},
		{"see @README.md", "README.md"},
		{"@README.md.", "README.md"},
		{"(@docs/a.md), [@b.md]; \"@c.md\" '@d.md': **@e.md**", "docs/a.md | b.md | c.md | d.md | e.md"},
		{"@src/ @. @.. @./ @../x/..", "src/ | . | .. | ./ | ../x/.."},
		{"is it @a.md? yes @b.md! and @c.md…", "a.md | b.md | c.md"},
		{"@app/(group)/page.tsx (@app/(group)) @a[0].md", "app/(group)/page.tsx | app/(group) | a[0].md"},
		{"mail a@b.example, x.@y, 1@2", ""},
		{"me@example.org @file", "file"},
		{"@@x", ""},
		{"@a@b", "a"},
		{"`@x/y` and ``@a ` @b`` @c", "c"},
		{"` @a", "a"},
		{"`` @a ` @b", "a | b"},
		{"`a\n@b`\n@c", "c"},
		{"`a\n\n@b`", "b"}, // a span ends with its paragraph
		{"```\n@a\n```\n@b", "b"},
		{"```md\n@a\n~~~\n@b\n````\n@c", "c"},
		{"~~~\n@a", ""},
		{"  - ```\n    @a\n    ```\n  - @b", "b"},
		{"1. ~~~\n   @a\n   ~~~\n2. @b", "b"},
		{"> ```\n> @a\n> ```\n> @b", "b"},
		{"- - text `@a` @b", "b"},
		{"```inline``` @a", "a"},
		{"<!-- @a --> @b", "b"},
		{"<!--\n@a\n\n@b\n--> @c", "c"},
		{"<!-- @a\n\n@b", ""},
		{"`<!--` @a", "a"},
		{`@"my file.md" @"a.md"#L2`, "my file.md | a.md:2-2"},
		{`@"a b.md#L3-9"`, "a b.md:3-9"},
		{`@"open`, ""},
		{"@\"two\nlines\"", ""},
		{`@""`, ""},
		{`@my\ file.md x`, "my file.md"},
		{"@a.go#L3-9 @b.go#L3 @c.go#L9-L3 @d.go#L3-9.", "a.go:3-9 | b.go:3-3 | c.go:3-9 | d.go:3-9"},
		{"@a.md#section @a#L0 @a#Lx", "a.md#section | a#L0 | a#Lx"},
		{"@a#L99999999999999999999", "a#L99999999999999999999"},
		{"@~/x @/etc/hosts @../y", "~/x | /etc/hosts | ../y"},
		{"@größe/日本.md。", "größe/日本.md"},
		{"“@a.md”", "a.md"},
		{"line\r\n@a.md\r\n", "a.md"},
		{"@a.md\x00b", "a.md"},
		{"@" + strings.Repeat("x", maxPath+1) + " @b", "b"},
		{"@README.md @src/ @types/node @user a@b.example `@x/y` @./z.md", "README.md | src/ | types/node | user | ./z.md"},
	} {
		if got := shown(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestOffsets(t *testing.T) {
	text := `see @"a b.md"#L2-3 and (@c.md).`
	var got []string
	for _, r := range References(text) {
		got = append(got, text[r.Start:r.End])
	}
	if s := strings.Join(got, "|"); s != `@"a b.md"#L2-3|@c.md` {
		t.Error(s)
	}
}

func TestLooksLikePath(t *testing.T) {
	for path, want := range map[string]bool{
		"README.md": true, "src/": true, "types/node": false, "user": false, "./z": true, "../z": true, "~/z": true, "/z": true, ".env": false, "a/b.ts": true, "a.": false,
	} {
		if got := (Reference{Path: path}).looksLikePath(); got != want {
			t.Errorf("%q: %t", path, got)
		}
	}
	if !(Reference{Path: "x", Quoted: true}).looksLikePath() || !(Reference{Path: "x", From: 1}).looksLikePath() {
		t.Error("quotes and lines show that a file is meant")
	}
}

// TestExamples reads the fixture about references, and the bodies of all others.
func TestExamples(t *testing.T) {
	dir := os.Getenv("KNACK_CORPUS")
	if dir == "" {
		t.Skip("KNACK_CORPUS is not set")
	}
	data, err := os.ReadFile(filepath.Join(dir, "examples", "body-at", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := shown(string(data)); got != "README.md | src/ | types/node | user | ./z.md" {
		t.Error(got)
	}
}

// TestLinear: texts made to be slow are read in one pass; when each character
// looks ahead over the rest, this takes longer than a test may run.
func TestLinear(t *testing.T) {
	const n = 1 << 20
	for _, unit := range []string{"@", " @", "@.", "`", "` ``", "<!--", "<!--\n\n", "```\n", "(@", `@"`, "@a\\ ", ".@", "@)", "\n\n`"} {
		References(strings.Repeat(unit, n/len(unit)))
	}
	References("@" + strings.Repeat(".", n))
	References(strings.Repeat("x`", n/2))
	var b strings.Builder
	for i := range 1400 { // every run of another length
		b.WriteString(strings.Repeat("`", i) + " ")
	}
	if refs := References(b.String() + "@a"); len(refs) != 1 {
		t.Errorf("%v", refs)
	}
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{"@a `@b` @\"c d\"#L1-2", "```\n@x\n```", "<!-- @a", "@a#L2", "(@x/(y))", "@\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, r := range References(text) {
			switch {
			case r.Start < last || r.End <= r.Start || r.End > len(text) || text[r.Start] != '@':
				t.Errorf("%+v in %q", r, text)
			case r.Path == "" || strings.ContainsAny(r.Path, "\n\r\x00"):
				t.Errorf("path %q", r.Path)
			case r.From > r.To || r.From < 0 || (r.From == 0) != (r.To == 0):
				t.Errorf("lines %d-%d", r.From, r.To)
			case utf8.ValidString(text) && !utf8.ValidString(r.Path):
				t.Errorf("path %q", r.Path)
			}
			last = r.End
		}
		// In a fence nothing is a reference.
		if refs := References("~~~~~~~~\n" + strings.ReplaceAll(text, "~", "") + "\n~~~~~~~~\n"); len(refs) > 0 {
			t.Errorf("in code: %+v", refs)
		}
	})
}
