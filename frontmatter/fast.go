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
	items   int    // of all lists so far
	// keepLast keeps the last entry alone, and notes in described what the last
	// description was.
	keepLast, described bool
}

// maxFast is how many keys of one map are compared with each other; real
// headers have fewer.
const maxFast = 100

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
	s := scanner{lines: newLines(src), entries: entries}
	if !s.run() {
		return nil, false
	}
	return s.entries, true
}

// describes reports whether src is a header that the fast path reads, but for
// repeated keys, and that has a description.
func describes(src string) bool {
	s := scanner{lines: newLines(src), keepLast: true}
	return s.run() && s.described
}

// run reads all lines.
func (s *scanner) run() bool {
	if !fastText(s.s) {
		return false
	}
	for {
		line, start, ok := s.next()
		if !ok {
			return s.finish(len(s.s))
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
			return false
		}
	}
}

// finish completes the entry whose lines end at the given offset.
func (s *scanner) finish(end int) bool {
	if len(s.entries) == 0 {
		s.below = nothing
		return true
	}
	e := &s.entries[len(s.entries)-1]
	if s.below != nothing {
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
	if s.keepLast {
		if e.key == "description" {
			s.described = e.val.kind == scalar && strings.TrimSpace(e.val.text) != ""
		}
		s.entries = s.entries[:0]
	}
	return true
}

// pair reads a line "key:" or "key: value".
func (s *scanner) pair(line string, start int) bool {
	n := keyLen(line)
	if n == 0 || n > 64 || n == len(line) || line[n] != ':' {
		return false
	}
	key := line[:n]
	if len(s.entries) > maxFast {
		return false
	}
	for i := range s.entries {
		if s.entries[i].key == key {
			return false // strict YAML reports it
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
	if s.items++; text == "" || s.items > maxNodes || !s.inside(listItems, indent) {
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
	if _, twice := e.val.at(name); twice || len(e.val.items) > maxFast {
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
