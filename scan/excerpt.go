package scan

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/text"
)

// maxExcerpt is how many characters of a line are shown.
const maxExcerpt = 100

// excerpt returns the part of a line around an offset, safe for a terminal:
// what nobody sees is written out, escape sequences are dropped.
func excerpt(s string, start, at int) string {
	end := len(s)
	if i := strings.IndexAny(s[at:], "\r\n"); i >= 0 {
		end = at + i
	}
	lead := ""
	if at-start > maxExcerpt/2 {
		start, lead = at-maxExcerpt/4, "…"
		for start < at && !utf8.RuneStart(s[start]) {
			start++
		}
	}
	// Longer lines are cut before they are looked at: they may have megabytes.
	if end-start > 4*maxExcerpt {
		for end = start + 4*maxExcerpt; end > start && !utf8.RuneStart(s[end]); end-- {
		}
	}
	return text.Cut(lead+visible(s[start:end]), maxExcerpt)
}

// visible writes hidden characters as \u{E0041} and drops terminal controls.
func visible(s string) string {
	var b strings.Builder
	done := 0
	for _, h := range text.FindHidden(s) {
		if h.Rune == 0x1b { // with its parameters, by Terminal
			continue
		}
		b.WriteString(s[done:h.Offset])
		fmt.Fprintf(&b, "\\u{%X}", h.Rune)
		done = h.Offset + utf8.RuneLen(h.Rune)
	}
	b.WriteString(s[done:])
	return text.Terminal(b.String())
}
