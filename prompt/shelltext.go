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

	quotingMask = 0x0f

	escapedByte  shellByte = 0x10 // a backslash, or the byte that it protects
	nestedQuotes shellByte = 0x20 // inside `…` or ${…}, where quoting has rules of its own
	insideOfList shellByte = 0x40 // inside (…), $(…), ${…} or `…`
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
)

// A shellScanner labels the bytes of a command line. It follows the rules of
// quoting, not the grammar: it is not a judge of what may run, and where it is
// in doubt, expansion falls back to what is safe in any context.
type shellScanner struct {
	line   string
	labels []shellByte
	stack  []byte
	here   []hereDoc // announced on this line, begin after its end
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

func (s *shellScanner) top() byte {
	if len(s.stack) == 0 {
		return 0
	}
	return s.stack[len(s.stack)-1]
}

func (s *shellScanner) push(frame byte) { s.stack = append(s.stack, frame) }

func (s *shellScanner) pop() { s.stack = s.stack[:len(s.stack)-1] }

// quoted reports whether the scanner is inside double quotes.
func (s *shellScanner) quoted() bool { return s.top() == quoteFrame || s.top() == quotedBrace }

// label marks line[i:end] with the quoting b and the nesting of the moment.
func (s *shellScanner) label(i, end int, b shellByte) int {
	for _, frame := range s.stack {
		switch frame {
		case backtickFrame, braceFrame, quotedBrace:
			b |= nestedQuotes | insideOfList
		case parenFrame, arithmeticFrame:
			b |= insideOfList
		}
	}
	end = min(end, len(s.line))
	for ; i < end; i++ {
		s.labels[i] = b
	}
	return end
}

// step labels what begins at i and returns where the next step begins.
func (s *shellScanner) step(i int) int {
	here := bareText
	if s.quoted() {
		here = doubleQuote
	}
	switch c := s.line[i]; {
	case c == '\\':
		return s.label(i, i+2, here|escapedByte)
	case c == '"':
		return s.doubleQuote(i)
	case c == '`':
		return s.backtick(i)
	case c == '$' && i+1 < len(s.line):
		return s.dollar(i, here)
	case c == '}' && (s.top() == braceFrame || s.top() == quotedBrace),
		c == ')' && (s.top() == parenFrame || s.top() == arithmeticFrame):
		end := s.label(i, i+1, here)
		s.pop()
		return end
	case here == doubleQuote:
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
	case c == '(':
		s.push(parenFrame)
		return s.label(i, i+1, bareText)
	case c == '#' && s.top() != braceFrame && wordStart(s.line[:i]):
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		return s.label(i, i+end, commentText)
	case strings.HasPrefix(rest, "<<<"):
		return s.label(i, i+3, bareText)
	case strings.HasPrefix(rest, "<<") && s.top() != arithmeticFrame:
		return s.hereOperator(i)
	case c == '\n' && len(s.here) > 0:
		return s.hereBodies(s.label(i, i+1, bareText))
	}
	return s.label(i, i+1, bareText)
}

func wordStart(before string) bool {
	return before == "" || strings.IndexByte(" \t\n;|&()", before[len(before)-1]) >= 0
}

func (s *shellScanner) doubleQuote(i int) int {
	if s.top() == quoteFrame {
		end := s.label(i, i+1, doubleQuote)
		s.pop()
		return end
	}
	s.push(quoteFrame)
	return s.label(i, i+1, doubleQuote)
}

// backtick opens a command substitution, or closes the one that is open.
func (s *shellScanner) backtick(i int) int {
	for k := len(s.stack) - 1; k >= 0; k-- {
		if s.stack[k] == backtickFrame {
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
		if here == doubleQuote {
			s.push(quotedBrace)
		} else {
			s.push(braceFrame)
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

// hereOperator labels << and its delimiter, and announces the document.
func (s *shellScanner) hereOperator(i int) int {
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
		k++
	}
	word := s.line[start:k]
	doc.raw = strings.ContainsAny(word, `'"\`)
	doc.delimiter = strings.NewReplacer(`'`, "", `"`, "", `\`, "").Replace(word)
	if doc.delimiter != "" {
		s.here = append(s.here, doc)
	}
	return s.label(i, max(k, i+2), bareText)
}

// hereBodies labels the documents that begin at i.
func (s *shellScanner) hereBodies(i int) int {
	for _, doc := range s.here {
		b := hereText
		if doc.raw {
			b = rawHereText
		}
		for i < len(s.line) {
			line, _, _ := strings.Cut(s.line[i:], "\n")
			end := i + len(line) + 1
			if doc.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == doc.delimiter {
				i = s.label(i, end, b)
				break
			}
			i = s.hereLine(i, end, b)
		}
	}
	s.here = nil
	return i
}

// hereLine labels one line of a document. Backslashes protect in an expanded
// one; commands inside of it are not followed.
func (s *shellScanner) hereLine(i, end int, b shellByte) int {
	end = min(end, len(s.line))
	for i < end {
		if b == hereText && s.line[i] == '\\' && i+1 < end {
			i = s.label(i, i+2, b|escapedByte)
		} else {
			i = s.label(i, i+1, b)
		}
	}
	return end
}
