package gitignore

// maxExpanded bounds the bytes of all results of [ExpandBraces] together.
const maxExpanded = 4 << 20

// ExpandBraces expands {a,b} in pattern, at most max results; over it the
// pattern is returned as it is and ok is false. So it is when the results
// together could exceed 4 MiB.
//
// Groups nest and may have empty alternatives; results come in the order of a
// shell. Braces without a comma ("{a}", "{1..3}"), without a partner, or behind
// a backslash are kept, with the backslash: it is for the matcher. Brackets do
// not protect a brace. A pattern without groups is its own only result.
func ExpandBraces(pattern string, max int) (patterns []string, ok bool) {
	b := braces{pattern: pattern, closing: findGroups(pattern)}
	max = min(max, maxExpanded/(len(pattern)+1))
	if b.count(max) > max {
		return []string{pattern}, false
	}
	patterns, _ = b.expand(0, len(pattern))
	return patterns, true
}

// braces is a pattern with the places of its groups: closing maps the offset of
// each "{" that opens one to that of its "}".
type braces struct {
	pattern string
	closing map[int]int
}

// findGroups pairs braces and keeps the pairs that have a comma of their own.
// What lies inside such a pair is paired too, or escaped.
func findGroups(pattern string) map[int]int {
	type brace struct {
		at    int
		comma bool
	}
	var open []brace
	closing := map[int]int{}
	for i := 0; i < len(pattern); i++ {
		last := len(open) - 1
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '{':
			open = append(open, brace{at: i})
		case last < 0:
		case c == ',':
			open[last].comma = true
		case c == '}':
			if open[last].comma {
				closing[open[last].at] = i
			}
			open = open[:last]
		}
	}
	return closing
}

// count returns how many results there will be, or something over max. It runs
// before anything is built, so that a short pattern cannot ask for much memory;
// and as a group adds at least one result, it bounds how deep expand goes.
func (b braces) count(max int) int {
	type level struct{ sum, product, end int }
	stack := []level{{product: 1, end: len(b.pattern)}}
	for i := 0; i < len(b.pattern); i++ {
		top := &stack[len(stack)-1]
		end, group := b.closing[i]
		switch {
		case b.pattern[i] == '\\':
			i++
		case group:
			stack = append(stack, level{product: 1, end: end})
		case i == top.end:
			sum := top.sum + top.product
			stack = stack[:len(stack)-1]
			outer := &stack[len(stack)-1]
			if outer.product > max/sum {
				return max + 1
			}
			outer.product *= sum
		case b.pattern[i] == ',' && len(stack) > 1:
			top.sum += top.product
			top.product = 1
		}
	}
	return stack[0].product
}

// expand returns the results of the text from i up to the first comma of the
// level it is on, or end, and the offset of that place.
func (b braces) expand(i, end int) (results []string, next int) {
	results = []string{""}
	inGroup := end < len(b.pattern)
	start := i // of text that is not yet in results
	flush := func(tails []string) {
		joined := make([]string, 0, len(results)*len(tails))
		for _, head := range results {
			for _, tail := range tails {
				joined = append(joined, head+tail)
			}
		}
		results = joined
	}
	for ; i < end; i++ {
		stop, group := b.closing[i]
		switch {
		case b.pattern[i] == '\\' && i+1 < end:
			i++
		case inGroup && b.pattern[i] == ',':
			flush([]string{b.pattern[start:i]})
			return results, i
		case group:
			flush([]string{b.pattern[start:i]})
			var alternatives []string
			for i < stop {
				var some []string
				some, i = b.expand(i+1, stop)
				alternatives = append(alternatives, some...)
			}
			flush(alternatives)
			start = stop + 1
		}
	}
	flush([]string{b.pattern[start:end]})
	return results, end
}
