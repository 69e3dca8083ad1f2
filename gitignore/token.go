package gitignore

// An op says what a token matches.
type op uint8

const (
	literal op = iota // exactly the byte b
	anyByte           // "?": one byte, not a slash
	oneOf             // "[...]": one byte of the set, never a slash
	star              // "*": bytes up to a slash, also none
	dirs              // "**/": nothing, or anything that ends in a slash
	dirsMin           // "**\/": anything that ends in a slash
	all               // "**" at the end: everything that is left
)

// A token is one step of a compiled pattern.
type token struct {
	op  op
	b   byte
	set *set
}

// A set is a set of bytes.
type set [4]uint64

func (s *set) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *set) remove(b byte)   { s[b>>6] &^= 1 << (b & 63) }
func (s *set) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }

// addRange adds bytes; fold adds the lower case of capitals, too.
func (s *set) addRange(from, to byte, fold bool) {
	for c := int(from); c <= int(to); c++ {
		s.add(byte(c))
		if fold && 'A' <= c && c <= 'Z' {
			s.add(byte(c + 'a' - 'A'))
		}
	}
}

func (s *set) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// scan compiles text. deep says that "**" may cross slashes: the pattern is
// compared with a whole path. ok is false for text that can match nothing: an
// open "[", an unknown "[:class:]", or a backslash at the end.
//
// fold is for text in lower case. As in git, letters of the pattern are changed
// for it, but not those behind a backslash or alone in a set: \A and [A] then
// match nothing.
func scan(text string, deep, fold bool) (tokens []token, ok bool) {
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '\\':
			if i+1 == len(text) {
				return nil, false
			}
			tokens = append(tokens, token{op: literal, b: text[i+1]})
			i += 2
		case '?':
			tokens = append(tokens, token{op: anyByte})
			i++
		case '[':
			members, next, ok := scanSet(text, i+1, fold)
			if !ok {
				return nil, false
			}
			tokens = append(tokens, token{op: oneOf, set: members})
			i = next
		case '*':
			t, next := scanStars(text, i, deep)
			tokens = append(tokens, t)
			i = next
		default:
			if fold && 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			tokens = append(tokens, token{op: literal, b: c})
			i++
		}
	}
	return tokens, true
}

// scanStars reads a run of stars that begins at i. Two or more of them cross
// slashes only as a whole segment; anywhere else they are one star.
func scanStars(text string, i int, deep bool) (t token, next int) {
	next = i
	for next < len(text) && text[next] == '*' {
		next++
	}
	if !deep || next-i < 2 || i > 0 && text[i-1] != '/' {
		return token{op: star}, next
	}
	switch rest := text[next:]; {
	case rest == "":
		return token{op: all}, next
	case rest[0] == '/':
		return token{op: dirs}, next + 1
	case len(rest) > 1 && rest[:2] == `\/`:
		return token{op: dirsMin}, next + 2
	}
	return token{op: star}, next
}

// scanSet reads a bracket expression; i is the offset behind its "[", next the
// one behind its "]".
func scanSet(text string, i int, fold bool) (members *set, next int, ok bool) {
	members = new(set)
	inverted := i < len(text) && (text[i] == '!' || text[i] == '^')
	if inverted {
		i++
	}
	low := -1 // the byte that a "-" would make the start of a range
	for first := true; ; first = false {
		if i == len(text) {
			return nil, 0, false
		}
		c := text[i]
		switch {
		case c == ']' && !first:
			if inverted {
				members.invert()
			}
			members.remove('/')
			return members, i + 1, true
		case c == '[' && i+1 < len(text) && text[i+1] == ':':
			end, ok := scanClass(members, text, i+2, fold)
			if !ok {
				return nil, 0, false
			}
			if end == 0 { // not a class: the bracket means itself
				members.add('[')
				low, i = '[', i+1
				continue
			}
			low, i = -1, end
		case c == '-' && low >= 0 && i+1 < len(text) && text[i+1] != ']':
			high, end, ok := setByte(text, i+1)
			if !ok {
				return nil, 0, false
			}
			members.addRange(byte(low), high, fold)
			low, i = -1, end
		default:
			b, end, ok := setByte(text, i)
			if !ok {
				return nil, 0, false
			}
			members.add(b)
			low, i = int(b), end
		}
	}
}

// setByte reads one byte of a set, which may stand behind a backslash.
func setByte(text string, i int) (b byte, next int, ok bool) {
	if text[i] != '\\' {
		return text[i], i + 1, true
	}
	if i+1 == len(text) {
		return 0, 0, false
	}
	return text[i+1], i + 2, true
}

// scanClass reads "name:]" at i and adds the class. end is the offset behind
// it, or 0 when what stands there is not a class at all; ok is false when it is
// one that nobody knows, or never ends.
func scanClass(members *set, text string, i int, fold bool) (end int, ok bool) {
	j := i
	for j < len(text) && text[j] != ']' {
		j++
	}
	if j == len(text) {
		return 0, false
	}
	if j == i || text[j-1] != ':' {
		return 0, true
	}
	ranges, known := classes[text[i:j-1]]
	for k := 0; k < len(ranges); k += 2 {
		members.addRange(ranges[k], ranges[k+1], fold && ranges[k] == 'A')
	}
	return j + 1, known
}

// classes are the POSIX classes as pairs of first and last byte. They know
// ASCII only, and space is without vertical tab and form feed, as in git.
var classes = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "\t\t  ",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "\t\n\r\r  ",
	"upper":  "AZ",
	"xdigit": "09AFaf",
}
