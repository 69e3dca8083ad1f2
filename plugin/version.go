package plugin

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A number is a version that was read. Numbers that are missing are -1.
type number struct {
	part [3]int
	pre  string
}

// readNumber reads 1.2.3-pre+build, where parts may be missing, x or *.
func readNumber(s string) (n number, ok bool) {
	s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "="), "v")
	s, _, _ = strings.Cut(s, "+")
	main, pre, has := strings.Cut(s, "-")
	if n.pre = pre; has && pre == "" {
		return n, false
	}
	parts := strings.Split(main, ".")
	if len(parts) > 3 {
		return n, false
	}
	n.part = [3]int{-1, -1, -1}
	for i, p := range parts {
		if p == "" || p == "x" || p == "X" || p == "*" {
			return n, p != "" || main == ""
		}
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || len(p) > 9 {
			return n, false
		}
		n.part[i] = v
	}
	return n, true
}

func (n number) full() bool { return n.part[2] >= 0 }

// zeroed has zeros for what is missing.
func (n number) zeroed() number {
	for i, p := range n.part {
		n.part[i] = max(p, 0)
	}
	return n
}

// next is the number after the last that begins with the first i+1 parts of n.
func (n number) next(i int) number {
	out := number{pre: "0"} // before all releases of the next one
	whole := n.zeroed()
	copy(out.part[:], whole.part[:i+1])
	out.part[i]++
	return out
}

func (n number) compare(o number) int {
	for i := range n.part {
		if c := cmp.Compare(n.part[i], o.part[i]); c != 0 {
			return c
		}
	}
	switch {
	case n.pre == o.pre:
		return 0
	case n.pre == "":
		return 1
	case o.pre == "":
		return -1
	}
	a, b := strings.Split(n.pre, "."), strings.Split(o.pre, ".")
	for i := range min(len(a), len(b)) {
		x, xerr := strconv.Atoi(a[i])
		y, yerr := strconv.Atoi(b[i])
		c := strings.Compare(a[i], b[i])
		switch {
		case xerr == nil && yerr == nil:
			c = cmp.Compare(x, y)
		case xerr == nil:
			c = -1
		case yerr == nil:
			c = 1
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// Compare orders two versions by number; what is none comes first, by bytes.
func Compare(a, b string) int {
	x, xok := readNumber(a)
	y, yok := readNumber(b)
	switch {
	case xok && yok:
		return cmp.Or(x.zeroed().compare(y.zeroed()), strings.Compare(a, b))
	case xok:
		return 1
	case yok:
		return -1
	}
	return strings.Compare(a, b)
}

// A Range is a set of versions in the notation of npm: 1.2, ^1.2.3, ~1.2,
// >=1 <3, 1.x, 1.2 - 2, and several of these joined by ||.
type Range struct{ any [][]bound }

// A bound is one end of a range: op is <, <=, >, >= or =.
type bound struct {
	op string
	number
}

// ParseRange reads a range; the empty text is every version.
func ParseRange(s string) (Range, error) {
	var r Range
	for alternative := range strings.SplitSeq(s, "||") {
		all := []bound{}
		if low, high, ok := strings.Cut(alternative, " - "); ok {
			alternative = ">=" + strings.TrimSpace(low) + " <=" + strings.TrimSpace(high)
		}
		words := strings.Fields(strings.NewReplacer(">= ", ">=", "<= ", "<=", "> ", ">", "< ", "<", "^ ", "^", "~ ", "~", "= ", "=").Replace(alternative))
		for _, word := range words {
			bounds, err := readBound(word)
			if err != nil {
				return Range{}, fmt.Errorf("%q is no range of versions", s)
			}
			all = append(all, bounds...)
		}
		r.any = append(r.any, all)
	}
	return r, nil
}

func readBound(word string) ([]bound, error) {
	rest := strings.TrimLeft(word, "<>=^~")
	op := word[:len(word)-len(rest)]
	n, ok := readNumber(rest)
	if !ok {
		return nil, fmt.Errorf("%q is no version", rest)
	}
	last := 2 // the last part that is given
	for last > 0 && n.part[last] < 0 {
		last--
	}
	low := bound{">=", n.zeroed()}
	switch op {
	case "", "=":
		if n.part[0] < 0 {
			return nil, nil
		}
		if n.full() {
			return []bound{{"=", n}}, nil
		}
		return []bound{low, {"<", n.next(last)}}, nil
	case "~", "~>":
		return []bound{low, {"<", n.next(min(last, 1))}}, nil
	case "^":
		first := 0
		for first < last && n.part[first] == 0 {
			first++
		}
		return []bound{low, {"<", n.next(first)}}, nil
	case "<", ">=":
		return []bound{{op, n.zeroed()}}, nil
	case ">", "<=":
		if n.full() {
			return []bound{{op, n}}, nil
		}
		return []bound{{map[string]string{">": ">=", "<=": "<"}[op], n.next(last)}}, nil
	}
	return nil, fmt.Errorf("%q is no comparison", op)
}

// Has reports whether the version lies in the range. One before a release counts
// only when the range names one of the same release.
func (r Range) Has(version string) bool {
	v, ok := readNumber(version)
	if !ok || v.part[0] < 0 {
		return false
	}
	v = v.zeroed()
	for _, all := range r.any {
		fits, named := true, v.pre == ""
		for _, b := range all {
			c := v.compare(b.number)
			switch b.op {
			case "=":
				fits = fits && c == 0
			case "<":
				fits = fits && c < 0
			case "<=":
				fits = fits && c <= 0
			case ">":
				fits = fits && c > 0
			case ">=":
				fits = fits && c >= 0
			}
			named = named || b.pre != "" && b.pre != "0" && b.part == v.part
		}
		if fits && named {
			return true
		}
	}
	return false
}
