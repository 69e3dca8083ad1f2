package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Hidden is a character that a reader does not see.
type Hidden struct {
	Rune   rune
	Offset int    // bytes
	Kind   string // "bidi", "zero-width", "tag", "control", "invisible"
}

// The kinds of hidden characters.
const (
	kindBidi      = "bidi"
	kindZeroWidth = "zero-width"
	kindTag       = "tag"
	kindControl   = "control"
	kindInvisible = "invisible"
)

const (
	zwnj       = '\u200C'
	zwj        = '\u200D'
	byteOrder  = '\uFEFF'
	textStyle  = '\uFE0E'
	emojiStyle = '\uFE0F'
	keycap     = '\u20E3'
	blackFlag  = '\U0001F3F4'
	tagFirst   = '\U000E0020'
	tagLast    = '\U000E007E'
	tagEnd     = '\U000E007F'
)

// FindHidden reports control and invisible characters in s, without those of
// well-formed emoji sequences (spec F-7) and a byte order mark at offset 0.
// Tabs and line ends (LF, CR) are not reported. Neither are characters that
// are spelling in their script: a joiner inside a word of a script that joins
// (Persian, Hindi, …), and one variation selector after an ideograph.
func FindHidden(s string) []Hidden {
	var found []Hidden
	for i := 0; i < len(s); {
		switch b := s[i]; asciiClass[b] {
		default:
			i++
			continue
		case classControl:
			found = append(found, Hidden{Rune: rune(b), Offset: i, Kind: kindControl})
			i++
			continue
		case classWide:
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if kind := hiddenKind(s, i, r, n); kind != "" && !(r == byteOrder && i == 0) {
			found = append(found, Hidden{Rune: r, Offset: i, Kind: kind})
		}
		i += n
	}
	return found
}

// DecodeTags returns the ASCII text that tag characters (U+E0020 to U+E007E)
// in s spell, or "". Those of well-formed flags do not count.
func DecodeTags(s string) string {
	var b strings.Builder
	for i, r := range s {
		if tagFirst <= r && r <= tagLast && !inFlag(s, i) {
			b.WriteByte(byte(r - tagFirst + ' '))
		}
	}
	return b.String()
}

// hiddenKind names why the non-ASCII character r at s[i:i+n] is not seen, or
// "" when it is seen or belongs to a sequence that is.
func hiddenKind(s string, i int, r rune, n int) string {
	kind := suspect(r)
	if kind == "" {
		return ""
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	switch {
	case r == zwj && joinsEmoji(s[:i], s[i+n:]):
		return ""
	case r == zwj || r == zwnj:
		if joinsWord(before, s[i+n:]) {
			return ""
		}
	case kind == kindTag && inFlag(s, i):
		return ""
	case selects(r, before, s[i+n:]):
		return ""
	}
	return kind
}

// suspect returns the kind of r taken alone. This is the table of what counts
// as hidden (spec F-7): Unicode's Default_Ignorable_Code_Point, the controls,
// and the annotation characters.
func suspect(r rune) string {
	switch {
	case r < 0xA0:
		if r >= 0x7F || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return kindControl
		}
		return ""
	case 0x2070 <= r && r < 0x3164, 0x3164 < r && r < 0xFE00:
		return "" // most symbols, CJK and Hangul
	case r == 0x061C, r == 0x200E, r == 0x200F, 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x206F:
		return kindBidi
	case 0x200B <= r && r <= 0x200D, r == 0x2060, r == byteOrder, r == 0x180E:
		return kindZeroWidth
	case r == 0x2028, r == 0x2029:
		return kindControl
	case 0xE0000 <= r && r <= 0xE007F:
		return kindTag
	case r == 0x00AD, r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5,
		0x180B <= r && r <= 0x180F, 0x2061 <= r && r <= 0x2065, r == 0x3164,
		0xFE00 <= r && r <= emojiStyle, r == 0xFFA0, 0xFFF0 <= r && r <= 0xFFFB, r == 0xFFFE, r == 0xFFFF,
		0x1BCA0 <= r && r <= 0x1BCA3, 0x1D173 <= r && r <= 0x1D17A, 0xE0080 <= r && r <= 0xE0FFF:
		return kindInvisible
	}
	return ""
}

// joinsEmoji reports whether a joiner between before and after makes one emoji
// of two, such as a family or a profession.
func joinsEmoji(before, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	if !pictographic(next) {
		return false
	}
	r, n := utf8.DecodeLastRuneInString(before)
	if r == emojiStyle || isSkinTone(r) {
		r, _ = utf8.DecodeLastRuneInString(before[:len(before)-n])
	}
	return pictographic(r)
}

func isSkinTone(r rune) bool { return 0x1F3FB <= r && r <= 0x1F3FF }

// joinsWord reports whether a joiner after the character before is spelling:
// both neighbours are of one script that joins letters.
func joinsWord(before rune, after string) bool {
	if before < 0x600 || 0x1900 <= before && before < 0x3000 {
		return false // not a letter of these scripts
	}
	next, _ := utf8.DecodeRuneInString(after)
	for _, script := range joiningScripts {
		if unicode.Is(script, before) {
			return unicode.Is(script, next)
		}
	}
	return false
}

// inFlag reports whether the tag character at s[i] belongs to a well-formed
// subdivision flag: black flag, region (two letters), one to four letters or
// digits, end tag. Anything longer could carry a message.
func inFlag(s string, i int) bool {
	const most = 7 // tag characters before the end tag, plus the flag itself
	start := i
	for range most {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		start -= n
		if r == blackFlag {
			return flagTags(s[start+n:]) > i-start-n
		}
		if r < tagFirst || r > tagLast {
			return false
		}
	}
	return false
}

// flagTags returns the bytes of the tag sequence at the beginning of s, or 0
// when it is not well formed.
func flagTags(s string) int {
	count := 0
	for i, r := range s {
		tag := r - tagFirst + ' '
		letter := 'a' <= tag && tag <= 'z'
		switch {
		case r == tagEnd:
			if count < 3 {
				return 0
			}
			return i + utf8.RuneLen(r)
		case count == 6, !letter && (count < 2 || tag < '0' || tag > '9'):
			return 0
		}
		count++
	}
	return 0
}

// selects reports whether r is a variation selector that chooses a form of the
// character before it.
func selects(r, before rune, after string) bool {
	switch {
	case r == emojiStyle && asciiKeycap(before):
		next, _ := utf8.DecodeRuneInString(after)
		return next == keycap
	case r == emojiStyle || r == textStyle:
		return pictographic(before)
	case 0xFE00 <= r && r < textStyle:
		return unicode.Is(unicode.Han, before) || unicode.Is(unicode.Sm, before)
	case 0xE0100 <= r && r <= 0xE01EF:
		return unicode.Is(unicode.Han, before)
	case 0x180B <= r && r <= 0x180F:
		return unicode.Is(unicode.Mongolian, before) && suspect(before) == ""
	}
	return false
}

func asciiKeycap(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }

func pictographic(r rune) bool { return r >= 0xA9 && unicode.Is(pictographs, r) }

// StripHidden takes tag characters and bidi controls out of s, and returns how
// many there were. Flags stay, and so does all else that [FindHidden] reports:
// no other hidden character can carry a message or turn a line around.
func StripHidden(s string) (clean string, removed int) {
	var b strings.Builder
	done := 0
	for _, h := range FindHidden(s) {
		if h.Kind != kindTag && h.Kind != kindBidi {
			continue
		}
		b.WriteString(s[done:h.Offset])
		done = h.Offset + utf8.RuneLen(h.Rune)
		removed++
	}
	if removed == 0 {
		return s, 0
	}
	b.WriteString(s[done:])
	return b.String(), removed
}
