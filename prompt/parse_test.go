package prompt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Which commands a body has (spec P-8). A script is shown with > before it.
func TestParseCommands(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"at the start", "!`date`", []string{"date"}},
		{"after white space", "now:\t!`date` and !`id`\n  !`pwd`", []string{"date", "id", "pwd"}},
		{"after an ideographic space", "今\u3000!`date`", []string{"date"}},
		{"after a letter", "assert!`x` KEY=!`y` (!`z`) |!`q`|", nil},
		{"in a list, a quotation, a table", "- !`a`\n> !`b`\n| !`c` |\n1. !`d`", []string{"a", "b", "c", "d"}},
		{"over lines", "!`two\nlines`", nil},
		{"over lines, CR", "!`two\rlines`", nil},
		{"empty", "!`` !` ` x", nil},
		{"unclosed", "!`date", nil},
		{"as typed", "!`echo  \"$1\" | grep -E '^(a|b)$' || echo 'no' \\`", []string{"echo  \"$1\" | grep -E '^(a|b)$' || echo 'no' \\"}},
		{"the words of a sentence", "types `feat!`, `fix!` | `chore!` are breaking", nil},
		{"between spans", "`a` !`b`, `c !` d `e`", []string{"b"}},
		{"mark at the end of a span", "the `a !` and `b`", nil},
		{"longer span", "`` !`a` `` and ``` !`b` ```", nil},
		{"longer span over lines", "see ``\n!`a`\n`` !`b`", []string{"b"}},
		{"longer marks", "!``date``", nil},
		{"closed by a longer run", "!`date`` x", nil},
		{"mark of another length inside", "!`a``b`", []string{"a``b"}},
		{"unmatched longer run", "`` !`a`", []string{"a"}},
		{"escaped", `\!` + "`a` !`b`", []string{"b"}},
		{"escaped, not a command", `\!` + "x", nil},
		{"escaped backtick before", "\\` !`a`", []string{"a"}},
		{"backslash before", `\\!` + "`a`", nil},
		{"forgotten backtick before", "Press ` now.\nState: !`a`", []string{"a"}},
		{"span over lines", "`one\ntwo` !`a`", []string{"a"}},
		{"forgotten backtick in another paragraph", "` x\n\n!`a` `", []string{"a"}},
		{"forgotten backtick in another item", "- ` x\n- !`a`", []string{"a"}},

		{"fence", "```md\n!`a`\n```\n!`b`", []string{"b"}},
		{"tilde fence", "~~~\n!`a`\n```\n!`b`\n~~~\n!`c`", []string{"c"}},
		{"longer fence", "````\n```\n!`a`\n```\n````\n!`b`", []string{"b"}},
		{"longer closing fence", "```\n!`a`\n`````\n!`b`", []string{"b"}},
		{"info does not close", "```\n``` x\n!`a`\n```\n!`b`", []string{"b"}},
		{"unclosed fence", "!`a`\n```\n!`b`", []string{"a"}},
		{"template literal", "```ts\nconst s = `Hello ${name}!`\nrun()\nconst t = `x`\n```", nil},
		{"fence in an item", "- x\n      ```\n      !`a`\n      ```\n- ```\n  !`b`\n  ```\n!`c`", []string{"c"}},
		{"fence in a quotation", "> ```\n> !`a`\n> ```\n> !`b`", []string{"b"}},
		{"quotation ends the fence", "> ```\n> !`a`\n!`b`", []string{"b"}},
		{"deeper fence inside", "```\n     ```\n!`a`\n```\n!`b`", []string{"b"}},
		{"no fence: backtick in the info", "``` a`b\n!`c`", []string{"c"}},
		{"indented text", "para\n\n    !`a`", []string{"a"}},

		{"script", "```!\na\nb c\n```", []string{">a\nb c"}},
		{"script, longer", "````!\na\n```\nb\n````", []string{">a\n```\nb"}},
		{"script, blanks behind", "```! \t\na\n```  \nx", []string{">a"}},
		{"script, one line only", "```!a```", nil},
		{"script with a language", "```!sh\na\n```\n```! sh\na\n```", nil},
		{"script, blank before the mark", "``` !\na\n```", nil},
		{"script of tildes", "~~~!\na\n~~~", nil},
		{"script, empty", "```!\n\n  \n```\n!`a`", []string{"a"}},
		{"script, unclosed", "```!\na\n", nil},
		{"script in a fence", "````\n```!\na\n```\n````", nil},
		{"script in an item", "1. x\n   ```!\n   a\n     b\n  c\n   ```\n!`d`", []string{">a\n  b\nc", "d"}},
		{"script in a marked line", "- ```!\n  a\n  ```", []string{">a"}},
		{"script in a quotation", "> ```!\n> a\n>  b\n>\n> c >d\n> ```", []string{">a\n b\n\nc >d"}},
		{"script, CRLF", "```!\r\na\r\nb\r\n```\r\n!`c`\r\n", []string{">a\nb", "c"}},
		{"script, CR", "```!\ra\rb\r```\r!`c`\r", []string{">a\nb", "c"}},
	} {
		var got []string
		for _, s := range Parse(tt.body) {
			switch {
			case s.Fenced:
				got = append(got, ">"+s.Text)
			case s.Command:
				got = append(got, s.Text)
			}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q has %q, want %q", tt.name, tt.body, got, tt.want)
		}
		checkRaw(t, tt.body)
	}
}

// checkRaw: the segments are the body, in order, and know where they stand.
func checkRaw(t *testing.T, body string) {
	t.Helper()
	var b strings.Builder
	line, column := 1, 1
	for _, s := range Parse(body) {
		if s.Raw == "" || s.Line < line || s.Line == line && s.Column < column {
			t.Fatalf("segment %+v of %q is empty or out of order", s, body)
		}
		if s.Command && strings.TrimSpace(s.Text) == "" {
			t.Fatalf("empty command %+v in %q", s, body)
		}
		line, column = s.Line, s.Column
		b.WriteString(s.Raw)
	}
	if b.String() != body {
		t.Fatalf("segments of %q join to %q", body, b.String())
	}
}

func TestParseSegments(t *testing.T) {
	body := "é \\!`a`\r\n- !`b c` x\n```!\nd\n```\n"
	want := []Segment{
		{Text: "é ", Raw: "é ", Line: 1, Column: 1},
		{Text: "", Raw: `\`, Line: 1, Column: 3},
		{Text: "!`a`\r\n- ", Raw: "!`a`\r\n- ", Line: 1, Column: 4},
		{Text: "b c", Raw: "!`b c`", Line: 2, Column: 3, Command: true},
		{Text: " x\n", Raw: " x\n", Line: 2, Column: 9},
		{Text: "d", Raw: "```!\nd\n```", Line: 3, Column: 1, Command: true, Fenced: true},
		{Text: "\n", Raw: "\n", Line: 5, Column: 4},
	}
	if got := Parse(body); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", lines(got), lines(want))
	}
	if got := Parse(""); len(got) != 0 {
		t.Errorf("empty body: %v", got)
	}
}

func lines(segments []Segment) string {
	var b strings.Builder
	for _, s := range segments {
		fmt.Fprintf(&b, "%+v\n", s)
	}
	return b.String()
}

// Hostile bodies are read in linear time: each of these would take minutes
// otherwise.
func TestParseLinear(t *testing.T) {
	const n = 50_000
	var lengths strings.Builder
	for i := 1; lengths.Len() < n; i++ {
		lengths.WriteString(strings.Repeat("`", i) + " ")
	}
	for _, body := range []string{
		strings.Repeat("` !`", n), strings.Repeat("!`\n", n), strings.Repeat("`a\n!`b ", n), strings.Repeat("``` x\n", n),
		strings.Repeat("\r", n), strings.Repeat("${", n), strings.Repeat("$0", n), strings.Repeat(">", n), strings.Repeat("\\!`", n),
		strings.Repeat("- ", n) + "```", strings.Repeat("``", n) + " " + strings.Repeat("`", n), lengths.String(),
		strings.Repeat("~~~\na\n", n), strings.Repeat("a\n~~~~~", n), "```\n```\n" + strings.Repeat("a ~~~\n", n),
		"```!\n" + strings.Repeat("$(", n) + strings.Repeat("(", n) + "\n```\n", "```!\n" + strings.Repeat("$(cat <<E\n", n) + "\n```\n",
		"```!\n" + strings.Repeat("<<E\n`a", n) + "\n```\n", "```!\n" + strings.Repeat("$(case x in a) ", n) + "\n```\n",
		strings.Repeat("```!\n", n), "```!\n" + strings.Repeat("$0\n", n) + "```\n",
	} {
		checkRaw(t, body)
		Placeholders(project("a"), body)
	}
}

func FuzzParse(f *testing.F) {
	for _, body := range []string{
		"a !`b` c", "```!\na\n```", "> ```!\n> a\n> ```", "\\!`a` `b`", "`` !`x` ``", "- ~~~\n  x\n", "!`a`\r!`b`\r\n", "`a\n!`b` `",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		checkRaw(t, body)
		for _, p := range Placeholders(project("name", "a-b"), body) {
			if p.Raw == "" || p.Line < 1 || p.Column < 1 || !strings.Contains(body, p.Raw) {
				t.Fatalf("placeholder %+v of %q", p, body)
			}
		}
	})
}
