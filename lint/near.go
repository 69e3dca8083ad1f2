package lint

import "strings"

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
