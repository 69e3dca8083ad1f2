package slash

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Keywords returns the words that occur in message, in the order in which they
// are first met, as the caller spells them (spec I-1). A word counts as a whole
// one of the person's own sentence: in any case, but not within quotes or code,
// and not as a part of a path, an option or an identifier. Where two words begin
// at the same place, the longer one is meant. Blanks in a word stand for any
// white space. A message that begins with a slash is left to [Parse].
func Keywords(message string, words []string) []string {
	if len(words) == 0 || strings.HasPrefix(message, "/") {
		return nil
	}
	text := []rune(norm.NFC.String(message))
	hidden := quoted(text)
	type keyword struct {
		given string
		runes []rune
	}
	var list []keyword
	for _, w := range words {
		if one := strings.Join(strings.Fields(norm.NFC.String(w)), " "); utf8.ValidString(w) {
			list = append(list, keyword{w, []rune(one)})
		}
	}
	slices.SortStableFunc(list, func(a, b keyword) int { return cmp.Compare(len(b.runes), len(a.runes)) })
	var out []string
	for at := 0; at < len(text); at++ {
		for _, w := range list {
			n := wordAt(text, hidden, at, w.runes)
			if n == 0 {
				continue
			}
			if !slices.Contains(out, w.given) {
				out = append(out, w.given)
			}
			at += n - 1
			break
		}
	}
	return out
}

// wordAt returns how many runes of text are word, or 0.
func wordAt(text []rune, hidden []bool, at int, word []rune) int {
	if len(word) == 0 || joined(text, at) {
		return 0
	}
	i := at
	for _, r := range word {
		if r == ' ' {
			from := i
			for i < len(text) && unicode.IsSpace(text[i]) && !hidden[i] {
				i++
			}
			if i == from {
				return 0
			}
			continue
		}
		if i >= len(text) || hidden[i] || !sameLetter(text[i], r) {
			return 0
		}
		i++
	}
	if joined(text, i) {
		return 0
	}
	return i - at
}

func sameLetter(a, b rune) bool {
	return a == b || strings.EqualFold(string(a), string(b))
}

// joiners keep what is on both sides of them one name: a path, an address, an
// option, an identifier, a contraction.
const joiners = `/\-._@:=+~#$%&'’`

// openers, in front of a word, make it the name of something.
const openers = `/\@#$~-`

// joined reports whether text does not break into words at i.
func joined(text []rune, i int) bool {
	if i == 0 || i == len(text) {
		return false
	}
	before, after := text[i-1], text[i]
	switch {
	case unicode.IsMark(after):
		return true
	case letter(before) && letter(after):
		return !alone(before) && !alone(after)
	case letter(after) && strings.ContainsRune(openers, before):
		return true
	case letter(after) && strings.ContainsRune(joiners, before):
		return i > 1 && letter(text[i-2])
	case letter(before) && (after == '(' || after == '/' || after == '\\'):
		return true // a call, a directory
	case letter(before) && strings.ContainsRune(joiners, after):
		return i+1 < len(text) && letter(text[i+1])
	}
	return false
}

func letter(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == utf8.RuneError
}

// alone reports whether r belongs to a script that writes words without blanks
// between them, so that any place may be the border of one.
func alone(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
