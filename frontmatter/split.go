package frontmatter

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

const (
	bom   = "\uFEFF"
	fence = "---"
)

// view is data as a string without a copy. What is kept of it beyond the call
// has to be cloned, because the caller owns the bytes.
func view(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// lines iterates over the lines of s; LF, CRLF and lone CR end a line (spec F-2).
type lines struct {
	s   string
	pos int // where the next line starts
	n   int // number of the line that next returned last, from 1
	lf  int // offset of the first LF at or after pos, len(s) when there is none
}

func newLines(s string) lines { return lines{s: s, lf: -1} }

// next returns the next line without its end, and where it starts.
func (l *lines) next() (line string, start int, ok bool) {
	if l.pos >= len(l.s) {
		return "", l.pos, false
	}
	if l.lf < l.pos {
		l.lf = len(l.s)
		if i := strings.IndexByte(l.s[l.pos:], '\n'); i >= 0 {
			l.lf = l.pos + i
		}
	}
	start = l.pos
	line = l.s[start:l.lf]
	l.pos = min(l.lf+1, len(l.s))
	l.n++
	if i := strings.IndexByte(line, '\r'); i >= 0 {
		if start+i+1 != l.lf || l.lf == len(l.s) {
			l.pos = start + i + 1 // a lone CR
		}
		line = line[:i]
	}
	return line, start, true
}

// parts is a file cut at its fences; the numbers are offsets in bytes.
type parts struct {
	opened, closed bool
	complete       bool // the line of the closing fence has its end
	head, headEnd  int
	body           int
	bodyLine       int
}

// cut is the only place that looks for fences, so that no two readers of a
// file disagree about where it begins (spec F-2).
func cut(s string) parts {
	start := 0
	if strings.HasPrefix(s, bom) {
		start = len(bom)
	}
	whole := parts{body: start, bodyLine: 1}
	l := newLines(s)
	l.pos = start
	first, _, ok := l.next()
	if !ok || strings.TrimRight(first, " \t") != fence {
		return whole
	}
	p := parts{opened: true, head: l.pos}
	var indented parts
	for {
		line, at, ok := l.next()
		if !ok {
			break
		}
		switch {
		case strings.HasPrefix(line, fence):
			return p.closeAt(&l, at, line[len(fence):], at+len(fence))
		case !indented.closed && len(line) > len(fence) && isBlank(line[0]) && strings.Trim(line, " \t") == fence:
			indented = p.closeAt(&l, at, "", l.pos)
		}
	}
	if indented.closed {
		indented.complete = false // a later fence at column 0 would win
		return indented
	}
	whole.opened = true
	return whole
}

// closeAt completes p with a closing fence on the current line of l, which
// starts at the given offset; rest is what follows the fence on that line.
func (p parts) closeAt(l *lines, at int, rest string, restAt int) parts {
	p.closed, p.headEnd = true, at
	p.complete = l.pos > restAt+len(rest)
	p.body, p.bodyLine = l.pos, l.n+1
	if strings.Trim(rest, " \t") != "" {
		p.body, p.bodyLine = restAt, l.n
	}
	return p
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// validUTF8 is utf8.ValidString for text that may end inside a character,
// which the head of a file does.
func validUTF8(s string) bool { return invalidAt(s) < 0 }

// invalidAt returns the offset of the first byte that is not UTF-8, or -1. A
// character that s ends inside of does not count.
func invalidAt(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			if !utf8.FullRuneInString(s[i:]) {
				return -1
			}
			return i
		}
		i += n
	}
	return -1
}

// position turns an offset into line and column, both from 1, the column in
// characters (spec F-3).
func position(s string, offset int) (line, col int) {
	l := newLines(s)
	for {
		text, start, ok := l.next()
		if !ok || offset < l.pos || l.pos == len(s) {
			if start == 0 {
				start += len(s) - len(strings.TrimPrefix(s, bom))
			}
			upTo := min(max(offset-start, 0), len(text))
			return max(l.n, 1), utf8.RuneCountInString(s[start:start+upTo]) + 1
		}
	}
}

// longestPath is what a link may hold; the head of a larger file is no path.
const longestPath = 1024

// isPath reports whether a file is nothing but a relative path, as git writes
// a link where links are switched off (spec F-1). Blanks are part of a path
// only when it looks like nothing else.
func isPath(s string) bool {
	if len(s) > longestPath || strings.HasPrefix(s, fence) || !utf8.ValidString(s) {
		return false
	}
	s = strings.TrimRight(s, "\r\n")
	if s == "" || strings.ContainsAny(s, "\t\r\n:@`<>()[]{}|*$\"'#") {
		return false
	}
	markdown := strings.HasSuffix(strings.ToLower(s), ".md")
	if strings.HasPrefix(s, "../") || strings.HasPrefix(s, "./") {
		return markdown || strings.IndexByte(s, ' ') < 0
	}
	return markdown && strings.IndexByte(s, ' ') < 0
}
