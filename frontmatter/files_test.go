package frontmatter

import (
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

func TestFallback(t *testing.T) {
	tests := []struct{ body, want string }{
		{"# Fix docs\n\nRepairs broken\ndoc links.\n\nMore.\n", "Repairs broken doc links."},
		{"First.\n", "First."},
		{"# Only a heading #\n", "Only a heading"},
		{"Title\n=====\n\nText\n", "Text"},
		{"Title\n-----\nText\n", "Text"},
		{"Title\n=====\n", "Title"},
		{"<!-- note\nmore -->\n\n# T\nText\n# U\n", "Text"},
		{"```sh\nls\n```\n\nText\n", "Text"},
		{"~~~~\n~~~\nx\n~~~~\nText\n", "Text"},
		{"***\nText\n***\n", "Text"},
		{"#hashtag is text\n", "#hashtag is text"},
		{"Text\r\nmore\r\n\r\nend\r\n", "Text more"},
		{"", ""},
		{strings.Repeat("ä", 2000), strings.Repeat("ä", 1023) + "…"},
	}
	for _, tt := range tests {
		for _, head := range []string{"", "---\nname: a\n---\n", "---\ndescription:\n---\n"} {
			data := head + tt.body
			_, s, problems := load(data)
			if s.Description != tt.want || s.DescriptionFallback != (tt.want != "") || len(problems) > 0 {
				t.Errorf("%q: %q, %t, %v", data, s.Description, s.DescriptionFallback, problems)
			}
			checkParse(t, []byte(data))
		}
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ name, data, code string }{
		{"utf-16 le", "\xff\xfe-\x00-\x00-\x00", "utf-16"},
		{"utf-16 be", "\xfe\xff\x00-\x00-\x00-", "utf-16"},
		{"nul", "---\nname: a\n---\nA\x00B\n", "binary"},
		{"link as text", "../../other/SKILL.md", "path-only"},
		{"link with a newline", "../shared/review\n", "path-only"},
		{"link to a sibling", "README.md\r\n", "path-only"},
		{"too large", strings.Repeat("x\n", MaxFile/2+1), "too-large"},
		{"link to a name with blanks", "../my skills/SKILL.md", "path-only"},
		{"a sentence that starts like a path", "./run the tests", ""},
		{"longer than a path", "./" + strings.Repeat("x", longestPath), ""},
		{"a mention is text", "@README.md\n", ""},
		{"an address is text", "https://example.com/SKILL.md\n", ""},
		{"a sentence is text", "See ../other/SKILL.md\n", ""},
		{"a word is text", "Hello\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, s, problems := load(tt.data)
			if tt.code == "path-only" && !strings.Contains(problems[0].Message, strings.TrimSpace(tt.data)) {
				t.Errorf("the target is missing: %v", problems)
			}
			if doc.Refused != tt.code || codes(problems) != tt.code {
				t.Errorf("refused %q, problems %v", doc.Refused, problems)
			}
			if tt.code != "" && (doc.Body != "" || s.Description != "" || problems[0].Severity != skill.Error) {
				t.Errorf("something was loaded: %+v", s)
			}
		})
	}
	if _, _, err := SplitBody([]byte("---\nname: a\n---\nA\x00B")); err != ErrNUL {
		t.Errorf("SplitBody: %v", err)
	}
	if _, _, err := SplitBody(make([]byte, MaxFile+1)); err != ErrTooLarge {
		t.Errorf("SplitBody: %v", err)
	}
}

// TestOversizedFrontmatter is F-4: the body still loads.
func TestOversizedFrontmatter(t *testing.T) {
	data := "---\ndescription: d\nx: " + strings.Repeat("y", MaxFrontmatter) + "\n---\nBody.\n"
	doc, s, problems := load(data)
	if codes(problems) != "frontmatter-too-large" || doc.Body != "Body.\n" || s.Description != "Body." {
		t.Errorf("%v, %q", problems, s.Description)
	}
}

// TestPosition wants the place of a fault in lines of the file and characters.
func TestPosition(t *testing.T) {
	tests := []struct {
		yaml      string
		line, col int
	}{
		{"description: Two modes: fast\n", 2, 23},
		{"description: Ünï cödé: fast\n", 2, 22},
		{"name: a\ndescription: [a] [b]\n", 3, 18},
		{"name: a\ndescription: \"open\nlicense: MIT\n", 3, 14},
		{"name: a\n\n# c\ndescription: @x\n", 5, 14},
	}
	for _, tt := range tests {
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			data := bom + strings.ReplaceAll(header(tt.yaml), "\n", eol)
			_, _, problems := load(data)
			i := slices.IndexFunc(problems, func(p skill.Problem) bool { return p.Code == "yaml-recovered" })
			if i < 0 || problems[i].Line != tt.line || problems[i].Column != tt.col {
				t.Errorf("%q: %v", data, problems)
			}
		}
	}
}
