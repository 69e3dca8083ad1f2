package prompt

import "strings"

// A shellByte says how bash reads one byte of a command line: the quoting
// around it and some flags.
type shellByte uint8

const (
	bareText    shellByte = iota
	doubleQuote           // "…"
	singleQuote           // '…'
	ansiQuote             // $'…'
	commentText           // # …
	hereText              // here-document, expanded
	rawHereText           // here-document, as it is

	quotingMask = 0x07

	unsureByte   shellByte = 0x08 // bash may read this otherwise, such as after a case pattern
	escapedByte  shellByte = 0x10 // a backslash, or the byte that it protects
	nestedQuotes shellByte = 0x20 // inside `…` or ${…}, where quoting has rules of its own
	insideOfList shellByte = 0x40 // inside (…), $(…), ${…} or `…`
	insideOfHere shellByte = 0x80 // inside a here-document, at any depth
)

func (b shellByte) quoting() shellByte { return b & quotingMask }

// expands reports whether bash expands a dollar sign here.
func (b shellByte) expands() bool {
	switch b.quoting() {
	case bareText, doubleQuote, hereText:
		return b&escapedByte == 0
	}
	return false
}

// Frames of nested constructs.
const (
	quoteFrame      = '"'
	parenFrame      = '(' // (…) and $(…)
	arithmeticFrame = 'a' // the inner one of $((…))
	braceFrame      = '{' // ${…}
	quotedBrace     = 'd' // ${…} inside double quotes
	backtickFrame   = '`'
	hereFrame       = 'h' // a here-document that is expanded
	caseFrame       = 'c' // case … esac, where a pattern ends with a parenthesis
)

// A shellScanner labels the bytes of a command line. It follows the rules of
// quoting, not the grammar: it is not a judge of what may run. What needs the
// grammar makes the rest of the line unsure, and expansion falls back to what is
// safe in any context.
type shellScanner struct {
	line   string
	labels []shellByte
	stack  []shellFrame
	here   []hereDoc // announced on this line, begin after its end
	nested int       // here-documents that are open
	unsure shellByte // unsureByte from the first doubt on
}

// maxHere bounds how deep here-documents are followed; the end of each is
// searched for in the rest of the line.
const maxHere = 8

// A shellFrame is one open construct, with the flags of all that are open.
type shellFrame struct {
	kind  byte
	flags shellByte
}

// frameFlags says what being inside of a frame means for each byte.
var frameFlags = map[byte]shellByte{
	parenFrame: insideOfList, arithmeticFrame: insideOfList, hereFrame: insideOfHere,
	backtickFrame: nestedQuotes | insideOfList, braceFrame: nestedQuotes | insideOfList, quotedBrace: nestedQuotes | insideOfList,
}

type hereDoc struct {
	delimiter string
	raw       bool
	tabs      bool // <<-: tabs before the delimiter are dropped
}

// scanShell returns the label of each byte of line.
func scanShell(line string) []shellByte {
	s := shellScanner{line: line, labels: make([]shellByte, len(line))}
	for i := 0; i < len(line); {
		i = s.step(i)
	}
	return s.labels
}

func (s *shellScanner) top() shellFrame {
	if len(s.stack) == 0 {
		return shellFrame{}
	}
	return s.stack[len(s.stack)-1]
}

func (s *shellScanner) push(kind byte) {
	s.stack = append(s.stack, shellFrame{kind, s.top().flags | frameFlags[kind]})
}

func (s *shellScanner) pop() { s.stack = s.stack[:len(s.stack)-1] }

// quoting returns the quoting that the frames of the moment give.
func (s *shellScanner) quoting() shellByte {
	switch s.top().kind {
	case quoteFrame, quotedBrace:
		return doubleQuote
	case hereFrame:
		return hereText
	}
	return bareText
}

// label marks line[i:end] with the quoting b and the nesting of the moment.
func (s *shellScanner) label(i, end int, b shellByte) int {
	b |= s.top().flags | s.unsure
	end = min(end, len(s.line))
	for ; i < end; i++ {
		s.labels[i] = b
	}
	return end
}

// step labels what begins at i and returns where the next step begins.
func (s *shellScanner) step(i int) int {
	here := s.quoting()
	switch c := s.line[i]; {
	case c == '\\':
		return s.label(i, i+2, here|escapedByte)
	case c == '"' && here != hereText: // in a here-document it is text
		return s.doubleQuote(i)
	case c == '`':
		return s.backtick(i)
	case c == '$' && i+1 < len(s.line):
		return s.dollar(i, here)
	case c == '}' && (s.top().kind == braceFrame || s.top().kind == quotedBrace),
		c == ')' && (s.top().kind == parenFrame || s.top().kind == arithmeticFrame):
		end := s.label(i, i+1, here)
		s.pop()
		return end
	case here != bareText:
		return s.label(i, i+1, here)
	}
	return s.bare(i)
}

// bare labels one step outside of double quotes.
func (s *shellScanner) bare(i int) int {
	rest := s.line[i:]
	switch c := rest[0]; {
	case c == '\'':
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			end = len(rest)
		}
		return s.label(i, i+1+end+1, singleQuote)
	case strings.HasPrefix(rest, "(("):
		s.push(parenFrame)
		s.push(arithmeticFrame)
		return s.label(i, i+2, bareText)
	case c == '(':
		s.push(parenFrame)
		return s.label(i, i+1, bareText)
	case c == '#' && s.top().kind != braceFrame && wordStart(s.line[:i]):
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		return s.label(i, i+end, commentText)
	case strings.HasPrefix(rest, "<<<"):
		return s.label(i, i+3, bareText)
	case strings.HasPrefix(rest, "<<"):
		return s.hereOperator(i)
	case c == '\n' && len(s.here) > 0:
		return s.hereBodies(s.label(i, i+1, bareText))
	}
	return s.pattern(i)
}

// pattern labels a byte, and looks for what may hold a parenthesis that closes
// nothing.
func (s *shellScanner) pattern(i int) int {
	rest := s.line[i:]
	switch {
	case len(s.stack) == 0:
	case strings.HasPrefix(rest, "=~"):
		s.unsure = unsureByte
	case strings.HasPrefix(rest, "case") && wordStart(s.line[:i]):
		s.unsure = unsureByte
		s.push(caseFrame)
	case strings.HasPrefix(rest, "esac") && wordStart(s.line[:i]) && s.top().kind == caseFrame:
		s.pop()
	}
	return s.label(i, i+1, bareText)
}

func wordStart(before string) bool {
	return before == "" || strings.IndexByte(" \t\n;|&()", before[len(before)-1]) >= 0
}

func (s *shellScanner) doubleQuote(i int) int {
	if s.top().kind == quoteFrame {
		end := s.label(i, i+1, doubleQuote)
		s.pop()
		return end
	}
	s.push(quoteFrame)
	return s.label(i, i+1, doubleQuote)
}

// backtick opens a command substitution, or closes the one that is open.
func (s *shellScanner) backtick(i int) int {
	for k := len(s.stack) - 1; k >= 0 && s.stack[k].kind != hereFrame; k-- {
		if s.stack[k].kind == backtickFrame {
			end := s.label(i, i+1, bareText)
			s.stack = s.stack[:k]
			return end
		}
	}
	s.push(backtickFrame)
	return s.label(i, i+1, bareText)
}

func (s *shellScanner) dollar(i int, here shellByte) int {
	switch rest := s.line[i:]; {
	case strings.HasPrefix(rest, "$(("):
		s.push(parenFrame)
		s.push(arithmeticFrame)
		return s.label(i, i+3, here)
	case rest[1] == '(':
		s.push(parenFrame)
		return s.label(i, i+2, here)
	case rest[1] == '{':
		end := s.label(i, i+2, here)
		if here == bareText {
			s.push(braceFrame)
		} else {
			s.push(quotedBrace)
		}
		return end
	case rest[1] == '\'' && here == bareText:
		end := i + 2
		for end < len(s.line) && s.line[end] != '\'' {
			if s.line[end] == '\\' {
				end++
			}
			end++
		}
		return s.label(i, end+1, ansiQuote)
	}
	return s.label(i, i+1, here)
}

// hereOperator labels << and its delimiter, and announces the document. In
// arithmetic << is a shift; what looks like either makes the rest unsure.
func (s *shellScanner) hereOperator(i int) int {
	if i > 0 && !wordStart(s.line[:i]) || s.top().kind == arithmeticFrame {
		s.unsure = unsureByte
	}
	if top := s.top().kind; top == arithmeticFrame || top == braceFrame {
		return s.label(i, i+2, bareText)
	}
	k := i + 2
	var doc hereDoc
	if k < len(s.line) && s.line[k] == '-' {
		doc.tabs = true
		k++
	}
	for k < len(s.line) && (s.line[k] == ' ' || s.line[k] == '\t') {
		k++
	}
	start := k
	for k < len(s.line) && strings.IndexByte(" \t\n;|&<>()", s.line[k]) < 0 {
		k = s.afterPart(k)
	}
	word := s.line[start:k]
	doc.raw = strings.ContainsAny(word, `'"\`)
	doc.delimiter = strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(word)
	if doc.delimiter != "" {
		s.here = append(s.here, doc)
	}
	return s.label(i, max(k, i+2), bareText)
}

// afterPart returns the end of the part of a word at i: a quoted string, an
// escaped character, or a byte.
func (s *shellScanner) afterPart(i int) int {
	switch c := s.line[i]; c {
	case '\'', '"':
		if end := strings.IndexByte(s.line[i+1:], c); end >= 0 {
			return i + 1 + end + 1
		}
	case '\\':
		return min(i+2, len(s.line))
	}
	return i + 1
}

// hereBodies labels the documents that begin at i.
func (s *shellScanner) hereBodies(i int) int {
	announced := s.here
	s.here = nil
	for _, doc := range announced {
		body := i
		for i < len(s.line) {
			line, _, _ := strings.Cut(s.line[i:], "\n")
			end := min(i+len(line)+1, len(s.line))
			if doc.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == doc.delimiter {
				s.hereBody(body, i, doc)
				body = s.label(i, end, rawHereText|insideOfHere)
				i = end
				break
			}
			i = end
		}
		s.hereBody(body, i, doc) // one that is never closed
	}
	return i
}

// hereBody labels the text of a document. Substitutions in it are commands
// like any other, with quoting of their own.
func (s *shellScanner) hereBody(i, end int, doc hereDoc) {
	if doc.raw {
		s.label(i, end, rawHereText|insideOfHere)
		return
	}
	if s.nested == maxHere {
		s.label(i, end, hereText|nestedQuotes|insideOfHere)
		return
	}
	line, depth := s.line, len(s.stack)
	s.line = line[:end]
	s.nested++
	s.push(hereFrame)
	for i < end {
		i = s.step(i)
	}
	s.nested--
	s.line, s.stack, s.here = line, s.stack[:depth], nil
}
