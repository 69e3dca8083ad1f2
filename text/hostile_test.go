package text

import (
	"strings"
	"testing"
)

// Text made to be slow must be read in one pass: when each character looks back
// or ahead over the rest, one of these takes longer than a test may run.
func TestHostileTextIsLinear(t *testing.T) {
	const n = 500_000
	for name, s := range map[string]string{
		"tags":            "🏴" + strings.Repeat("\U000E0061", n),
		"flags":           strings.Repeat("🏴", n),
		"joiners":         strings.Repeat("\u200D", n),
		"selectors":       strings.Repeat("\uFE0F", n),
		"marks":           "a" + strings.Repeat("\u0301", n),
		"family":          strings.Repeat("👩\u200D", n),
		"escapes":         strings.Repeat("\x1b[1", n),
		"escape digits":   "\x1b[" + strings.Repeat("1;", n),
		"less-than":       strings.Repeat("<", n),
		"less-than space": strings.Repeat("< ", n),
		"one tag":         "<" + strings.Repeat(" /", n),
		"spaces":          strings.Repeat(" ", n),
		"invalid":         strings.Repeat("\xff", n),
		"regional":        strings.Repeat("\U0001F1E9", n),
	} {
		t.Run(name, func(t *testing.T) {
			Line(s)
			Block(s)
			FindHidden(s)
			DecodeTags(s)
			Tokens(s)
			Cut(s, 250)
			Fit(s, 80)
		})
	}
}
