package text

import "unicode/utf8"

// TokensOfBytes estimates the tokens of n bytes of text that was not read:
// four bytes a token, which holds for prose of most languages and is 25 % low
// for dense code.
func TokensOfBytes(n int64) int {
	if n <= 0 {
		return 0
	}
	return int((n-1)/4 + 1)
}

// Tokens estimates how many model tokens s costs (spec L-4).
//
// Tokenizers cut text into words, numbers, runs of symbols and white space,
// and then cut rare pieces further. So the cost of a character is decided by
// the place it has in such a piece: nearly nothing inside a common word,
// about one token where a word begins, more where a word turns into a
// number. The tables below hold these costs in 1/64 tokens; they were fitted
// by least squares to a public tokenizer's counts (o200k) of some thousand
// files of prose, code, data and random text, and lie six per cent above the
// fit, because an estimate that is too low overruns a budget.
// testdata/tokens holds texts with their true counts.
//
// Tokens(a+b) exceeds Tokens(a)+Tokens(b) by at most two; text that is not empty costs at least one.
func Tokens(s string) int {
	sum, state := 0, atStart
	for i := 0; i < len(s); {
		if c := tokenClass[s[i]]; c != toOther {
			t := transitions[state|c]
			sum += int(t >> 8)
			state = uint8(t)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		cost := charCost(r)
		if state < inWord { // the first letter of a word, or a symbol on its own
			cost += cost / 4
		}
		sum += cost
		state = inOther
		i += n
	}
	if sum < unit/2 && s != "" {
		return 1
	}
	return (sum + unit/2) / unit
}

// unit is one token in the costs below.
const unit = 64

// The classes of ASCII characters, columns of the tables.
const (
	toLower uint8 = iota
	toUpper
	toDigit
	toSpace // space or tab
	toLine  // line end
	toPunct // everything else
	classes = 8
	toOther = 255
)

// The states say what came before: rows of the tables, times classes.
const (
	atStart uint8 = iota * classes
	atLine
	inSpace // one space
	inSpaces
	inPunct // one symbol
	inPuncts
	inSymbols
	inDigit // one digit
	inDigits
	inNumber // three digits: tokenizers begin a new piece after them
	inWord   // one lower-case letter; the next states are for 2, 3, … letters
	_
	_
	_
	_
	_
	_
	inLong // eight letters
	_
	inLongest // ten letters and more
	inCapital // one upper-case letter
	inCapitals
	inOther // not ASCII
	states  = iota
)

// A move is one rule of the automaton: from a state, by a class, to a state,
// at a cost in 1/64 tokens. Rules later in the table win.
type move struct {
	from, last uint8 // a range of states
	by         uint8
	to         uint8
	cost       uint8
}

// moves is the whole estimator for ASCII.
var moves = []move{
	// White space: the space before a word belongs to the word.
	{atStart, inOther, toSpace, inSpace, 0},
	{atLine, atLine, toSpace, inSpace, 29},
	{inPunct, inSymbols, toSpace, inSpace, 32},
	{inDigit, inNumber, toSpace, inSpace, 16},
	{inSpace, inSpace, toSpace, inSpaces, 49},
	{inSpaces, inSpaces, toSpace, inSpaces, 1},
	{atStart, inOther, toLine, atLine, 64},
	{atStart, atLine, toLine, atLine, 15},
	{inSpace, inSpaces, toLine, atLine, 44},
	{inPunct, inSymbols, toLine, atLine, 8},
	{inDigit, inNumber, toLine, atLine, 75},

	// Symbols: pairs are mostly two tokens, long rows are few.
	{atStart, inOther, toPunct, inPunct, 34},
	{atStart, inSpaces, toPunct, inPunct, 45},
	{inPunct, inPunct, toPunct, inPuncts, 37},
	{inPuncts, inSymbols, toPunct, inSymbols, 8},

	// Numbers: a token for each three digits, and one for the change.
	{atStart, inOther, toDigit, inDigit, 85},
	{atStart, inSymbols, toDigit, inDigit, 113},
	{inDigit, inDigit, toDigit, inDigits, 31},
	{inDigits, inDigits, toDigit, inNumber, 0},
	{inNumber, inNumber, toDigit, inDigit, 31},

	// Lower case: a word is one token up to seven letters.
	{atStart, inOther, toLower, inWord, 66},
	{inLong, inLongest, toLower, inLongest, 4},
	{inLongest, inLongest, toLower, inLongest, 12},
	{inCapital, inCapital, toLower, inWord + classes, 32},
	{inCapitals, inCapitals, toLower, inWord + 2*classes, 96},

	// Upper case: cheap at the beginning of a word, dear in rows.
	{atStart, inOther, toUpper, inCapital, 40},
	{atStart, inSymbols, toUpper, inCapital, 30},
	{inDigit, inNumber, toUpper, inCapital, 97},
	{inCapital, inCapital, toUpper, inCapitals, 29},
	{inCapitals, inCapitals, toUpper, inCapitals, 11},
}

// transitions is moves as a table: cost in the high byte, next state in the low.
var transitions = func() (t [256]uint16) {
	for _, m := range moves {
		for s := int(m.from); s <= int(m.last); s += classes {
			t[s|int(m.by)] = uint16(m.cost)<<8 | uint16(m.to)
		}
	}
	for s := inWord; s < inLong; s += classes {
		t[s+toLower] = uint16(s + classes)
	}
	t[inLong-classes+toLower] |= 18 << 8
	t[inLong+toLower] = 4<<8 | uint16(inLong+classes)
	return t
}()

// tokenClass has the class of every byte.
var tokenClass = func() (t [256]uint8) {
	for b := range t {
		switch {
		case b >= utf8.RuneSelf:
			t[b] = toOther
		case 'a' <= b && b <= 'z':
			t[b] = toLower
		case 'A' <= b && b <= 'Z':
			t[b] = toUpper
		case '0' <= b && b <= '9':
			t[b] = toDigit
		case b == ' ' || b == '\t':
			t[b] = toSpace
		case b == '\n' || b == '\r':
			t[b] = toLine
		default:
			t[b] = toPunct
		}
	}
	return t
}()

// charCost is the cost of a character beyond ASCII in 1/64 tokens, by block.
func charCost(r rune) int {
	for i := range blockCosts {
		if r <= blockCosts[i].last {
			return blockCosts[i].cost
		}
	}
	return 3 * unit
}

// blockCosts has the average costs of Unicode's blocks, ascending.
var blockCosts = []struct {
	last rune
	cost int
}{
	{0x009F, 64},    // controls
	{0x00BF, 48},    // Latin-1 symbols
	{0x024F, 24},    // Latin letters with accents
	{0x036F, 56},    // phonetic, combining marks
	{0x03FF, 26},    // Greek
	{0x052F, 17},    // Cyrillic
	{0x05FF, 32},    // Armenian, Hebrew
	{0x08FF, 24},    // Arabic
	{0x0DFF, 22},    // Indic
	{0x0EFF, 30},    // Thai, Lao
	{0x10FF, 40},    // Tibetan, Myanmar, Georgian
	{0x11FF, 64},    // Hangul letters
	{0x1DFF, 80},    // rare scripts
	{0x1FFF, 40},    // Latin and Greek, extended
	{0x206F, 40},    // general punctuation
	{0x2BFF, 100},   // symbols, arrows, boxes
	{0x2FFF, 100},   // rare
	{0x303F, 52},    // CJK punctuation
	{0x30FF, 52},    // kana
	{0x4DBF, 110},   // CJK letters and symbols, rare ideographs
	{0x9FFF, 54},    // ideographs
	{0xABFF, 100},   // rare
	{0xD7A3, 50},    // Hangul
	{0xFAFF, 130},   // private use, compatibility
	{0xFE0F, 64},    // presentation forms, variation selectors
	{0xFFFF, 56},    // fullwidth forms
	{0x1EFFF, 190},  // historic scripts, mathematical letters
	{0x1FAFF, 130},  // emoji
	{0x3FFFF, 190},  // rare ideographs
	{0x10FFFF, 200}, // tags and private use
}
