package schema

import (
	"fmt"
	"slices"
	"strings"
)

// A node is one schema: what it asks of a value.
type node struct {
	at     string
	checks []check
	last   []check // unevaluatedProperties, unevaluatedItems
	same   []*node // schemas that are applied to the same value
	marks  bool
	state  int // of loop
}

// A check adds what does not fit to a visit, and what it looked at to looked,
// which may be nil.
type check func(v *visit, value any, at string, l *looked)

// looked is what of a value some schema has an opinion on (unevaluated…).
type looked struct {
	names map[string]bool
	items map[int]bool
}

func (l *looked) name(s string) {
	if l != nil {
		l.names[s] = true
	}
}

func (l *looked) item(i int) {
	if l != nil {
		l.items[i] = true
	}
}

func (l *looked) merge(other *looked) {
	if l == nil || other == nil {
		return
	}
	for s := range other.names {
		l.names[s] = true
	}
	for i := range other.items {
		l.items[i] = true
	}
}

// A visit is one check of a value, or of one alternative for it.
type visit struct {
	found []Mismatch
	left  *int // steps
}

func (v *visit) add(at, format string, args ...any) {
	if len(v.found) < maxMismatches {
		v.found = append(v.found, Mismatch{at, fmt.Sprintf(format, args...)})
	}
}

// eval reports whether the value fits.
func (n *node) eval(v *visit, value any, at string, l *looked) bool {
	if *v.left--; *v.left <= 0 {
		return false
	}
	before := len(v.found)
	mine := &looked{names: map[string]bool{}, items: map[int]bool{}}
	if !n.marks {
		mine = nil
	}
	for _, c := range n.checks {
		c(v, value, at, mine)
	}
	if len(v.found) == before && *v.left > 0 {
		for _, c := range n.last {
			c(v, value, at, mine)
		}
	}
	if len(v.found) > before || *v.left <= 0 {
		return false
	}
	l.merge(mine)
	return true
}

// try is eval on the side: what does not fit is returned.
func (n *node) try(v *visit, value any, at string, l *looked) (bool, []Mismatch) {
	side := visit{left: v.left}
	ok := n.eval(&side, value, at, l)
	return ok, side.found
}

// loop reports schemas that are applied to the same value again and again.
func (n *node) loop() error {
	const entered, left = 1, 2
	if n.state == left {
		return nil
	}
	n.state = entered
	for _, m := range n.same {
		if m.state == entered {
			return &Error{n.at, "applies " + pointer(m.at) + " to the same value without end"}
		}
		if err := m.loop(); err != nil {
			return err
		}
	}
	n.state = left
	return nil
}

func pointer(at string) string {
	if at == "" {
		return "the whole schema"
	}
	return clip(at)
}

// fewest returns the shortest of lists, which is the nearest miss.
func fewest(lists [][]Mismatch) []Mismatch {
	return slices.MinFunc(lists, func(a, b []Mismatch) int { return len(a) - len(b) })
}

// join3 writes the first mismatches in one line.
func join3(list []Mismatch) string {
	var out []string
	for _, m := range list[:min(3, len(list))] {
		out = append(out, m.String())
	}
	return strings.Join(out, "; ")
}
