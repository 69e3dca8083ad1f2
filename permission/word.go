package permission

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word is one word of a simple command, read without running anything.
type word struct {
	text   string // as written
	value  string // what the program receives; when not static, what is known to come first
	static bool   // value is all of it
	splits bool   // may turn into several words, or into none
	named  bool   // not static, and yet no option: it begins with the name of a commit
}

// option reports whether the word is or could turn out to be an option.
func (w word) option() bool {
	return strings.HasPrefix(w.value, "-") || !w.static && w.value == "" && !w.named
}

// unquoter reads words: quotes and escapes are resolved, "~" and "$HOME" are
// known, and anything else that the shell would expand ends what is known.
type unquoter struct {
	home    string
	value   strings.Builder
	open    bool // something unknown was met
	splits  bool
	brace   int // progress in an unquoted {a,b} or {1..3}
	bracket bool
}

func readWord(src, home string, w *syntax.Word) word {
	if lit := w.Lit(); lit != "" && !strings.ContainsAny(lit, "\\*?[]{}~") {
		return word{text: lit, value: lit, static: true}
	}
	u := unquoter{home: home}
	for i, p := range w.Parts {
		u.part(p, i == 0, len(w.Parts) == 1)
	}
	return word{text: source(src, w), value: u.value.String(), static: !u.open, splits: u.splits, named: u.open && beginsWithName(w)}
}

// source returns the text of a node as written.
func source(src string, n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from > to || to > uint(len(src)) {
		return ""
	}
	return src[from:to]
}

func (u *unquoter) add(s string) {
	if !u.open {
		u.value.WriteString(s)
	}
}

// unknown marks the point from which the word is only known at run time.
func (u *unquoter) unknown(splits bool) {
	u.open = true
	u.splits = u.splits || splits
}

func (u *unquoter) part(p syntax.WordPart, first, only bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		u.literal(p.Value, first, only)
	case *syntax.SglQuoted:
		s, ok := p.Value, true
		if p.Dollar {
			s, ok = ansiC(p.Value)
		}
		u.add(s)
		if !ok {
			u.unknown(false)
		}
	case *syntax.DblQuoted:
		if p.Dollar {
			u.unknown(false) // $"..." is translated
		}
		for _, q := range p.Parts {
			u.quoted(q)
		}
	case *syntax.ParamExp:
		if !u.homeDir(p, false) {
			u.unknown(true)
		}
	case *syntax.ProcSubst:
		u.add("/dev/fd/")
		u.unknown(false)
	default:
		u.unknown(true)
	}
}

func (u *unquoter) quoted(p syntax.WordPart) {
	switch p := p.(type) {
	case *syntax.Lit:
		u.add(unescapeQuoted(p.Value))
	case *syntax.ParamExp:
		if !u.homeDir(p, true) {
			u.unknown(isList(p))
		}
	default:
		u.unknown(false)
	}
}

// isList reports "$@" and "${a[@]}", which make many words even in quotes.
func isList(p *syntax.ParamExp) bool {
	if p.Names == syntax.NamesPrefixWords || p.Param != nil && p.Param.Value == "@" {
		return true
	}
	w, ok := p.Index.(*syntax.Word)
	return ok && w.Lit() == "@"
}

// homeDir resolves a plain $HOME or ${HOME}. Unquoted it only stays one word
// when it holds nothing that the shell splits or expands.
func (u *unquoter) homeDir(p *syntax.ParamExp, quoted bool) bool {
	if u.home == "" || p.Param == nil || p.Param.Value != "HOME" || !isPlain(p) {
		return false
	}
	if !quoted && strings.ContainsAny(u.home, " \t\n*?[") {
		return false
	}
	u.add(u.home)
	return true
}

func isPlain(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// literal reads unquoted text.
func (u *unquoter) literal(s string, first, only bool) {
	if first && strings.HasPrefix(s, "~") {
		rest := s[1:]
		if u.home == "" || rest == "" && !only || rest != "" && rest[0] != '/' {
			u.unknown(false) // ~user, ~+, or a home nobody told us
		}
		u.add(u.home)
		s = rest
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '~':
			if i > 0 && first && (s[i-1] == '=' || s[i-1] == ':') && strings.Contains(s[:i], "=") {
				u.unknown(false) // bash takes a=~ for an assignment anywhere
			}
		case '\\':
			if i++; i < len(s) {
				u.add(s[i : i+1])
			} else {
				u.add(`\`)
			}
			continue
		case '*', '?':
			u.unknown(true)
		case '[':
			u.bracket = true
		case ']':
			if u.bracket {
				u.unknown(true)
			}
		case '{':
			u.brace = max(u.brace, 1)
		case ',':
			u.brace = step(u.brace, 1, 2)
		case '.':
			if i+1 < len(s) && s[i+1] == '.' {
				u.brace = step(u.brace, 1, 2)
			}
		case '}':
			if u.brace = step(u.brace, 2, 3); u.brace == 3 {
				u.unknown(true)
			}
		}
		u.add(s[i : i+1])
	}
	if u.open && (u.bracket || u.brace == 3) {
		u.cutPattern()
	}
}

// cutPattern shortens what is known of a word to the text before the bracket
// or brace that turned out to be a pattern.
func (u *unquoter) cutPattern() {
	v := u.value.String()
	if i := strings.IndexAny(v, "[{"); i >= 0 {
		u.value.Reset()
		u.value.WriteString(v[:i])
	}
}

func step(state, from, to int) int {
	if state == from {
		return to
	}
	return state
}

// unescapeQuoted resolves the escapes of text in double quotes.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var ansiEscapes = map[byte]byte{
	'a': '\a', 'b': '\b', 'e': 0x1b, 'E': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiC resolves the escapes of $'...'. ok is false where the result depends
// on the locale or the shell; s is then what comes before.
func ansiC(in string) (s string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(in); {
		if in[i] != '\\' || i+1 == len(in) {
			b.WriteByte(in[i])
			i++
			continue
		}
		c := in[i+1]
		if plain, known := ansiEscapes[c]; known {
			b.WriteByte(plain)
			i += 2
			continue
		}
		digits, base := in[i+2:], 16
		width := 2
		switch c {
		case 'x':
		case 'u':
			width = 4
		case 'U':
			width = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			digits, base, width = in[i+1:], 8, 3
		default:
			return b.String(), false
		}
		n := 0
		for n < width && n < len(digits) && strings.IndexByte("0123456789abcdefABCDEF"[:digitSet(base)], digits[n]) >= 0 {
			n++
		}
		v, err := strconv.ParseUint(digits[:n], base, 32)
		if err != nil || v == 0 || v > 0xff || v > 0x7f && (c == 'u' || c == 'U') {
			return b.String(), false
		}
		b.WriteByte(byte(v))
		i = len(in) - len(digits) + n
	}
	return b.String(), true
}

func digitSet(base int) int {
	if base == 8 {
		return 8
	}
	return 22
}
