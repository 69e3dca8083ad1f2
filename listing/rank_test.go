package listing

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// highest agrees with sorting everything.
func TestHighest(t *testing.T) { // L-3, L-5
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOfN(rapid.OneOf(
			rapid.Map(rapid.IntRange(0, 5), func(n int) float64 { return float64(n) }),
			rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(math.Inf(1)),
		), 0, 200).Draw(t, "ranks")
		var items []*item
		for i, r := range ranks {
			items = append(items, &item{entry: &Entry{Rank: r}, bare: 3 + i%7})
		}
		limit := rapid.IntRange(0, 1500).Draw(t, "limit")
		want := slices.Clone(items)
		slices.SortStableFunc(want, func(a, b *item) int { return cmp.Compare(b.entry.Rank, a.entry.Rank) })
		left := limit
		for i, it := range want {
			if left -= it.bare; left < 0 {
				want = want[:i]
				break
			}
		}
		if got := highest(items, limit); !slices.Equal(got, want) {
			t.Fatalf("highest(%v, %d) has %d items, want %d in this order", ranks, limit, len(got), len(want))
		}
	})
}
