package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sequences are well-formed emoji of every kind (F-7).
var sequences = []string{
	"😀", "❤️", "❤︎", "☺️", "ℹ️", "©️", "™️", "▶️", "➡️", "〰️", "㊗️", "🀄️",
	"👍🏽", "☝🏿", "👩🏽‍💻", "👨‍🚀", "🧑🏻‍🤝‍🧑🏿", "👩‍❤️‍💋‍👨", "👨‍👩‍👧‍👦",
	"🏳️‍🌈", "🏴‍☠️", "🏳️‍⚧️", "👁️‍🗨️", "🐻‍❄️", "❤️‍🔥", "🏃‍♀️‍➡️", "🙂‍↔️", "🧔‍♂️",
	"🇩🇪", "🇯🇵", "1️⃣", "#️⃣", "*️⃣", "9⃣", "🔟",
	"🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
	"🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
	"🏴\U000E0075\U000E0073\U000E0063\U000E0061\U000E007F",
}

func TestEmojiAreUntouched(t *testing.T) {
	for _, e := range sequences {
		for _, s := range []string{e, "a" + e, e + "b", e + e, "see " + e + " here"} {
			if found := FindHidden(s); found != nil {
				t.Errorf("%+q: reported %+v", s, found)
			}
			for name, clean := range map[string]func(string) string{"Line": Line, "Terminal": Terminal, "Block": Block, "TerminalBlock": TerminalBlock} {
				if got := clean(s); got != s {
					t.Errorf("%s(%+q) = %+q", name, s, got)
				}
			}
			if DecodeTags(s) != "" {
				t.Errorf("%+q spells %q", s, DecodeTags(s))
			}
		}
	}
}

// Emoji and text may come in any order; only what is alone is reported.
func TestEmojiInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom(append([]string{"word", " ", "表", "é", "7", "."}, sequences...))).Draw(t, "parts")
		s := strings.Join(parts, "")
		// A digit before a keycap's marks, or a flag beside a flag, still is one.
		if found := FindHidden(s); found != nil {
			t.Fatalf("%+q: reported %+v", s, found)
		}
		at := rapid.IntRange(0, len(parts)).Draw(t, "at")
		hidden := rapid.SampledFrom([]string{"\u202E", "\u200B", "\x1b", "\u2066", "\u00AD"}).Draw(t, "hidden")
		if found := FindHidden(strings.Join(parts[:at], "") + hidden + strings.Join(parts[at:], "")); len(found) != 1 {
			t.Fatalf("%+q with %+q at %d: reported %+v", s, hidden, at, found)
		}
	})
}

// A longer text never costs less, which listing needs to share a budget.
func TestTokensGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"word", "Word", "WORD", "a", " ", "  ", "\n", "42", "1234567", "()", "{", "->", "表格", "スキル", "für", "😀", "\xff", "camelCaseWord",
		})).Draw(t, "parts"), "")
		before := 0
		for i := range s {
			if n := Tokens(s[:i]); n < before {
				t.Fatalf("Tokens(%q) = %d, with less %d", s[:i], n, before)
			} else {
				before = n
			}
		}
	})
}
