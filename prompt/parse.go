package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Segment is a piece of a parsed body.
type Segment struct {
	Command bool
	Text    string // body text, or the command line
	Raw     string // as written, with its marks
	Line    int
	Column  int
	Fenced  bool // Command: a ```! block
}

// Parse splits a body into text and inline commands (spec P-8). The Raw fields
// of all segments, joined, are the body. Lines and columns count from 1, in
// characters, and are those of the body.
//
// Text differs from Raw in one place: before an inline command a backslash is
// dropped, and makes it text.
func Parse(body string) []Segment {
	doc := parse(body)
	out := make([]Segment, 0, len(doc.pieces))
	at := newPosition(body)
	for _, p := range doc.pieces {
		line, column := at.advance(p.start)
		s := Segment{Command: p.kind == commandPiece, Text: p.text, Raw: body[p.start:p.end], Line: line, Column: column, Fenced: p.fenced}
		if p.kind == textPiece {
			s.Text = s.Raw
		}
		out = append(out, s)
	}
	return out
}

type pieceKind uint8

const (
	textPiece    pieceKind = iota
	commandPiece           // an inline command
	escapePiece            // the backslash before one that is text
)

// A piece is a part of the body, by byte offsets.
type piece struct {
	kind       pieceKind
	start, end int
	text       string // commandPiece: the command line
	fenced     bool
	lines      []textLine // commandPiece: where the lines of text stand
}

// A textLine is a line of a command: its offset in the command's text and in
// the body. They differ in a script, which has its indentation removed.
type textLine struct{ text, body int }

// An extent is a part of the body, by byte offsets.
type extent struct{ start, end int }

// A document is a parsed body.
type document struct {
	body   string
	pieces []piece
	code   []extent // fences and code spans that are text, in order
}

// A parser reads a body line by line, as Markdown: fences first, then
// paragraphs, because a code span may go over a line's end but not over a
// paragraph's.
type parser struct {
	document
	done int  // end of the last piece
	cr   bool // the body has carriage returns
	// marks says where the next three of each fence mark are; few lines have any.
	marks [2]int
	runs  []extent
	last  []int // by length of a run of backticks: 1 + index of the last such run
}

func parse(body string) document {
	p := parser{document: document{body: body}, cr: strings.IndexByte(body, '\r') >= 0, marks: [2]int{-1, -1}}
	for i := 0; i < len(body); {
		end, next := p.line(i)
		if f, ok := p.openFence(i, end); ok {
			i = p.fence(f, next)
			continue
		}
		for next < len(body) {
			e, n := p.line(next)
			if p.startsBlock(next, e) {
				break
			}
			next = n
		}
		p.inline(i, next)
		i = next
	}
	p.text(len(body))
	return p.document
}

// line returns where the line that begins at i ends, without and with its
// terminator: \n, \r\n or \r.
func (p *parser) line(i int) (end, next int) {
	var k int
	if p.cr {
		k = strings.IndexAny(p.body[i:], "\r\n")
	} else {
		k = strings.IndexByte(p.body[i:], '\n')
	}
	if k < 0 {
		return len(p.body), len(p.body)
	}
	end = i + k
	if strings.HasPrefix(p.body[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// openFence reads an opening fence from the line body[i:end]. Lines are asked
// about in order.
func (p *parser) openFence(i, end int) (fence, bool) {
	if p.marks[0] < i || p.marks[1] < i {
		p.findMarks(i)
	}
	if p.marks[0] >= end && p.marks[1] >= end {
		return fence{}, false
	}
	return openFence(p.body, i, end)
}

// findMarks looks for the next fence marks at i or behind.
func (p *parser) findMarks(i int) {
	for k, marks := range [...]string{"```", "~~~"} {
		if p.marks[k] >= i {
			continue
		}
		if n := strings.Index(p.body[i:], marks); n >= 0 {
			p.marks[k] = i + n
		} else {
			p.marks[k] = len(p.body)
		}
	}
}

// text ends the text before i as a piece.
func (p *parser) text(i int) {
	if i > p.done {
		p.pieces = append(p.pieces, piece{kind: textPiece, start: p.done, end: i})
		p.done = i
	}
}

// add appends a piece, after the text before it.
func (p *parser) add(q piece) {
	p.text(q.start)
	p.pieces = append(p.pieces, q)
	p.done = q.end
}

func blankLine(s string) bool { return skipBlanks(s) == len(s) }

// skipBlanks returns the offset of the first character of s that is no blank.
func skipBlanks(s string) int {
	i := 0
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

// startsBlock reports whether a code span that is open on the line before
// cannot go on in this one: a blank line, a fence, a heading, a list item, a
// quotation, a table row.
func (p *parser) startsBlock(i, end int) bool {
	rest := p.body[i:end]
	rest = rest[skipBlanks(rest):]
	if rest == "" {
		return true
	}
	switch rest[0] {
	case '#', '>', '|':
		return true
	case '`', '~':
		_, ok := p.openFence(i, end)
		return ok
	}
	return listMarker(rest) > 0
}

// listMarker returns the length of the list marker at the start of s, with the
// blank behind it, or 0.
func listMarker(s string) int {
	k := 0
	for k < len(s) && k < 9 && isDigit(s[k]) {
		k++
	}
	switch {
	case k == 0 && s != "" && (s[0] == '-' || s[0] == '*' || s[0] == '+'):
	case k > 0 && k < len(s) && (s[k] == '.' || s[k] == ')'):
	default:
		return 0
	}
	if k++; k < len(s) && (s[k] == ' ' || s[k] == '\t') {
		return k + 1
	}
	return 0
}

// position turns rising byte offsets into lines and columns.
type position struct {
	body   string
	cr     bool // the body has carriage returns
	offset int
	line   int // complete lines before offset
	column int // characters of the line before offset
}

func newPosition(body string) position {
	return position{body: body, cr: strings.IndexByte(body, '\r') >= 0}
}

// advance returns the line and column, from 1, of offset i, which must not be
// before the last one.
func (p *position) advance(i int) (line, column int) {
	if p.cr {
		p.step(i)
		return p.line + 1, p.column + 1
	}
	passed := p.body[p.offset:i]
	if n := strings.Count(passed, "\n"); n > 0 {
		p.line += n
		p.column = 0
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	p.column += utf8.RuneCountInString(passed)
	p.offset = i
	return p.line + 1, p.column + 1
}

// step advances byte by byte: a carriage return ends a line unless a newline
// follows.
func (p *position) step(i int) {
	for ; p.offset < i; p.offset++ {
		switch c := p.body[p.offset]; {
		case c == '\n', c == '\r' && !strings.HasPrefix(p.body[p.offset+1:], "\n"):
			p.line++
			p.column = 0
		case utf8.RuneStart(c):
			p.column++
		}
	}
}

// spaceBefore reports whether i is the start of the text or follows white space.
func spaceBefore(s string, i int) bool {
	if i == 0 {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsSpace(r)
}
