package frontmatter

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/skill"
)

// load is Parse and Fill with all problems.
func load(data string) (*Document, skill.Skill, []skill.Problem) {
	doc, problems := Parse("SKILL.md", []byte(data))
	var s skill.Skill
	return doc, s, append(problems, doc.Fill(&s, false)...)
}

// reporter is what the checks need of a test.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkParse checks what must hold for every file, and returns its problems.
func checkParse(t reporter, data []byte) []skill.Problem {
	t.Helper()
	doc, problems := Parse("SKILL.md", data)
	var s skill.Skill
	problems = append(problems, doc.Fill(&s, false)...)
	count := map[string]int{}
	for _, p := range problems {
		count[p.Code]++
		if p.Code == "" || p.Severity == "" || p.Message == "" || p.Path != "SKILL.md" {
			t.Errorf("incomplete problem %#v", p)
		}
		if p.Line < 0 || p.Line > bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("\r"))+2 {
			t.Errorf("line outside the file: %v", p)
		}
	}
	if count["yaml-recovered"] > 1 || count["merge-conflict"] > 1 {
		t.Errorf("one bad file must have one diagnostic (F-3): %v", problems)
	}
	if doc.Refused != "" {
		return problems
	}
	if utf8.Valid(data) && !bytes.HasSuffix(data, []byte(doc.Body)) {
		t.Errorf("Body is no suffix of the file (F-2)")
	}
	if body, line, err := SplitBody(data); err != nil || utf8.Valid(data) && (body != doc.Body || line != doc.BodyLine) {
		t.Errorf("SplitBody and Parse disagree: line %d and %d, %v", line, doc.BodyLine, err)
	}
	checkHeads(t, data)
	return problems
}

// checkHeads checks heads of the given lengths, or of some that are usual:
// loading from a head that is Enough loads the same as the whole file (F-9).
func checkHeads(t reporter, data []byte, lengths ...int) {
	t.Helper()
	if lengths == nil {
		lengths = []int{1, 20, 64, 100, 200, 512, 1024, 2048, 4096, 8192}
	}
	whole, wantProblems := Parse("SKILL.md", data)
	var want skill.Skill
	wantProblems = append(wantProblems, whole.Fill(&want, false)...)
	for _, n := range lengths {
		if n >= len(data) || !Enough(data[:n]) {
			continue
		}
		head, problems := Parse("SKILL.md", data[:n:n])
		var got skill.Skill
		problems = append(problems, head.Fill(&got, false)...)
		if !reflect.DeepEqual(want, got) {
			t.Errorf("the first %d bytes load differently:\n%s", n, cmp.Diff(want, got))
		}
		if head.BodyLine != whole.BodyLine || !hasCode(wantProblems, "invalid-utf8") && !slices.Equal(wantProblems, problems) {
			t.Errorf("the first %d bytes read differently: %v, want %v", n, problems, wantProblems)
		}
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name, data string
		body       string
		line       int
		problems   string
	}{
		{"plain", "---\nname: a\n---\nBody\n", "Body\n", 4, ""},
		{"crlf", "---\r\nname: a\r\n---\r\n\r\nBody\r\n", "\r\nBody\r\n", 4, ""},
		{"cr", "---\rname: a\r---\rBody\r", "Body\r", 4, ""},
		{"mixed", "---\nname: a\r\n---\r\nBody\n", "Body\n", 4, ""},
		{"bom", bom + "---\nname: a\n---\nBody", "Body", 4, ""},
		{"bom alone", bom, "", 1, ""},
		{"no final newline", "---\nname: a\n---", "", 4, ""},
		{"bom crlf eof", bom + "---\r\nname: a\r\n---", "", 4, ""},
		{"blanks after fences", "--- \t\nname: a\n---\t \nBody", "Body", 4, ""},
		{"glued", "---\nname: a\n---# Title\n\nText\n", "# Title\n\nText\n", 3, ""},
		{"longer closing", "---\nname: a\n-----\nText\n", "--\nText\n", 3, ""},
		{"indented closing", "---\nname: a\n  ---\nText\n", "Text\n", 4, ""},
		{"column 0 beats indented", "---\nname: |\n  a\n  ---\n---\nText\n", "Text\n", 6, ""},
		{"never closed", "---\nname: a\n\nText\n", "---\nname: a\n\nText\n", 1, "unclosed-frontmatter"},
		{"two dashes", "---\nname: a\n--\nText\n", "---\nname: a\n--\nText\n", 1, "unclosed-frontmatter"},
		{"only a fence", "---", "---", 1, "unclosed-frontmatter"},
		{"empty frontmatter", "---\n---\nText\n", "Text\n", 3, ""},
		{"empty file", "", "", 1, ""},
		{"no frontmatter", "# T\n\nText\n", "# T\n\nText\n", 1, ""},
		{"rule in body", "---\nname: a\n---\nA\n\n---\n\nB\n", "A\n\n---\n\nB\n", 4, ""},
		{"four dashes open nothing", "----\nname: a\n---\n", "----\nname: a\n---\n", 1, "no-opening-fence"},
		{"four dashes and prose", "----\nText\n---\n", "----\nText\n---\n", 1, ""},
		{"fence with a comment", "--- # c\nname: a\n---\n", "--- # c\nname: a\n---\n", 1, "no-opening-fence"},
		{"bare keys", "name: a\ndescription: d\n---\nText\n", "name: a\ndescription: d\n---\nText\n", 1, "no-opening-fence"},
		{"one bare key", "description: d\n---\nText\n", "description: d\n---\nText\n", 1, "no-opening-fence"},
		{"prose with a colon", "Context: this is prose.\n\nText\n", "Context: this is prose.\n\nText\n", 1, ""},
		{"late by blank lines", "\n\n---\nname: a\n---\nText\n", "\n\n---\nname: a\n---\nText\n", 1, "no-opening-fence"},
		{"late by a comment", "<!-- c -->\n---\nname: a\n---\nText\n", "<!-- c -->\n---\nname: a\n---\nText\n", 1, "no-opening-fence"},
		{"late by a long comment", "<!-- c\nd\n-->\n---\nname: a\n---\nText\n", "<!-- c\nd\n-->\n---\nname: a\n---\nText\n", 1, "no-opening-fence"},
		{"a rule first", "\n---\nText\n", "\n---\nText\n", 1, ""},
		{"code fence around", "```markdown\n---\nname: a\n---\nText\n```\n", "```markdown\n---\nname: a\n---\nText\n```\n", 1, "outer-code-fence"},
		{"code first", "```sh\nls\n```\nText\n", "```sh\nls\n```\nText\n", 1, ""},
		{"not UTF-8", "---\nname: caf\xe9\n---\nB\xff.\n", "B\uFFFD.\n", 4, "invalid-utf8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, problems := Parse("SKILL.md", []byte(tt.data))
			if doc.Body != tt.body || doc.BodyLine != tt.line {
				t.Errorf("body %q on line %d, want %q on line %d", doc.Body, doc.BodyLine, tt.body, tt.line)
			}
			body, line, err := SplitBody([]byte(tt.data))
			if body != tt.body || line != tt.line || err != nil {
				t.Errorf("SplitBody: %q on line %d, %v", body, line, err)
			}
			if got := codes(problems); got != tt.problems {
				t.Errorf("problems %q, want %q", got, tt.problems)
			}
			checkParse(t, []byte(tt.data))
		})
	}
}

// codes joins the codes of problems.
func codes(problems []skill.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Code)
	}
	return strings.Join(all, " ")
}
