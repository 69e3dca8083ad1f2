package listing

import (
	"cmp"
	"slices"
)

// A place is an item's place in the order of ranks. It has no pointers, which
// makes it several times faster to sort than items are.
type place struct {
	rank float64
	at   int // in the order given, which decides among equal ranks
	bare int // units of the name
}

func comparePlaces(a, b place) int {
	if c := cmp.Compare(b.rank, a.rank); c != 0 {
		return c
	}
	return a.at - b.at
}

// highest returns the items of the highest ranks whose names together fit into
// limit units, in the order of their ranks. It stops at the first that does
// not fit, so that a higher limit returns the same items and more.
func highest(items []*item, limit int) []*item {
	places := make([]place, len(items))
	sorted := true
	for i, it := range items {
		places[i] = place{rank: it.entry.Rank, at: i, bare: it.bare}
		sorted = sorted && (i == 0 || comparePlaces(places[i-1], places[i]) < 0)
	}
	n := 0
	if sorted {
		n = fitting(places, limit)
	} else {
		n = sortHead(places, limit)
	}
	out := make([]*item, n)
	for i, p := range places[:n] {
		out[i] = items[p.at]
	}
	return out
}

// fitting returns how many of the first places fit into limit units.
func fitting(p []place, limit int) int {
	for i := range p {
		if limit -= p[i].bare; limit < 0 {
			return i
		}
	}
	return len(p)
}

// sortHead sorts the first places of p, as many as fit into limit units, and
// returns how many. Of a large catalog few fit, so it does not sort the rest.
func sortHead(p []place, limit int) int {
	const few = 16
	lo, hi := 0, len(p) // p[:lo] fits and comes before p[lo:hi], which comes before p[hi:]
	for left := limit; hi-lo > few; {
		mid := lo + partition(p[lo:hi])
		sum := 0
		for _, q := range p[lo:mid] {
			sum += q.bare
		}
		if sum <= left {
			left -= sum
			lo = mid
		} else {
			hi = mid
		}
	}
	slices.SortFunc(p[:hi], comparePlaces)
	return fitting(p[:hi], limit)
}

// partition reorders p, of at least three different places, so that p[:n]
// comes before p[n:]. Neither is empty.
func partition(p []place) (n int) {
	pivot := []place{p[0], p[len(p)/2], p[len(p)-1]}
	slices.SortFunc(pivot, comparePlaces)
	i, j := 0, len(p)-1
	for {
		for comparePlaces(p[i], pivot[1]) < 0 {
			i++
		}
		for comparePlaces(p[j], pivot[1]) > 0 {
			j--
		}
		if i >= j {
			return i
		}
		p[i], p[j] = p[j], p[i]
		i++
		j--
	}
}
