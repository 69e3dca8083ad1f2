package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxNear     = 3   // near names in an error (spec C-6)
	maxNearName = 100 // characters; no longer name is looked for
	minPrefix   = 3   // characters; shorter beginnings are near to everything
)

// near returns up to three names that look like name, best first. They are
// only ever shown, never run (spec C-6). Skills that are switched off are left
// out. A shadowed skill that lost exactly this id is named by its qualified id.
func (s *Snapshot) near(name string) []string {
	n := utf8.RuneCountInString(name)
	if n == 0 || n > maxNearName {
		return nil
	}
	type candidate struct {
		id    string
		score int
	}
	var found []candidate
	want := []rune(strings.ToLower(name))
	var d distance
	for _, e := range s.ordered {
		if e.State == Disabled {
			continue
		}
		if score, ok := d.score(want, e.ID); ok {
			found = append(found, candidate{e.ID, score})
		}
	}
	for _, e := range s.shadowed {
		if e.bare == name && e.State != Disabled {
			found = append(found, candidate{e.Qualified, 0})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.id, b.id))
	})
	var out []string
	for _, c := range found[:min(len(found), maxNear)] {
		out = append(out, c.id)
	}
	return out
}

// A distance holds the rows of the edit distance table, used again and again.
type distance struct {
	id   []rune
	rows [3][]int
}

// score tells how near id is to want: 0 is the same but for case, also as last
// part; edits count one each; a common beginning comes after any misspelling.
func (d *distance) score(want []rune, id string) (score int, ok bool) {
	id = strings.ToLower(id)
	limit := max(1, len(want)/3)
	best := d.scoreText(want, id, limit)
	if i := strings.LastIndexByte(id, ':'); i >= 0 {
		best = min(best, d.scoreText(want, id[i+1:], limit))
	}
	return best, best <= limit+1
}

func (d *distance) scoreText(want []rune, text string, limit int) int {
	d.id = d.id[:0]
	for _, r := range text {
		d.id = append(d.id, r)
	}
	best := d.edits(want, d.id, limit)
	if best > limit && (hasPrefix(d.id, want) || hasPrefix(want, d.id)) {
		return limit + 1
	}
	return best
}

func hasPrefix(s, prefix []rune) bool {
	return len(prefix) >= minPrefix && len(s) >= len(prefix) && slices.Equal(s[:len(prefix)], prefix)
}

// edits counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b. It gives up, with a number above limit+1, when there are
// more than limit.
func (d *distance) edits(a, b []rune, limit int) int {
	tooFar := limit + 2
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return tooFar
	}
	for i := range d.rows {
		d.rows[i] = slices.Grow(d.rows[i][:0], len(b)+1)[:len(b)+1]
	}
	before, prev, row := d.rows[0], d.rows[1], d.rows[2]
	for j := range prev {
		prev[j] = j
	}
	lastLeast := 0
	for i, r := range a {
		row[0] = i + 1
		least := row[0]
		for j, q := range b {
			n := min(prev[j+1], row[j]) + 1
			if r == q {
				n = min(n, prev[j])
			} else {
				n = min(n, prev[j]+1)
			}
			if i > 0 && j > 0 && r == b[j-1] && a[i-1] == q {
				n = min(n, before[j-1]+1)
			}
			row[j+1] = n
			least = min(least, n)
		}
		if least > limit && lastLeast > limit { // a swap reaches back two rows
			return tooFar
		}
		lastLeast = least
		before, prev, row = prev, row, before
	}
	if n := prev[len(b)]; n <= limit {
		return n
	}
	return tooFar
}
