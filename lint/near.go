package lint

import "strings"

// distance is the number of letters to insert, remove, replace or swap with
// their neighbour to get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// lookalikes maps letters of other scripts, and digits, to the Latin letter
// that they are read as.
var lookalikes = strings.NewReplacer(
	"а", "a", "с", "c", "е", "e", "һ", "h", "і", "i", "ј", "j", "к", "k", "м", "m", "о", "o",
	"р", "p", "ѕ", "s", "т", "t", "ѵ", "v", "х", "x", "у", "y", "ԁ", "d", "ԛ", "q", "ԝ", "w",
	"α", "a", "ε", "e", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x",
	"ı", "i", "ℓ", "l", "0", "o", "1", "l", "_", "-",
)

// skeleton is what a hasty reader takes name for.
func skeleton(name string) string { return lookalikes.Replace(strings.ToLower(name)) }
