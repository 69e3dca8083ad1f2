package frontmatter

import "strings"

// fastFlow reads a list in brackets on one line.
func fastFlow(text string, line, col int) (value, bool) {
	v := value{kind: list, line: int32(line), col: int32(col)}
	n := 1 + strings.Count(text, ",")
	if text == "[]" {
		v.items = []value{}
		return v, true
	}
	if n > maxNodes/maxFast || !isPrintable(text) { // columns are in characters
		return v, false
	}
	v.items = make([]value, 0, n)
	i := 1
	for i < len(text) {
		for i < len(text) && text[i] == ' ' {
			i++
		}
		end := i
		if i < len(text) && (text[i] == '"' || text[i] == '\'') {
			end += 1 + max(strings.IndexByte(text[i+1:], text[i]), 0)
		}
		for end < len(text) && text[end] != ',' && text[end] != ']' {
			if strings.IndexByte("[{}:#", text[end]) >= 0 {
				return v, false
			}
			end++
		}
		item := strings.TrimRight(text[i:min(end, len(text))], " ")
		if item == "" || end == len(text) {
			return v, false
		}
		s, ok := fastScalar(item, line, col+i)
		if !ok {
			return v, false
		}
		v.items = append(v.items, s)
		if text[end] == ']' {
			return v, end+1 == len(text)
		}
		i = end + 1
	}
	return v, false
}

// fastScalar reads text, which has no blanks at its ends.
func fastScalar(text string, line, col int) (value, bool) {
	switch c := text[0]; {
	case c == '"':
		inner, ok := enclosed(text)
		return newScalar(inner, quoted, line, col), ok && strings.IndexByte(inner, '\\') < 0
	case c == '\'':
		inner, ok := enclosed(text)
		return newScalar(inner, quoted, line, col), ok
	case !startsPlain[c]:
		return value{}, false
	}
	for i := strings.IndexByte(text, ':'); i >= 0; {
		if i+1 == len(text) || text[i+1] == ' ' {
			return value{}, false
		}
		j := strings.IndexByte(text[i+1:], ':')
		if j < 0 {
			break
		}
		i += 1 + j
	}
	return newScalar(text, plain, line, col), !strings.Contains(text, " #")
}

// enclosed returns what stands between two equal quotes, if none is inside.
func enclosed(text string) (string, bool) {
	n := len(text)
	if n < 2 || text[n-1] != text[0] {
		return "", false
	}
	inner := text[1 : n-1]
	return inner, strings.IndexByte(inner, text[0]) < 0
}

// startsPlain marks the bytes that begin a plain scalar and nothing else.
var startsPlain = func() (t [256]bool) {
	for c := range t {
		switch {
		case c >= 0x80, isWord(byte(c)), strings.IndexByte("(/.$^+<=;\\~)", byte(c)) >= 0:
			t[c] = true
		}
	}
	return t
}()

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// keyLen returns the length of the identifier at the start of line.
func keyLen(line string) int {
	if line == "" || '0' <= line[0] && line[0] <= '9' {
		return 0
	}
	n := 0
	for n < len(line) && (isWord(line[n]) || n > 0 && line[n] == '-') {
		n++
	}
	return n
}

// fastText reports whether s has only characters that mean themselves: no tabs
// and controls, no lone CR, and none of the characters that some YAML readers
// take for a line end or refuse.
func fastText(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 0x20 <= c && c < 0x7f || c == '\n' || c > 0xc2 && c < 0xe2 {
			continue
		}
		switch {
		case c == '\r':
			if i+1 == len(s) || s[i+1] != '\n' {
				return false
			}
		case c < 0x80:
			return false
		case c == 0xc2 && s[i+1] < 0xa0: // C1 controls, next line
			return false
		case c == 0xe2 && (s[i:i+3] == "\u2028" || s[i:i+3] == "\u2029"):
			return false
		case c == 0xef && (s[i:i+3] == bom || s[i+1] == 0xbf && s[i+2] >= 0xbe):
			return false
		}
	}
	return true
}

// isASCII reports whether s has no byte above 0x7F.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
