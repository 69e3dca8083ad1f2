package frontmatter

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// keyLine splits a line at its first colon that ends a key: the colon is
// followed by a blank or nothing. Keys may be quoted.
func keyLine(line string) (key, rest string, ok bool) {
	from := 0
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		i := strings.IndexByte(line[1:], line[0])
		if i < 0 {
			return "", "", false
		}
		from = i + 2
	}
	for i := from; i < len(line); i++ {
		if line[i] == ':' && (i+1 == len(line) || isBlank(line[i+1])) {
			key = strings.TrimRight(line[:i], " \t")
			if from > 0 && len(key) >= 2 && key[len(key)-1] == key[0] {
				key = key[1 : len(key)-1]
			}
			return key, line[i+1:], true
		}
	}
	return "", "", false
}

// rawValue returns the source text of the value in a piece of source that
// starts with its key line. When nothing stands on the key line it begins with
// the first line below, indentation included. Blank lines and comments after
// the value are not part of it.
func rawValue(piece string) string {
	l := newLines(piece)
	first, start, _ := l.next()
	_, rest, ok := keyLine(first)
	if !ok {
		return ""
	}
	from, to := start+len(first)-len(rest), start+len(first)
	if strings.Trim(rest, " \t") == "" {
		from = l.pos
	}
	for begun := from < l.pos; ; {
		line, at, ok := l.next()
		if !ok {
			break
		}
		text := strings.Trim(line, " \t")
		if isDocumentEnd(line) {
			break
		}
		if text == "" || text[0] == '#' {
			if !begun {
				from = l.pos
			}
			continue
		}
		begun, to = true, at+len(line)
	}
	if to <= from {
		return ""
	}
	raw := strings.TrimRight(piece[from:to], " \t")
	if from < start+len(first) {
		raw = strings.TrimLeft(raw, " \t")
	}
	return raw
}

// isDocumentEnd reports whether line is YAML's mark for the end of a document,
// which some editors write before the closing fence.
func isDocumentEnd(line string) bool {
	return strings.HasPrefix(line, "...") && strings.Trim(line[3:], " \t") == ""
}

// plainText is the value as text (spec F-4). changed reports that the text is
// not what YAML makes of the value, which the author should know.
func (e *entry) plainText() (text string, changed bool) {
	v := &e.val
	switch {
	case e.refused:
		return "", false
	case e.lost:
		return lostText(e.raw), false
	case v.kind == scalar && v.style != plain && e.raw != "" && (e.raw[0] == '!' || e.raw[0] == '&'):
		if v.style == block {
			return strings.TrimSpace(v.text), true
		}
		return fold(withoutComments(e.raw)), true
	case v.kind == scalar && v.style != plain, e.raw == "":
		return strings.TrimSpace(v.text), false
	case v.kind == list || v.kind == mapping:
		return structureText(e.raw), true
	}
	if e.raw == v.text {
		return e.raw, false
	}
	if text = fold(withoutComments(e.raw)); text != v.text {
		if isNull(text) {
			return "", false
		}
		return text, true
	}
	return text, false
}

// withoutComments drops the full-line comments of a value that YAML can read.
// One that stands where the value would start is the value, if there is no other.
func withoutComments(raw string) string {
	if !strings.ContainsAny(raw, "\r\n") {
		return raw
	}
	var kept []string
	for l := newLines(raw); ; {
		line, _, ok := l.next()
		if !ok {
			return strings.Join(kept, "\n")
		}
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			kept = append(kept, line)
		}
	}
}

// fold joins lines like YAML joins those of a plain scalar: a line end is a
// space, an empty line is a line end.
func fold(raw string) string {
	if !strings.ContainsAny(raw, "\r\n") {
		return strings.Trim(raw, " \t")
	}
	var b strings.Builder
	empty := 0
	for l := newLines(raw); ; {
		line, _, ok := l.next()
		if !ok {
			return b.String()
		}
		line = strings.Trim(line, " \t")
		switch {
		case line == "":
			empty++
			continue
		case b.Len() == 0:
		case empty > 0:
			b.WriteString(strings.Repeat("\n", empty))
		default:
			b.WriteByte(' ')
		}
		empty = 0
		b.WriteString(line)
	}
}

// structureText is a list or a map, meant as text: flow style on one line,
// block style line by line.
func structureText(raw string) string {
	if raw != "" && !isBlank(raw[0]) && raw[0] != '-' {
		return fold(raw)
	}
	return strings.TrimSpace(dedent(raw))
}

// dedent removes the indentation that all lines share, and unifies line ends.
func dedent(raw string) string {
	var all []string
	shared := -1
	for l := newLines(raw); ; {
		line, _, ok := l.next()
		if !ok {
			break
		}
		all = append(all, line)
		if strings.Trim(line, " \t") == "" {
			continue
		}
		if n := len(line) - len(strings.TrimLeft(line, " \t")); shared < 0 || n < shared {
			shared = n
		}
	}
	for i, line := range all {
		all[i] = line[min(max(shared, 0), len(line)):]
	}
	return strings.Join(all, "\n")
}

// lostText is the source text of a piece that YAML cannot read, without the
// quotes or the block header that its author put around it.
func lostText(raw string) string {
	l := newLines(raw)
	first, _, _ := l.next()
	if header, rest := strings.TrimSpace(first), raw[l.pos:]; rest != "" && isBlockHeader(header) {
		if header[0] == '|' {
			return strings.TrimSpace(dedent(rest))
		}
		return fold(rest)
	}
	text := fold(raw)
	if inner, ok := unquoted(text); ok {
		return inner
	}
	return text
}

func isBlockHeader(s string) bool {
	return s != "" && (s[0] == '|' || s[0] == '>') && strings.Trim(s[1:], "+-0123456789") == ""
}

// unquoted removes the quotes around a text if they belong together. In
// `"say "hi" now"` they do, in `"a" or "b"` they do not: there the second
// quote closes.
func unquoted(text string) (string, bool) {
	n := len(text)
	if n < 2 || text[0] != '"' && text[0] != '\'' || text[n-1] != text[0] {
		return "", false
	}
	q, inner := text[0], text[1:n-1]
	for i := 0; i < len(inner); i++ {
		if q == '"' && inner[i] == '\\' {
			i++
			continue
		}
		if inner[i] != q {
			continue
		}
		opens := i+1 < len(inner) && !isBlank(inner[i+1]) && (i == 0 || isBlank(inner[i-1]) || inner[i-1] == '(')
		if q == '\'' && i > 0 && i+1 < len(inner) && isWord(inner[i-1]) && isWord(inner[i+1]) {
			continue // an apostrophe
		}
		if !opens {
			return "", false
		}
		break
	}
	if q == '"' {
		inner = unescape(inner)
	}
	return inner, true
}

// unescape decodes the escapes of JSON, pairs of surrogates included. What is
// no such escape stays as it is written (`\d+`).
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if j := strings.IndexByte(`"\/bfnrt`, s[i+1]); j >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[j])
			i++
			continue
		}
		if r, n := unicodeEscape(s[i:]); n > 0 {
			b.WriteRune(r)
			i += n - 1
			continue
		}
		b.WriteByte('\\')
	}
	return b.String()
}

// unicodeEscape decodes \uXXXX, or two of them that are one character, at the
// start of s. Half a pair is U+FFFD.
func unicodeEscape(s string) (rune, int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(s[6:]); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}

// joinSurrogates rewrites JSON's pairs of surrogates inside double quotes as
// the one escape that YAML has for the character (spec F-4).
func joinSurrogates(s string) string {
	var b strings.Builder
	inside := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			inside = !inside
		case s[i] == '\\' && inside && i+1 < len(s):
			r, n := unicodeEscape(s[i:])
			if high, _ := hex4(s[i:]); n > 0 && utf16.IsSurrogate(high) {
				b.WriteString(`\U` + strings.ToUpper(strconv.FormatInt(0x1_0000_0000+int64(r), 16))[1:])
				i += n - 1
				continue
			}
			b.WriteByte(s[i])
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
