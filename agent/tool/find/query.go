package find

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// A query is what is looked for in each file.
type query struct {
	re            *regexp.Regexp
	literal       []byte // what every match begins with; empty when that is open
	across        bool   // matches may span lines
	before, after int
	numbers       bool
	lines         bool // lines are shown, not just counted
	most          int  // lines shown of one file
}

// newQuery compiles a pattern.
func newQuery(pattern string, fold, across bool) (query, error) {
	flags := ""
	if fold {
		flags += "i"
	}
	if across {
		flags += "ms"
	}
	whole := pattern
	if flags != "" {
		whole = "(?" + flags + ")" + pattern
	}
	re, err := regexp.Compile(whole)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return query{}, fmt.Errorf(`Grep: the pattern is no regular expression: %s. The syntax is RE2: write \( \[ \{ for brackets that are meant as such; look-around and back-references do not exist`, why)
	}
	if !across {
		if tree, err := syntax.Parse(whole, syntax.Perl); err == nil && wantsNewline(tree) {
			return query{}, fmt.Errorf("Grep: the pattern looks for a line end, which no line has in it: set multiline to true")
		}
	}
	q := query{re: re, across: across}
	prefix, _ := re.LiteralPrefix()
	q.literal = []byte(prefix)
	return q, nil
}

// wantsNewline reports whether a match must hold a newline that is written out.
func wantsNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return slices.ContainsFunc(re.Sub, wantsNewline)
	}
	return false
}

// A hit is one line of a file that is shown.
type hit struct {
	number int
	text   string
	match  bool // not context
	gap    bool // lines are missing before it
}

// A result is what a query finds in one file.
type result struct {
	count int // lines that match, or matches that may span lines
	hits  []hit
	more  bool // not all are in hits
}

// search looks through a file.
func (q *query) search(content []byte) result {
	var spans [][2]int // of what matches, in order
	var out result
	if q.across {
		spans, out.count = q.spans(content)
	} else {
		spans, out.count = q.matching(content)
	}
	if q.lines && len(spans) > 0 {
		out.hits, out.more = q.show(content, spans)
		out.more = out.more || out.count > len(spans)
	}
	return out
}

// matching finds the lines that match. It keeps as many as are shown and counts
// the others.
func (q *query) matching(content []byte) (lines [][2]int, n int) {
	for at := 0; at < len(content); {
		start := at
		if len(q.literal) > 0 {
			i := bytes.Index(content[at:], q.literal)
			if i < 0 {
				break
			}
			start = at + bytes.LastIndexByte(content[at:at+i], '\n') + 1
		}
		end := len(content)
		if i := bytes.IndexByte(content[start:], '\n'); i >= 0 {
			end = start + i
		}
		if q.re.Match(bytes.TrimSuffix(content[start:end], []byte("\r"))) {
			if n++; q.lines && n <= q.most {
				lines = append(lines, [2]int{start, end})
			}
		}
		at = end + 1
	}
	return lines, n
}

// maxSpans bounds the matches of one file that may span lines.
const maxSpans = 10_000

func (q *query) spans(content []byte) (spans [][2]int, n int) {
	for _, m := range q.re.FindAllIndex(content, maxSpans) {
		if n++; q.lines && n <= q.most {
			spans = append(spans, [2]int{m[0], m[1]})
		}
	}
	return spans, n
}

// show writes the lines of the spans with those around them, each line once.
func (q *query) show(content []byte, spans [][2]int) (hits []hit, more bool) {
	starts := lineStarts(content)
	lineAt := func(offset int) int {
		i, exact := slices.BinarySearch(starts, offset)
		if !exact {
			i--
		}
		return i
	}
	matched := map[int]bool{}
	var order []int
	for _, s := range spans {
		first, last := lineAt(s[0]), lineAt(max(s[1]-1, s[0]))
		for l := first; l <= last && l < len(starts); l++ {
			if !matched[l] {
				matched[l] = true
				order = append(order, l)
			}
		}
	}
	next := 0 // the first line that was not looked at
	for _, l := range order {
		for i := max(l-q.before, next); i <= l+q.after && i < len(starts); i++ {
			if len(hits) >= q.most {
				return hits, true
			}
			hits = append(hits, hit{i + 1, q.line(content, starts, i), matched[i], i > next && len(hits) > 0})
			next = i + 1
		}
	}
	return hits, false
}

// lineStarts returns where lines begin. What follows the last newline is only a
// line when there is something.
func lineStarts(content []byte) []int {
	var starts []int
	for at := 0; at < len(content); {
		starts = append(starts, at)
		i := bytes.IndexByte(content[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return starts
}

// maxColumns is how much of a long line is shown, in characters.
const maxColumns = 500

// line is one line without its end, cut around what matches in it.
func (q *query) line(content []byte, starts []int, i int) string {
	end := len(content)
	if i+1 < len(starts) {
		end = starts[i+1]
	}
	raw := bytes.TrimRight(content[starts[i]:end], "\r\n")
	if len(raw) <= maxColumns {
		return strings.ToValidUTF8(string(raw), "\ufffd")
	}
	from := 0
	if at := q.re.FindIndex(raw); at != nil {
		from = max(at[0]-maxColumns/4, 0)
	}
	to := min(from+maxColumns, len(raw))
	shown := strings.ToValidUTF8(string(raw[from:to]), "")
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(raw) {
		shown += "…"
	}
	return shown
}
