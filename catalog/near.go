package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/text"
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
	want := strings.ToLower(name)
	limit := max(1, utf8.RuneCountInString(want)/3)
	for _, e := range s.ordered {
		if e.State == Disabled {
			continue
		}
		if score, ok := score(want, e.ID, limit); ok {
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

// score tells how near id is to want: 0 is the same but for case, also as last
// part; edits count one each; a common beginning comes after any misspelling.
func score(want, id string, limit int) (score int, ok bool) {
	id = strings.ToLower(id)
	best := scoreText(want, id, limit)
	if i := strings.LastIndexByte(id, ':'); i >= 0 {
		best = min(best, scoreText(want, id[i+1:], limit))
	}
	return best, best <= limit+1
}

func scoreText(want, id string, limit int) int {
	if d := text.Edits(want, id, limit); d <= limit {
		return d
	}
	if hasPrefix(id, want) || hasPrefix(want, id) {
		return limit + 1
	}
	return limit + 2
}

func hasPrefix(s, prefix string) bool {
	return strings.HasPrefix(s, prefix) && utf8.RuneCountInString(prefix) >= minPrefix
}
