// Package text measures and cleans plain text for the other stages: estimated
// tokens (spec L-4), grapheme-safe cuts (L-2), and neutralising text that other
// people wrote (L-9, F-7). It knows nothing of skills. All functions are pure.
package text

// Tokens estimates how many model tokens s costs (spec L-4).
func Tokens(s string) int { panic("to be written") }

// TokensOfBytes estimates the tokens of n bytes of text that was not read.
func TokensOfBytes(n int64) int { panic("to be written") }

// Cut shortens s to at most max characters (Unicode code points), ending in
// "…" (counted) when something was cut, and never splitting a grapheme.
func Cut(s string, max int) string { panic("to be written") }

// Line makes s safe as one line for a model (spec L-9): white space runs and
// newlines become one space, control and invisible characters are dropped
// (well-formed emoji sequences stay, spec F-7), and "<", ">" and "&" that could
// open or close a tag are escaped.
func Line(s string) string { panic("to be written") }

// Terminal makes s safe to print on a terminal, on one line: like [Line]
// without the escaping of tags.
func Terminal(s string) string { panic("to be written") }

// TerminalBlock is [Terminal] for text of several lines: newlines and tabs stay.
func TerminalBlock(s string) string { panic("to be written") }

// Block makes text of several lines safe inside a reminder (spec X-7, H-6):
// newlines stay; invisible characters are dropped; tags that could open or
// close a reminder are escaped.
func Block(s string) string { panic("to be written") }

// A Hidden is a character that a reader does not see.
type Hidden struct {
	Rune   rune
	Offset int    // bytes
	Kind   string // "bidi", "zero-width", "tag", "control", "invisible"
}

// FindHidden reports control and invisible characters in s, without those of
// well-formed emoji sequences (spec F-7) and a byte order mark at offset 0.
func FindHidden(s string) []Hidden { panic("to be written") }

// DecodeTags returns the ASCII text that tag characters (U+E0020 to U+E007E)
// in s spell, or "".
func DecodeTags(s string) string { panic("to be written") }

// Width returns the number of terminal columns that s takes.
func Width(s string) int { panic("to be written") }

// Fit shortens s to at most columns terminal columns, ending in "…" when cut.
func Fit(s string, columns int) string { panic("to be written") }
