package search

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// A kind says how a word was found in a text.
type kind uint8

const (
	plain  kind = iota // a word
	pair               // two neighbouring characters of a script without spaces
	single             // one such character
	part               // of a compound such as pdfTools
	joined             // all words of a name or query without what separates them
)

// A word is one term of a text. Its bytes are valid until the next one.
type word struct {
	text       []byte
	kind       kind
	start, end int // bytes in the text
}

// A use says what a text is, which decides on compounds.
type use uint8

const (
	asText  use = iota // compounds stay whole
	asName             // compounds, their parts, and all of it joined
	asQuery            // like asName
)

// maxWord is the longest word in bytes that is worth finding; longer runs are
// data. joined words may be that long too.
const maxWord = 40

// A scanner cuts texts into words. It may be used again, by one goroutine.
type scanner struct {
	buf   []byte // the word being folded
	whole []byte // all words, joined
	count int    // words in whole
	emit  func(word)
	how   use

	spaced bool // all words so far are of scripts that write spaces
}

// scan calls emit for each word of s: Unicode's word segmentation, folded
// (lower case, no accents) and stemmed; scripts that write no spaces give
// pairs of characters.
func (sc *scanner) scan(s string, how use, emit func(word)) {
	sc.emit, sc.how, sc.whole, sc.count, sc.spaced = emit, how, sc.whole[:0], 0, true
	if isASCII(s) {
		sc.pieces(s, 0)
	} else {
		sc.segments(s)
	}
	if how != asText && sc.spaced && sc.count > 1 && len(sc.whole) <= maxWord {
		sc.emit(word{sc.whole, joined, 0, len(s)})
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

// segments scans text that is not all ASCII.
func (sc *scanner) segments(s string) {
	run := -1 // start of a run of characters without spaces
	at := 0
	for it := words.FromString(s); it.Next(); {
		v := it.Value()
		r, _ := utf8.DecodeRuneInString(v)
		if unspaced(r) {
			if run < 0 {
				run = at
			}
		} else {
			if run >= 0 {
				sc.characters(s[run:at], run)
				run = -1
			}
			sc.pieces(v, at)
		}
		at += len(v)
	}
	if run >= 0 {
		sc.characters(s[run:], run)
	}
}

// unspaced reports whether r is of a script that writes no spaces between
// words, or particles without a space (Hangul).
func unspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r == 0x30FC, r == 0x3005: // prolonged sound and iteration marks
		return true
	case 0x4E00 <= r && r <= 0x9FFF, 0x3041 <= r && r <= 0x30FF, 0xAC00 <= r && r <= 0xD7A3:
		return true
	}
	return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// characters emits the pairs of neighbouring characters of a run, and each
// ideograph, which is a word of its own.
func (sc *scanner) characters(run string, offset int) {
	sc.spaced = false
	before := -1
	for i, r := range run {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = i + 1
		}
		if before >= 0 {
			sc.buf = append(sc.buf[:0], run[before:end]...)
			sc.emit(word{sc.buf, pair, offset + before, offset + end})
		}
		if end-i == len(run) || unicode.Is(unicode.Han, r) {
			sc.buf = append(sc.buf[:0], run[i:end]...)
			sc.emit(word{sc.buf, single, offset + i, offset + end})
		}
		before = i
	}
}

// pieces emits the words in s, which are letters, digits and marks; an
// apostrophe between letters belongs to the word.
func (sc *scanner) pieces(s string, offset int) {
	for i := 0; i < len(s); {
		if n := wordLen(s[i:]); n > 0 {
			sc.word(s[i:i+n], offset+i)
			i += n
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
}

// wordLen returns the bytes of the word at the start of s.
func wordLen(s string) int {
	i := 0
	for i < len(s) {
		if b := s[i]; b < utf8.RuneSelf {
			if !alnum(b) && !(b == '\'' && i > 0 && i+1 < len(s) && letter(s[i-1]) && letter(s[i+1])) {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return i
		}
		i += n
	}
	return i
}

func letter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
func digit(b byte) bool  { return '0' <= b && b <= '9' }
func alnum(b byte) bool  { return letter(b) || digit(b) }

// word emits w, folded and stemmed, and the parts of a compound.
func (sc *scanner) word(w string, offset int) {
	if len(w) > maxWord {
		return
	}
	sc.buf = fold(sc.buf[:0], w)
	if sc.how != asText {
		sc.whole = append(sc.whole, sc.buf...)
		sc.count++
	}
	if sc.buf = stem(sc.buf); len(sc.buf) == 0 {
		return
	}
	sc.emit(word{sc.buf, plain, offset, offset + len(w)})
	if sc.how == asText {
		return
	}
	from := 0
	for i := 1; i <= len(w); i++ {
		if i < len(w) && !humpAt(w, i) || i == len(w) && from == 0 {
			continue
		}
		sc.buf = stem(fold(sc.buf[:0], w[from:i]))
		sc.emit(word{sc.buf, part, offset + from, offset + i})
		from = i
	}
}

// humpAt reports whether a part of a compound begins at w[i]: pdf|Tools,
// HTTP|Server.
func humpAt(w string, i int) bool {
	upper := func(b byte) bool { return 'A' <= b && b <= 'Z' }
	lower := func(b byte) bool { return 'a' <= b && b <= 'z' }
	if !upper(w[i]) {
		return false
	}
	return lower(w[i-1]) || digit(w[i-1]) || upper(w[i-1]) && i+1 < len(w) && lower(w[i+1])
}
