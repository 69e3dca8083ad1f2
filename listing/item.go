package listing

import (
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/text"
)

// An item is an entry on its way to a line. Sizes are in units: characters in
// text that is mostly ASCII, and otherwise quarters of an estimated token, but
// never less than the characters. So one number holds both budgets of spec
// L-4, and a catalog in English is measured in plain characters.
type item struct {
	entry *Entry
	id    string // clean
	bare  int    // units of "- id" with its newline
	head  int    // units of "- id: " with its newline, before a text
	text  string // clean description and when to use, within the cap
	chars int    // characters of text
	units []int  // of the first chunk, two chunks, … of a text that is not mostly ASCII
	take  int    // characters of text to print
	cut   bool   // text was longer than the cap
	out   bool   // not even the name is printed
}

// chunk is the resolution in characters with which prices of text are known.
const chunk = 16

// begin reads only the id: of a very large catalog nothing else is printed. It
// fills in a zero item in place, since copying ten thousand of them shows.
func (it *item) begin(e *Entry, o *Options) {
	it.entry, it.id = e, text.Line(e.ID) // L-9
	chars := utf8.RuneCountInString(it.id)
	it.bare = chars + len("- \n")
	if !o.CharsOnly && !mostlyASCII(len(it.id), chars) {
		it.bare = max(it.bare, charsPerToken*text.Tokens(it.id)+len("- \n"))
	}
}

// fixed reports that the budget does not change what is printed of the entry.
func (it *item) fixed() bool { return it.entry.Pinned || it.entry.NameOnly }

// load reads the text of the entry.
func (it *item) load(o *Options) {
	if it.entry.NameOnly {
		return
	}
	it.text, it.cut = entryText(it.entry, o.maxDesc())
	it.chars = utf8.RuneCountInString(it.text)
	it.take = it.chars
	it.head = it.bare + len(": ")
	if !o.CharsOnly && !mostlyASCII(len(it.text), it.chars) {
		// Estimates are rounded; the half token more makes the sum hold.
		it.units = prices(it.text)
		it.head = max(it.head, charsPerToken*text.Tokens("- "+it.id+": ")+charsPerToken/2+len("\n"))
	}
}

// mostlyASCII reports whether a text of so many bytes and characters has few
// characters beyond ASCII: a dash or an accent does not make it dearer (L-4).
func mostlyASCII(bytes, chars int) bool { return (bytes-chars)*5 <= chars }

// prices returns the units of s up to the end of each chunk.
func prices(s string) []int {
	var sums []int
	sum := 0
	for s != "" {
		end, n := 0, 0
		for end < len(s) && n < chunk {
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
			n++
		}
		sum += max(n, charsPerToken*text.Tokens(s[:end])+1)
		sums = append(sums, sum)
		s = s[end:]
	}
	return sums
}

// cost returns the units of the first n characters of the text.
func (it *item) cost(n int) int {
	n = min(n, it.chars)
	if it.units == nil || n <= 0 {
		return max(n, 0)
	}
	i := (n - 1) / chunk
	before := 0
	if i > 0 {
		before = it.units[i-1]
	}
	width := min(chunk, it.chars-i*chunk) // characters of the last chunk may be few
	part := n - i*chunk
	return before + ((it.units[i]-before)*part+width-1)/width
}

// size returns the units of the whole line, as far as it is taken.
func (it *item) size() int {
	if it.take == 0 {
		return it.bare
	}
	return it.head + it.cost(it.take)
}

// line renders the entry.
func (it *item) line() string {
	if it.take == 0 {
		return "- " + it.id
	}
	return "- " + it.id + ": " + cutText(it.text, it.take)
}

// entryText returns the clean text of e (spec L-9), cut to max characters (L-2).
func entryText(e *Entry, max int) (s string, cut bool) {
	desc, descLeft := cleanHead(e.Description, max)
	when, whenLeft := "", false
	if !descLeft {
		when, whenLeft = cleanHead(e.WhenToUse, max)
	}
	switch {
	case desc == "":
		s = when
	case when == "":
		s = desc
	default:
		s = desc + " - " + when
	}
	short := cutText(s, max)
	return short, descLeft || whenLeft || short != s
}

// cleanHead returns the clean beginning of s, longer than max characters when
// s is, and whether something was left off. It does not read all of a text
// that is far too long.
func cleanHead(s string, max int) (head string, left bool) {
	const spare = 64 // characters, so that the last grapheme of the cut is whole
	n := 4 * (max + spare)
	if len(s) <= 2*n {
		return text.Line(s), false
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	head = text.Line(s[:n])
	if utf8.RuneCountInString(head) >= max+spare {
		return head, true
	}
	return text.Line(s), false // most of it was white space or invisible
}

// cutText is [text.Cut] without half an escape ("&l…") at the end.
func cutText(s string, max int) string {
	short := text.Cut(s, max)
	if short == s {
		return short
	}
	head, marked := strings.CutSuffix(short, "…")
	if !marked {
		return short
	}
	for _, half := range [...]string{"&", "&l", "&lt", "&g", "&gt"} {
		if whole, ok := strings.CutSuffix(head, half); ok {
			return strings.TrimRight(whole, " ") + "…"
		}
	}
	return short
}
