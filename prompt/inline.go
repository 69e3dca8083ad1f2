package prompt

import (
	"sort"
	"strings"
)

// inline reads a paragraph, body[i:end]: code spans, inline commands, and
// backslashes before either.
func (p *parser) inline(i, end int) {
	first := strings.IndexByte(p.body[i:end], '`')
	if first < 0 {
		return
	}
	p.findRuns(i+first, end)
	backslash, run := i, 0
	for i < end {
		for run < len(p.runs) && p.runs[run].end <= i {
			run++
		}
		if run == len(p.runs) {
			return
		}
		if backslash = max(backslash, i); backslash < end && p.body[backslash] != '\\' {
			if k := strings.IndexByte(p.body[backslash:end], '\\'); k >= 0 {
				backslash += k
			} else {
				backslash = end
			}
		}
		if backtick := max(i, p.runs[run].start); backtick < backslash {
			i = p.backtick(backtick, end)
		} else {
			i = p.backslash(backslash, end)
		}
	}
}

// findRuns lists the runs of backticks in body[i:end].
func (p *parser) findRuns(i, end int) {
	for _, r := range p.runs {
		p.last[r.end-r.start] = 0
	}
	p.runs = p.runs[:0]
	for i < end {
		k := strings.IndexByte(p.body[i:end], '`')
		if k < 0 {
			return
		}
		i += k
		n := runLength(p.body[i:end])
		p.runs = append(p.runs, extent{i, i + n})
		if n >= len(p.last) {
			p.last = append(p.last, make([]int, n+1-len(p.last))...)
		}
		p.last[n] = len(p.runs)
		i += n
	}
}

// closing returns the next run of exactly n backticks from offset i on.
func (p *parser) closing(i, n int) (extent, bool) {
	k := sort.Search(len(p.runs), func(k int) bool { return p.runs[k].start >= i })
	if n >= len(p.last) || p.last[n] <= k {
		return extent{}, false
	}
	for ; ; k++ {
		if r := p.runs[k]; r.end-r.start == n {
			return r, true
		}
	}
}

// backslash reads the backslash at i. Before an inline command it is dropped;
// before any other mark it makes that mark text.
func (p *parser) backslash(i, end int) int {
	if i+1 >= end {
		return end
	}
	switch p.body[i+1] {
	case '!':
		if _, ok := p.command(i+2, end); ok {
			p.add(piece{kind: escapePiece, start: i, end: i + 1})
			return i + 2 // the code span, which is text, comes next
		}
		return i + 2
	case '\\', '`':
		return i + 2
	}
	return i + 1
}

// backtick reads the run of backticks at i: an inline command, a code span or
// text.
func (p *parser) backtick(i, end int) int {
	if p.body[max(i-1, 0)] == '!' && spaceBefore(p.body, i-1) {
		if closing, ok := p.command(i, end); ok {
			p.add(piece{
				kind: commandPiece, start: i - 1, end: closing.end,
				text: p.body[i+1 : closing.start], lines: []textLine{{0, i + 1}},
			})
			return closing.end
		}
	}
	n := runLength(p.body[i:end])
	closing, ok := p.closing(i+n, n)
	if !ok || n == 1 && p.stray(i, closing, end) {
		return i + n
	}
	p.code = append(p.code, extent{i, closing.end})
	return closing.end
}

// command returns the mark that closes the command whose opening mark may be
// at i: single backticks on one line, with something between.
func (p *parser) command(i, end int) (closing extent, ok bool) {
	if i >= end || p.body[i] != '`' || runLength(p.body[i:end]) != 1 {
		return extent{}, false
	}
	closing, ok = p.closing(i+1, 1)
	if !ok {
		return extent{}, false
	}
	text := p.body[i+1 : closing.start]
	return closing, !strings.ContainsAny(text, "\r\n") && !blankLine(text)
}

// stray reports whether the single backtick at i stands for itself. Markdown
// would take it and the opening mark of a command on a later line for one code
// span; a forgotten backtick must not switch off the commands after it.
func (p *parser) stray(i int, closing extent, end int) bool {
	k := closing.start
	if p.body[k-1] != '!' || !spaceBefore(p.body, k-1) || !strings.ContainsAny(p.body[i:k], "\r\n") {
		return false
	}
	_, ok := p.command(k, end)
	return ok
}
