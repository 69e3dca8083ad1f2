package scan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// hidden reports what a person does not see, one finding for each run of
// characters. A byte order mark at the start, flags, emoji and the joiners of
// scripts that need them are no findings (text.FindHidden knows them).
func (f *file) hidden() {
	if isASCII(f.text) {
		f.controls()
		return
	}
	all := text.FindHidden(f.text)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Kind == all[0].Kind && all[n].Offset <= all[n-1].Offset+utf8.RuneLen(all[n-1].Rune)+1 {
			n++
		}
		f.hiddenRun(all[:n])
		all = all[n:]
	}
}

// hiddenRun reports neighbours of one kind.
func (f *file) hiddenRun(run []text.Hidden) {
	first, last := run[0], run[len(run)-1]
	end := last.Offset + utf8.RuneLen(last.Rune)
	before, _ := utf8.DecodeLastRuneInString(f.text[:first.Offset])
	after, _ := utf8.DecodeRuneInString(f.text[end:])
	what := fmt.Sprintf("U+%04X", first.Rune)
	if len(run) > 1 {
		what = fmt.Sprintf("%d hidden characters from U+%04X on", len(run), first.Rune)
	}
	switch first.Kind {
	case "tag":
		if spelled := text.DecodeTags(f.text[first.Offset:end]); spelled != "" {
			what += fmt.Sprintf(", which spell %q", text.Cut(text.Terminal(spelled), 60))
		}
		f.add(hiddenUnicode, skill.Error, first.Offset, what)
	case "bidi":
		sev := skill.Error
		if r := first.Rune; r == 0x200E || r == 0x200F || r == 0x061C { // marks that right-to-left text needs
			sev = skill.Info
			if !rightToLeft(lineAround(f.text, first.Offset)) {
				sev = skill.Warning
			}
		}
		f.add(hiddenUnicode, sev, first.Offset, what+", which changes the direction of text")
	case "zero-width":
		sev, where := skill.Info, ""
		switch {
		case first.Rune == 0xFEFF:
			sev, where = skill.Warning, ", a byte order mark inside the text"
		case wordly(before) && wordly(after):
			sev, where = skill.Warning, " inside a word"
		case len(run) > 7:
			sev, where = skill.Error, ", which can carry a message"
		}
		f.add(hiddenUnicode, sev, first.Offset, what+where)
	case "control":
		sev := skill.Info
		if first.Rune == 0x1b || first.Rune == 0x08 {
			sev = skill.Warning
		}
		f.add(hiddenUnicode, sev, first.Offset, what+", a control character")
	default:
		sev := skill.Info
		if len(run) > 3 { // selectors can spell a message, byte by byte
			sev = skill.Error
		}
		f.add(hiddenUnicode, sev, first.Offset, what+", which is not shown")
	}
}

// controls is hidden for ASCII.
func (f *file) controls() {
	for _, c := range []string{"\x1b", "\b"} {
		if i := strings.Index(f.text, c); i >= 0 {
			f.add(hiddenUnicode, skill.Warning, i, fmt.Sprintf("U+%04X, a control character", c[0]))
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func rightToLeft(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
	})
}

// wordly reports letters of words that are written without such characters:
// Thai, Khmer and the like divide words by them.
func wordly(r rune) bool {
	return r < 0x0250 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || unicode.In(r, unicode.Cyrillic, unicode.Greek)
}
