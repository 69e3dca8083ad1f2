// Package text measures and cleans plain text for the other stages: estimated
// tokens (spec L-4), grapheme-safe cuts (L-2), and neutralising text that other
// people wrote (L-9, F-7). It knows nothing of skills. All functions are pure
// and safe for concurrent use, take any bytes (text that is not UTF-8 is
// treated byte by byte), and return their argument without copying it when
// there is nothing to change.
package text

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// ellipsis marks the place where something was cut off: one character, one
// terminal column.
const ellipsis = "…"

// Cut shortens s to at most max characters (Unicode code points), ending in
// "…" (counted) when something was cut, and never splitting a grapheme (spec
// L-2). White space before the "…" is dropped. For any a < b, Cut(s, a) without
// its "…" is a prefix of Cut(s, b).
func Cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	if max <= 0 {
		return ""
	}
	end, whole := prefix(s, max)
	if whole {
		return s
	}
	return strings.TrimRight(s[:end], " \t\r\n") + ellipsis
}

// prefix returns the bytes of the longest run of whole graphemes of s that
// leaves room for the ellipsis in max characters, or whole if s fits itself.
func prefix(s string, max int) (end int, whole bool) {
	ascii := asciiLen(s[:max])
	if ascii == max && s[max] < utf8.RuneSelf {
		if max >= 2 && s[max-2] == '\r' && s[max-1] == '\n' {
			return max - 2, false
		}
		return max - 1, false
	}
	if fits(s[ascii:], max-ascii) {
		return 0, true
	}
	// The last ASCII byte may be the base of a grapheme, so the walk begins there.
	end = ascii - 1
	if end <= 0 || s[end] == '\n' {
		end = 0
	}
	n := end
	for g := graphemes.FromString(s[end:]); g.Next(); {
		v := g.Value()
		n += utf8.RuneCountInString(v)
		if n > max-1 {
			break
		}
		end += len(v)
	}
	return end, false
}

// fits reports whether s has at most max characters, without reading more.
func fits(s string, max int) bool {
	for range s {
		if max--; max < 0 {
			return false
		}
	}
	return true
}

// asciiLen returns the length of the ASCII prefix of s.
func asciiLen(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

// Width returns the number of terminal columns that s takes. It expects one
// line, such as [Terminal] returns; control characters count nothing.
func Width(s string) int { return displaywidth.String(s) }

// Fit shortens s to at most columns terminal columns, ending in "…" when cut,
// and never splitting a grapheme.
func Fit(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	end, used := 0, 0
	g := displaywidth.StringGraphemes(s)
	for g.Next() {
		used += g.Width()
		if used > columns {
			return s[:end] + ellipsis
		}
		// end stays one column short, so that the ellipsis always has a place.
		if used < columns {
			end += len(g.Value())
		}
	}
	return s
}
