package prompt

import "strings"

// A fence is the opening line of a fenced code block.
type fence struct {
	start  int // offset of its first mark
	mark   byte
	length int
	indent int // columns before it
	quotes int // block quotation marks before it
	info   string
}

// command reports whether the block is a script to run (spec P-8). The info
// string is the exclamation mark alone: with anything else it is a language.
func (f fence) command() bool { return f.mark == '`' && strings.TrimRight(f.info, " \t") == "!" }

// openFence reads an opening fence from the line body[i:end]. It may stand in
// quotations and list items, and at any depth: steps of nested lists are often
// indented further than Markdown would have it.
func openFence(body string, i, end int) (fence, bool) {
	f := fence{start: i}
	for f.start < end {
		switch rest := body[f.start:end]; rest[0] {
		case ' ':
			f.start++
			f.indent++
		case '\t':
			f.start++
			f.indent += 4 - f.indent%4
		case '>':
			f.start++
			f.indent++
			f.quotes++
		case '`', '~':
			f.mark = rest[0]
			f.length = runLength(rest)
			f.info = rest[f.length:]
			return f, f.length >= 3 && (f.mark == '~' || strings.IndexByte(f.info, '`') < 0)
		default:
			n := listMarker(rest)
			if n == 0 {
				return f, false
			}
			f.start += n
			f.indent += n
		}
	}
	return f, false
}

// runLength returns how often the first byte of s is repeated at its start.
func runLength(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// fence reads the block that f opened and whose content begins at i, and
// returns where the text goes on. A block that is never closed is text to the
// end, commands included: what follows was not meant as a script.
func (p *parser) fence(f fence, i int) int {
	var script strings.Builder
	var lines []textLine
	for i < len(p.body) {
		end, next := p.line(i)
		at, inside := f.content(p.body, i, end)
		if !inside {
			break
		}
		if closed := f.closes(p.body, i, end); closed > 0 {
			text := strings.TrimSuffix(script.String(), "\n")
			if f.command() && !blankLine(text) {
				p.add(piece{kind: commandPiece, start: f.start, end: closed, text: text, fenced: true, lines: lines})
			} else {
				p.code = append(p.code, extent{f.start, end})
			}
			return end
		}
		if f.command() {
			lines = append(lines, textLine{script.Len(), at})
			script.WriteString(p.body[at:end])
			script.WriteByte('\n')
		}
		i = next
	}
	p.code = append(p.code, extent{f.start, i})
	return i
}

// content returns where the content of the line begins, without the quotation
// marks and the indentation of the fence. A line without the marks is outside.
func (f fence) content(body string, i, end int) (at int, inside bool) {
	column, quotes := 0, 0
	for i < end && (column < f.indent || quotes < f.quotes) {
		switch body[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		case '>':
			if quotes++; quotes > f.quotes {
				return i, true
			}
			column++
		default:
			return i, quotes == f.quotes
		}
		i++
	}
	return i, quotes == f.quotes
}

// closes returns where the closing fence on this line ends, or 0. It may be
// indented three columns deeper than the opening one.
func (f fence) closes(body string, i, end int) int {
	g, _ := openFence(body, i, end)
	if g.mark != f.mark || g.length < f.length || g.quotes != f.quotes || g.indent > f.indent+3 || !blankLine(g.info) {
		return 0
	}
	if strings.Trim(body[i:g.start], " \t>") != "" { // a list item that begins with a fence
		return 0
	}
	return g.start + g.length
}
