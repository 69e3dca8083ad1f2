package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	argumentsToken tokenKind = iota // $ARGUMENTS
	indexToken                      // $N, $ARGUMENTS[N]
	nameToken                       // $name, ${name} of a declared name
	variableToken                   // ${CLAUDE_…}, ${KNACK_…}, ${user_config.…}
)

// A token is one possible placeholder, by byte offsets into the body or into a
// command line.
type token struct {
	kind       tokenKind
	start, end int
	name       string
	index      int  // indexToken: the number; nameToken: position of the name in the list
	listed     bool // indexToken: written $ARGUMENTS[N]
	plain      bool // in a command: written $name or ${name}
	escaped    bool // a backslash stands before it and takes its meaning away
	money      bool // what stands around it says that it is text
	code       bool // inside a fence or a code span
}

// A name is a declared argument (spec F: arguments).
type name struct {
	text  string
	index int
}

// declared returns the names, longest first, so that the longest wins.
func declared(list []string) []name {
	var out []name
	for i, text := range list {
		if text != "" && !slices.ContainsFunc(out, func(n name) bool { return n.text == text }) {
			out = append(out, name{text, i})
		}
	}
	slices.SortStableFunc(out, func(a, b name) int { return cmp.Compare(len(b.text), len(a.text)) })
	return out
}

// maxBrace bounds the name in ${name}, so that a text full of "${" is read in
// linear time.
const maxBrace = 200

// textTokens appends the possible placeholders of body[from:to] (spec P-4).
func textTokens(out []token, body string, from, to int, names []name) []token {
	for i := from; i < to; {
		k := strings.IndexByte(body[i:to], '$')
		if k < 0 {
			break
		}
		i += k
		t, ok := dollar(body[:to], i, names)
		if !ok {
			i++
			continue
		}
		// One backslash takes the meaning away; two are two backslashes.
		t.escaped = t.kind != variableToken && backslashes(body[from:i])%2 == 1
		t.money = t.kind == indexToken && !t.listed && (priceBefore(body[:i]) || priceAfter(body[t.end:to]))
		out = append(out, t)
		i = t.end
	}
	return out
}

// dollar reads the placeholder that begins at s[i], a dollar sign.
func dollar(s string, i int, names []name) (token, bool) {
	rest := s[i+1:]
	t := token{start: i}
	switch {
	case rest == "":
		return t, false
	case isDigit(rest[0]):
		n := digits(rest)
		t.kind, t.name, t.index, t.end = indexToken, rest[:n], number(rest[:n]), i+1+n
		return t, true
	case rest[0] == '{':
		k := strings.IndexByte(rest[:min(len(rest), maxBrace)], '}')
		if k < 0 {
			return t, false
		}
		t.name, t.end = rest[1:k], i+1+k+1
		for _, n := range names {
			if n.text == t.name {
				t.kind, t.index = nameToken, n.index
				return t, true
			}
		}
		t.kind = variableToken
		return t, looksLikeVariable(t.name)
	}
	if t, ok := arguments(s, i); ok {
		return t, true
	}
	for _, n := range names {
		after, ok := strings.CutPrefix(rest, n.text)
		if ok && (after == "" || !isWord(after[0]) && after[0] != '-') {
			t.kind, t.name, t.index, t.end = nameToken, n.text, n.index, i+1+len(n.text)
			return t, true
		}
	}
	return t, false
}

// arguments reads $ARGUMENTS or $ARGUMENTS[N] at s[i].
func arguments(s string, i int) (token, bool) {
	const word = "$ARGUMENTS"
	rest, ok := strings.CutPrefix(s[i:], word)
	if !ok || rest != "" && isWord(rest[0]) {
		return token{}, false
	}
	t := token{kind: argumentsToken, start: i, end: i + len(word), name: word[1:]}
	if rest != "" && rest[0] == '[' {
		if n := digits(rest[1:]); n > 0 && strings.HasPrefix(rest[1+n:], "]") {
			t.kind, t.listed = indexToken, true
			t.name, t.index = rest[1:1+n], number(rest[1:1+n])
			t.end += n + 2
		}
	}
	return t, true
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// number reads digits; a number that no list can have as an index is -1.
func number(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

// backslashes counts those at the end of s.
func backslashes(s string) int { return len(s) - len(strings.TrimRight(s, `\`)) }

// priceBefore: US$1 and the cell $B$2 are text (spec P-4).
func priceBefore(s string) bool {
	if strings.HasSuffix(s, "$") {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsUpper(r)
}

// priceAfter: $0.50, $1,000 and $5k are text (spec P-4). Letters are those of
// scripts that have capitals: in the others, words follow without a space, so
// that the next word of a sentence would make $0 text.
func priceAfter(s string) bool {
	if len(s) > 1 && (s[0] == '.' || s[0] == ',') {
		return isDigit(s[1])
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r) || unicode.IsUpper(r)
}
