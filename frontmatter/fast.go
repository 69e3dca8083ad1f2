package frontmatter

import "strings"

// The fast path reads the subset of YAML that nearly all headers keep to:
//
//	key: plain text
//	key: "text" or 'text' without escapes
//	key: [plain, "text"]
//	key:
//	  - plain text
//	key:
//	  name: plain text
//	key: |            (or >, and either with -)
//	  lines of text
//	# comment
//
// It refuses whatever is not plainly of that shape, so that everything it
// accepts has the same value, line and column in strict YAML and no faults.
// FuzzFastPathAgrees holds it to that.

// scanner is one run of the fast path.
type scanner struct {
	lines
	entries []entry
	start   int    // where the line of the last key starts
	below   below  // what may follow the last key on lines of its own
	indent  int    // of these lines; -1 before the first
	marks   string // block header of the last key
}

// below says what the lines under a key are.
type below uint8

const (
	nothing below = iota
	anything
	listItems
	mapItems
	blockText
	blockDone // a comment at column 0 has ended the text
)

// fast appends the entries of src to entries, or reports that src is beyond it.
func fast(src string, entries []entry) ([]entry, bool) {
	if !fastText(src) {
		return nil, false
	}
	s := scanner{lines: newLines(src), entries: entries}
	for {
		line, start, ok := s.next()
		if !ok {
			return s.entries, s.finish(len(src))
		}
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		switch {
		case trimmed == "":
			ok = s.below < blockText || indent == 0
		case indent == 0 && line[0] != '#' && line[0] != '-':
			ok = s.finish(start) && s.pair(line, start)
		case line[0] == '#':
			if s.below == blockText {
				s.below = blockDone
			}
		case s.below >= blockText:
			ok = s.below == blockText && s.blockLine(line, indent)
		case strings.HasPrefix(trimmed, "- "):
			ok = s.item(trimmed, indent)
		default:
			ok = s.mapItem(trimmed, indent)
		}
		if !ok {
			return nil, false
		}
	}
}

// finish completes the entry whose lines end at the given offset.
func (s *scanner) finish(end int) bool {
	if s.below != nothing && len(s.entries) > 0 {
		e := &s.entries[len(s.entries)-1]
		piece := s.s[s.start:end]
		e.raw = rawValue(piece)
		if s.below >= blockText {
			var ok bool
			if e.val.text, ok = s.blockValue(piece); !ok {
				return false
			}
		}
	}
	s.below = nothing
	return true
}

// pair reads a line "key:" or "key: value".
func (s *scanner) pair(line string, start int) bool {
	n := keyLen(line)
	if n == 0 || n > 64 || n == len(line) || line[n] != ':' {
		return false
	}
	key := line[:n]
	for i := range s.entries {
		if s.entries[i].key == key {
			return false
		}
	}
	s.entries = append(s.entries, entry{key: key, line: s.n + 1})
	e := &s.entries[len(s.entries)-1]
	rest := line[n+1:]
	text := strings.Trim(rest, " ")
	s.start, s.indent = start, -1
	if text == "" {
		s.below = anything
		e.val = newScalar("", plain, e.line, n+2)
		return true
	}
	if rest[0] != ' ' {
		return false
	}
	col := n + 2 + len(rest) - len(strings.TrimLeft(rest, " "))
	switch text {
	case "|", "|-", ">", ">-":
		s.below, s.marks = blockText, text
		e.val = value{kind: scalar, style: block, line: int32(e.line), col: int32(col)}
		return true
	}
	e.raw = text
	var ok bool
	if text[0] == '[' {
		e.val, ok = fastFlow(text, e.line, col)
	} else {
		e.val, ok = fastScalar(text, e.line, col)
	}
	return ok
}

// inside reports whether a line with this indent may stand under the last key.
func (s *scanner) inside(what below, indent int) bool {
	if s.below == anything {
		s.below, s.indent = what, indent
		e := &s.entries[len(s.entries)-1]
		e.val = value{kind: list, line: int32(s.n + 1), col: int32(indent + 1), items: make([]value, 0, 4)}
		if what == mapItems {
			e.val.kind = mapping
		}
	}
	return s.below == what && s.indent == indent
}

// item reads a line "- value" below a key without a value of its own.
func (s *scanner) item(trimmed string, indent int) bool {
	text := strings.Trim(trimmed[1:], " ")
	if text == "" || !s.inside(listItems, indent) {
		return false
	}
	col := indent + 1 + len(trimmed) - len(strings.TrimLeft(trimmed[1:], " "))
	v, ok := fastScalar(text, s.n+1, col)
	e := &s.entries[len(s.entries)-1]
	e.val.items = append(e.val.items, v)
	return ok
}

// mapItem reads an indented line "name: value" below a key.
func (s *scanner) mapItem(trimmed string, indent int) bool {
	n := keyLen(trimmed)
	if n == 0 || n > 64 || n == len(trimmed) || trimmed[n] != ':' || indent == 0 || !s.inside(mapItems, indent) {
		return false
	}
	e := &s.entries[len(s.entries)-1]
	name, rest := trimmed[:n], trimmed[n+1:]
	if _, twice := e.val.at(name); twice {
		return false
	}
	v, ok := newScalar("", plain, s.n+1, indent+n+2), true
	if text := strings.Trim(rest, " "); text != "" {
		col := indent + n + 2 + len(rest) - len(strings.TrimLeft(rest, " "))
		v, ok = fastScalar(text, s.n+1, col)
		ok = ok && rest[0] == ' '
	}
	v.name = name
	e.val.items = append(e.val.items, v)
	return ok
}

// blockLine checks a line of a block scalar; blockValue puts them together.
func (s *scanner) blockLine(line string, indent int) bool {
	if s.indent < 0 {
		s.indent = indent
	}
	if s.marks[0] == '|' {
		return indent >= s.indent && indent > 0
	}
	return indent == s.indent && indent > 0 && line[len(line)-1] != ' '
}

// blockValue reads the text of a block scalar from its source.
func (s *scanner) blockValue(piece string) (string, bool) {
	var b strings.Builder
	b.Grow(len(piece))
	empty := 0
	l := newLines(piece)
	l.next() // the key
	for {
		line, at, ok := l.next()
		if !ok {
			break
		}
		if line != "" && line[0] == '#' {
			break
		}
		if line == "" {
			empty++
			continue
		}
		switch {
		case b.Len() == 0 && empty > 0, l.pos == at+len(line): // no line end
			return "", false
		case b.Len() == 0:
		case s.marks[0] == '|':
			b.WriteByte('\n')
			b.WriteString(strings.Repeat("\n", empty))
		case empty > 0:
			b.WriteString(strings.Repeat("\n", empty))
		default:
			b.WriteByte(' ')
		}
		empty = 0
		b.WriteString(line[s.indent:])
	}
	if len(s.marks) == 1 {
		b.WriteByte('\n')
	}
	return b.String(), s.indent > 0
}

// fastFlow reads a list in brackets on one line.
func fastFlow(text string, line, col int) (value, bool) {
	v := value{kind: list, line: int32(line), col: int32(col), items: make([]value, 0, 1+strings.Count(text, ","))}
	if text == "[]" {
		return v, true
	}
	if !isPrintable(text) { // columns are in characters
		return v, false
	}
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
