package search

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold appends w to buf without what people type differently: letter case,
// accents, apostrophes ("user's" is "user"), wide forms.
func fold(buf []byte, w string) []byte {
	for i, r := range w {
		switch {
		case 'A' <= r && r <= 'Z':
			buf = append(buf, byte(r)|0x20)
		case r == '\'' || r == '’':
			if rest := w[i+utf8.RuneLen(r):]; rest == "s" || rest == "S" {
				return buf
			}
		case r < utf8.RuneSelf:
			buf = append(buf, byte(r))
		case 0x300 <= r && r <= 0x36F: // combining accents
		case 0xFF01 <= r && r <= 0xFF5E: // wide forms of ASCII
			buf = append(buf, bytes.ToLower([]byte{byte(r - 0xFEE0)})...)
		default:
			r = unicode.ToLower(r)
			if plain, ok := unaccented[r]; ok {
				buf = append(buf, plain...)
			} else {
				buf = utf8.AppendRune(buf, r)
			}
		}
	}
	return buf
}

// unaccented has the plain spelling of accented Latin letters. German umlauts
// lose their dots, as most people who cannot type them write.
var unaccented = func() map[rune]string {
	m := map[rune]string{}
	for plain, letters := range map[string]string{
		"a": "àáâãäåāăą", "c": "çćĉċč", "d": "ďđð", "e": "èéêëēĕėęě", "g": "ĝğġģ", "h": "ĥħ",
		"i": "ìíîïĩīĭįı", "j": "ĵ", "k": "ķ", "l": "ĺļľŀł", "n": "ñńņňŉ", "o": "òóôõöøōŏő",
		"r": "ŕŗř", "s": "śŝşšș", "t": "ţťŧț", "u": "ùúûüũūŭůűų", "w": "ŵ", "y": "ýÿŷ",
		"z": "źżž", "ss": "ß", "ae": "æ", "oe": "œ", "th": "þ",
	} {
		for _, r := range letters {
			m[r] = plain
		}
	}
	return m
}()

// stem cuts English endings off a folded word, in place. The rules, in order;
// a stem has at least three letters, one of them a vowel:
//
//	-ies → -y           queries, query
//	-sses, -xes, -ches, -shes, -zes lose "es"; other -s, not -ss, -us, -is
//	-ization → -iz, -tion → -t     extraction, extract
//	-ing, -ed           and a doubled consonant before: committing, commit
//	-er after four letters, but not -tt    formatter, format; letter stays
//	-e                  so that writing and write agree
//
// Words with digits or letters beyond ASCII stay. The result need not be a
// word; it is used for documents and queries alike.
func stem(w []byte) []byte {
	if len(w) < 4 {
		return w
	}
	for _, b := range w {
		if !letter(b) {
			return w
		}
	}
	w = singular(w)
	switch {
	case bytes.HasSuffix(w, []byte("ization")) && len(w) > 9:
		return w[:len(w)-5]
	case bytes.HasSuffix(w, []byte("tion")) && len(w) > 6:
		return w[:len(w)-3]
	}
	for _, ending := range [...]struct {
		text string
		min  int // letters before it
	}{{"ing", 3}, {"ed", 3}, {"er", 4}} {
		base, ok := bytes.CutSuffix(w, []byte(ending.text))
		if !ok {
			continue
		}
		if ending.text == "er" && len(base) == 4 && bytes.HasSuffix(base, []byte("tt")) {
			return w // letter, better, butter, matter
		}
		if len(base) >= ending.min && hasVowel(base) {
			return finalE(undouble(base))
		}
		if len(base) == 2 && hasVowel(base) && ending.text != "er" {
			return append(base, 'e') // used, using: use
		}
		return w
	}
	return finalE(w)
}

// singular takes the ending of a plural away.
func singular(w []byte) []byte {
	n := len(w)
	switch {
	case w[n-1] != 's':
		return w
	case bytes.HasSuffix(w, []byte("ies")) && n > 4:
		w[n-3] = 'y'
		return w[:n-2]
	case bytes.HasSuffix(w, []byte("sses")), bytes.HasSuffix(w, []byte("xes")), bytes.HasSuffix(w, []byte("ches")),
		bytes.HasSuffix(w, []byte("shes")), bytes.HasSuffix(w, []byte("zes")):
		return w[:n-2]
	case bytes.HasSuffix(w, []byte("ss")), bytes.HasSuffix(w, []byte("us")), bytes.HasSuffix(w, []byte("is")):
		return w
	}
	return w[:n-1]
}

// undouble drops the consonant that -ing and -ed double: committ, runn.
func undouble(w []byte) []byte {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bdgmnprt", w[n-1]) >= 0 {
		return w[:n-1]
	}
	return w
}

// finalE drops an "e" that -ing and -ed swallow.
func finalE(w []byte) []byte {
	if n := len(w); n > 3 && w[n-1] == 'e' {
		return w[:n-1]
	}
	return w
}

func hasVowel(w []byte) bool { return bytes.ContainsAny(w, "aeiouy") }

// stopWords are words that say little about what is wanted, stemmed: of grammar
// and of small talk. They count a tenth.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
		a about all also am an and any are as at be been but by can could do does for from get had has have
		help how i if in into is it its just let like make may me more my need no not of on or our out please
		shall should so some that the their them then there these they this to up us use user want was we were what when
		where which who will with would you your skill
		again always been continue did else ever good great hello hey hi hmm maybe much nice now ok okay perhaps
		really sorry tell thank today too very why yes yet
		als am an auf aus bei bitte das dem den der des die dies ein eine einen einer es fur hat ich ihr im in
		danke hallo ist ja kann mein meine mich mir mit nach nein nicht oder sich sie sind so und vom von was wenn wie wir zu zum zur`) {
		m[string(stem([]byte(w)))] = true
	}
	return m
}()
