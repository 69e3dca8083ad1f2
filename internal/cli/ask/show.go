package ask

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/text"
)

// The limits of what one question shows, in lines. What is cut is counted.
const (
	maxText    = 12 // of a name, a path, a reason
	maxCommand = 120
	maxDetails = 40
	maxDiff    = 240
)

// describe says what is asked for, and exactly what would run.
func (t *Terminal) describe(q invoke.Question) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, l := range chop(headline(q), t.style.Width) {
		b.WriteString(t.style.Bold(l) + "\n")
	}
	if q.Source != "" {
		t.block(&b, "  source: ", []string{string(q.Source)}, maxText)
	}
	if q.Path != "" {
		t.block(&b, "  path: ", []string{output.Tilde(q.Path)}, maxText)
	}
	if q.Command != "" {
		t.block(&b, "  $ ", strings.Split(q.Command, "\n"), maxCommand)
	} else if len(q.Input) > 0 {
		t.block(&b, "  input: ", strings.Split(string(q.Input), "\n"), maxCommand)
	}
	if len(q.Unsafe) > 0 {
		t.block(&b, "  because of: ", []string{strings.Join(q.Unsafe, ", ")}, maxText)
	}
	t.block(&b, "  - ", q.Details, maxDetails)
	t.block(&b, "  changed: ", q.Changed, maxDetails)
	if q.Diff != "" {
		t.block(&b, "  | ", strings.Split(strings.TrimRight(q.Diff, "\n"), "\n"), maxDiff)
	}
	if q.Reason != "" && (q.Skill == "" || q.Firm || q.Command != "") {
		t.block(&b, "  why: ", []string{q.Reason}, maxText)
	}
	if q.Note != "" {
		t.block(&b, "  note: ", []string{q.Note}, maxText)
	}
	for _, k := range q.Keeps {
		if rules := q.KeptRules(); k == invoke.Always && len(rules) > 0 && (q.Tool != "" || q.Command != "") {
			t.block(&b, "  always means the rule: ", rules, maxDetails)
		}
	}
	return b.String()
}

// headline says in one sentence who wants what.
func headline(q invoke.Question) string {
	switch {
	case q.Tool != "":
		return "The agent wants to use the tool " + visible(q.Tool) + "."
	case q.Command != "":
		return "The skill " + visible(q.Skill) + " wants to run a command."
	case len(q.Changed) > 0:
		return "The skill " + visible(q.Skill) + " is not what you approved."
	}
	return "The model wants to use the skill " + visible(q.Skill) + "."
}

// block writes lines with a mark before the first of each, broken at the width
// of the terminal. Of too many rows the middle is left out, and counted.
func (t *Terminal) block(b *strings.Builder, mark string, lines []string, most int) {
	b.WriteString(block(mark, lines, most, t.style.Width))
}

// Lines shows what others wrote, one thing a line, for [Terminal.Confirm].
func Lines(mark string, most int, lines ...string) string {
	return block(mark, lines, max(most, maxText), maxWidth)
}

func block(mark string, lines []string, most, width int) string {
	var b strings.Builder
	var rows []string
	for _, l := range lines {
		for i, part := range chop(visible(l), width-len(mark)) {
			if i == 0 {
				rows = append(rows, mark+part)
			} else {
				rows = append(rows, strings.Repeat(" ", len(mark))+part)
			}
		}
	}
	if len(rows) > most {
		tail := most / 3
		cut := fmt.Sprintf("[%d more lines, which are not shown]", len(rows)-most)
		rows = slices.Concat(rows[:most-tail], []string{cut}, rows[len(rows)-tail:])
	}
	for _, r := range rows {
		b.WriteString(r + "\n")
	}
	return b.String()
}

// chop breaks a line into parts of at most width columns, after a blank or a
// slash where one is near. Nothing is dropped: blanks in a command count.
func chop(s string, width int) []string {
	width = max(width, 10)
	var parts []string
	start, used, good := 0, 0, 0 // bytes, columns, bytes
	for i, r := range s {
		w := text.Width(string(r))
		if used+w > width {
			end := i
			if good > start && text.Width(s[start:good]) > width/2 {
				end = good
			}
			parts = append(parts, s[start:end])
			start, used = end, text.Width(s[end:i])
		}
		used += w
		if r == ' ' || r == '/' {
			good = i + 1
		}
	}
	return append(parts, s[start:])
}

// visible spells out what a terminal would obey or not show: control
// characters, escape sequences, invisible and bidirectional characters, bytes
// that are no text. A backslash stays what it is; what is spelled out is in
// brackets, so that it is not taken for text.
func visible(s string) string {
	hidden := map[int]bool{}
	for _, h := range text.FindHidden(s) {
		hidden[h.Offset] = true
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == unicode.ReplacementChar:
			b.WriteString("<?>")
		case hidden[i], r != ' ' && !unicode.IsGraphic(r), unicode.Is(unicode.Cf, r), odd(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// odd blanks look like the one between words, and are none to a shell.
func odd(r rune) bool { return r != ' ' && unicode.IsSpace(r) }
