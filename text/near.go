package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Edits counts the characters to insert, remove, replace or swap with their
// neighbour to get from a to b; no character is changed twice. It stops counting
// when there are more than limit, and returns limit+1 then. It allocates nothing
// for short words.
func Edits(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	tooFar := limit + 1
	if limit < 0 || len(x)-len(y) > limit || len(y)-len(x) > limit {
		return max(tooFar, 0)
	}
	var space [3 * 64]int
	all, n := space[:], len(y)+1
	if 3*n > len(all) {
		all = make([]int, 3*n)
	}
	before, last, row := all[:n], all[n:2*n], all[2*n:3*n]
	for j := range last {
		last[j] = j
	}
	lastLeast := 0
	for i, r := range x {
		row[0] = i + 1
		least := row[0]
		for j, q := range y {
			d := last[j]
			if r != q {
				d++
			}
			d = min(d, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && r == y[j-1] && x[i-1] == q {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
			least = min(least, d)
		}
		if least > limit && lastLeast > limit { // a swap reaches back two rows
			return tooFar
		}
		lastLeast = least
		before, last, row = last, row, before
	}
	return min(last[len(y)], tooFar)
}

const (
	longestNear = 100 // characters; nobody mistypes a longer name
	minStart    = 3   // characters; a shorter beginning is near to everything
)

// Near returns up to n of names that word may be a mistyped form of, best first:
// fewer edits, then a longer common beginning, then their order. Names are compared without case, hyphens,
// underscores and spaces, whole and by the part behind the last colon. Near are
// those of which one letter in three, and at least one, is wrong; after them
// those of which word is the beginning, or the other way round.
func Near(word string, names []string, n int) []string {
	want := letters(word)
	if want == "" || utf8.RuneCountInString(want) > longestNear {
		return nil
	}
	type hit struct {
		name  string
		score int
	}
	var hits []hit
	for _, name := range names {
		score, ok := nearness(want, letters(name))
		if at := strings.LastIndexByte(name, ':'); at >= 0 {
			if s, near := nearness(want, letters(name[at+1:])); near && (!ok || s < score) {
				score, ok = s, true
			}
		}
		if ok {
			hits = append(hits, hit{name, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(common(want, b.name), common(want, a.name)))
	})
	var out []string
	for _, h := range hits[:min(len(hits), max(n, 0))] {
		out = append(out, h.name)
	}
	return out
}

// nearness is the number of wrong letters, or longestNear for a common beginning.
func nearness(want, got string) (score int, ok bool) {
	shorter := min(utf8.RuneCountInString(want), utf8.RuneCountInString(got))
	limit := shorter / 3
	if shorter > 1 { // one letter is one edit from every other
		limit = max(limit, 1)
	}
	if d := Edits(want, got, limit); d <= limit {
		return d, true
	}
	return longestNear, shorter >= minStart && (strings.HasPrefix(got, want) || strings.HasPrefix(want, got))
}

// common is how many bytes the last part of name begins with that want does too.
func common(want, name string) int {
	name = letters(name[strings.LastIndexByte(name, ':')+1:])
	n := 0
	for n < min(len(want), len(name)) && want[n] == name[n] {
		n++
	}
	return n
}

// letters drops what spellings of one name differ in.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}
