package text_test

import (
	"testing"

	"github.com/knack-skills/knack/text"
)

func TestSkeleton(t *testing.T) { // spec S-16, name squatting
	const want = "commit-tool"
	for _, name := range []string{"commit-tool", "Commit-Tool", "соmmіt-tооl", "c0mmit-tool", "commit_too1", "ｃｏｍｍｉｔ-ｔｏｏｌ", "𝐜𝐨𝐦𝐦𝐢𝐭-tool", "𝒸ommit-tool", "com\u200bmit-tool", "commit‑tool"} {
		if got := text.Skeleton(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"commit-tools", "comit-tool", "提交", ""} {
		if text.Skeleton(name) == want {
			t.Errorf("%q counts as %q", name, want)
		}
	}
}

func TestStripHidden(t *testing.T) { // tag characters and bidi controls of strangers
	tests := []struct {
		in, want string
		removed  int
	}{
		{"plain", "plain", 0},
		{"", "", 0},
		{"a\U000E0049\U000E0067b", "ab", 2},
		{"a\u202Eb\u2066c\u2069", "abc", 3},
		{"\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", 0}, // Scotland
		{"می\u200cخواهم", "می\u200cخواهم", 0},
		{"su\u200Bdo", "su\u200Bdo", 0}, // seen by the scanner, not removed: it may be a line break
		{"bad \xff\U000E0041", "bad \xff", 1},
	}
	for _, tt := range tests {
		if got, n := text.StripHidden(tt.in); got != tt.want || n != tt.removed {
			t.Errorf("%q: %q and %d, want %q and %d", tt.in, got, n, tt.want, tt.removed)
		}
	}
}
