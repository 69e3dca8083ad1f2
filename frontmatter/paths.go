package frontmatter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// Bounds on the patterns of one skill, braces expanded.
const (
	maxPatterns     = 1000
	maxPatternBytes = 256 << 10
	maxBraced       = 1 << 10 // bytes of one pattern with braces
)

// paths reads the patterns of conditional activation (spec D-3). A value that
// cannot be used leaves the skill conditional without a pattern: a typo must
// not make it visible everywhere.
func (f *filler) paths(e *entry) {
	t := &f.s.Trigger
	t.Conditional, t.Paths = false, nil
	if e.val.kind == null || e.val.kind == list && len(e.val.items) == 0 {
		return
	}
	got := itemsOf(e)
	if got.lost {
		t.Conditional = true
		if e.lost {
			f.lose(e)
			return
		}
		f.bad(e, "a list of patterns", "no file activates the skill")
		return
	}
	var one [1]string
	parts := got.all(&one)
	if got.list {
		parts = rejoinBraces(parts)
	}
	var written []string
	for _, part := range parts {
		written, _ = splitDepth(part, '{', '}', ",\r\n", written)
	}
	if len(written) == 0 && strings.TrimSpace(strings.Join(parts, "")) == "" && !got.list {
		return // empty text
	}
	t.Conditional = true
	if e.val.kind != list && e.val.marked || slices.ContainsFunc(e.val.items, func(v value) bool { return v.marked }) {
		f.report(skill.Warning, "text-shortened", e, "YAML would lose a pattern of `"+e.key+"` that starts with `!` or `&`; the source was taken",
			"put the pattern in quotes")
	}
	if t.Paths = f.expand(e, written); len(t.Paths) == 0 {
		f.bad(e, "a list of patterns", "no file activates the skill")
	}
}

// rejoinBraces undoes what a flow list does to `*.{ts,tsx}`.
func rejoinBraces(parts []string) []string {
	joined := rejoin(parts, '{', '}')
	for i, p := range joined {
		if len(joined) < len(parts) {
			joined[i] = strings.ReplaceAll(p, ", ", ",")
		}
	}
	return joined
}

// expand expands braces within the bounds.
func (f *filler) expand(e *entry, written []string) []string {
	var all []string
	if len(written) > 0 {
		all = make([]string, 0, len(written))
	}
	size, over := 0, 0
	for _, p := range written {
		if p = bare(p); p == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(p, "./"); ok && rest != "" {
			p = "/" + rest
		}
		n := maxPatterns + 1
		if len(p) <= maxBraced || strings.IndexByte(p, '{') < 0 {
			n = alternatives(p, maxPatterns+1)
		}
		switch {
		case len(all)+1 > maxPatterns:
			over++
		case len(all)+n > maxPatterns || size+n*len(p) > maxPatternBytes:
			over++
			all = append(all, p)
		default:
			all = appendExpanded(all, "", p)
			size += n * len(p)
		}
	}
	if over > 0 {
		f.report(skill.Warning, "too-many-patterns", e,
			fmt.Sprintf("`paths` stands for more than %d patterns; %d of them are not expanded or not used", maxPatterns, over),
			"use ** instead of long lists")
	}
	return all
}

// group finds the first brace group of p that has a comma: p[open] is its
// brace, commas and the closing brace are in marks.
func group(p string) (open int, marks []int) {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			if marks = groupAt(p, i); len(marks) > 1 {
				return i, marks
			}
		}
	}
	return -1, nil
}

func groupAt(p string, open int) []int {
	var marks []int
	depth := 0
	for i := open; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				marks = append(marks, i)
			}
		case '}':
			if depth--; depth == 0 {
				return append(marks, i)
			}
		}
	}
	return nil
}

// alternatives counts what p expands to, up to limit.
func alternatives(p string, limit int) int {
	open, marks := group(p)
	if open < 0 {
		return 1
	}
	n, from := 0, open+1
	for _, m := range marks {
		n += alternatives(p[from:m], limit)
		from = m + 1
		if n >= limit {
			return limit
		}
	}
	return min(n*alternatives(p[from:], limit), limit)
}

// appendExpanded appends every expansion of p, each behind prefix.
func appendExpanded(all []string, prefix, p string) []string {
	open, marks := group(p)
	if open < 0 {
		return append(all, prefix+p)
	}
	tail := p[marks[len(marks)-1]+1:]
	from := open + 1
	for _, m := range marks {
		for _, inner := range appendExpanded(nil, "", p[from:m]) {
			all = appendExpanded(all, prefix+p[:open]+inner, tail)
		}
		from = m + 1
	}
	return all
}
