package text

import (
	"strings"
	"unicode"
)

// lookalikes maps letters of other scripts, and digits, to the Latin letter
// that they are read as.
var lookalikes = strings.NewReplacer(
	"а", "a", "с", "c", "е", "e", "һ", "h", "і", "i", "ј", "j", "к", "k", "м", "m", "о", "o",
	"р", "p", "ѕ", "s", "т", "t", "ѵ", "v", "х", "x", "у", "y", "ԁ", "d", "ԛ", "q", "ԝ", "w",
	"α", "a", "ε", "e", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x",
	"ı", "i", "ℓ", "l", "ɡ", "g", "ɑ", "a", "օ", "o", "ո", "n", "ս", "u", "հ", "h", "ց", "g", "ⅼ", "l", "ⅰ", "i", "ⅽ", "c", "ⅾ", "d", "ⅿ", "m",
	"0", "o", "1", "l", "_", "-", "‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "−", "-",
)

// Skeleton is what a hasty reader takes a name for: in lower case, with letters
// that look like Latin ones, full-width and mathematical forms replaced, and
// without what is not seen. Two names with one skeleton can be mistaken for each
// other.
func Skeleton(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case 0xFF01 <= r && r <= 0xFF5E: // full width
			return unicode.ToLower(r - 0xFF01 + '!')
		case 0x1D400 <= r && r <= 0x1D6A3: // mathematical letters, 13 alphabets of 52
			return 'a' + (r-0x1D400)%52%26
		case suspect(r) != "":
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	return lookalikes.Replace(plain)
}
