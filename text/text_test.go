package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"
)

const (
	family = "👨‍👩‍👧‍👦"
	coder  = "👩🏽‍💻"
	pride  = "🏳️‍🌈"
	wales  = "🏴\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F"
)

func TestCut(t *testing.T) { // L-2
	tests := []struct {
		name, in string
		max      int
		want     string
	}{
		{"fits", "abc", 3, "abc"},
		{"one too many", "abcd", 3, "ab…"},
		{"only the mark", "abcd", 1, "…"},
		{"nothing", "abcd", 0, ""},
		{"negative", "abcd", -1, ""},
		{"empty", "", 0, ""},
		{"characters, not bytes", "提取表格", 4, "提取表格"},
		{"Chinese", "提取表格和数据", 4, "提取表…"},
		{"space before the mark", "one two", 5, "one…"},
		{"accent stays with its letter", "cafe\u0301 noir", 5, "caf…"},
		{"accent after the cut", "cafe\u0301 noir", 6, "cafe\u0301…"},
		{"accent right behind ASCII", "abcde\u0301", 5, "abcd…"},
		{"family is one", family + "abcdef", 7, "…"},
		{"family fits", family + "abcdef", 8, family + "…"},
		{"flags", "🇩🇪🇯🇵🇫🇷", 4, "🇩🇪…"},
		{"CR LF is one", "ab\r\ncd", 4, "ab…"},
		{"invalid bytes are characters", "\xff\xfe\xfdabc", 3, "\xff\xfe…"},
	}
	for _, tt := range tests {
		if got := Cut(tt.in, tt.max); got != tt.want {
			t.Errorf("%s: Cut(%q, %d) = %q, want %q", tt.name, tt.in, tt.max, got, tt.want)
		}
	}
}

// checkCut tests what Cut promises, for any text and length.
func checkCut(t interface{ Fatalf(string, ...any) }, s string, max int) {
	got := Cut(s, max)
	if n := utf8.RuneCountInString(got); n > max && got != "" {
		t.Fatalf("Cut(%q, %d) = %q has %d characters", s, max, got, n)
	}
	if utf8.RuneCountInString(s) <= max {
		if got != s {
			t.Fatalf("Cut(%q, %d) = %q changed what fits", s, max, got)
		}
		return
	}
	if max <= 0 {
		return
	}
	kept, marked := strings.CutSuffix(got, ellipsis)
	if !marked || !strings.HasPrefix(s, kept) {
		t.Fatalf("Cut(%q, %d) = %q is not a marked prefix", s, max, got)
	}
	pos := 0
	for g := graphemes.FromString(s); pos < len(kept) && g.Next(); {
		pos += len(g.Value())
	}
	if pos != len(kept) {
		t.Fatalf("Cut(%q, %d) = %q splits a grapheme", s, max, got)
	}
	less := strings.TrimSuffix(Cut(s, max-1), ellipsis)
	if !strings.HasPrefix(kept, less) {
		t.Fatalf("Cut(%q): %d characters show %q, %d show %q", s, max-1, less, max, kept)
	}
}

func TestCutProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{
			"a", "b ", " ", "\r\n", "\n", "é", "e\u0301\u0302", "提", family, coder, "🇩🇪", wales, "\xff", "कि", "각", "한",
		})).Draw(t, "parts")
		checkCut(t, strings.Join(parts, ""), rapid.IntRange(0, 40).Draw(t, "max"))
	})
}

func FuzzCut(f *testing.F) {
	f.Add("plain text", 5)
	f.Add("e\u0301"+family+"提取\r\n", 4)
	f.Fuzz(func(t *testing.T, s string, max int) { checkCut(t, s, max%300) })
}

// A base with very many marks must not make Cut slow or wrong.
func TestCutLongGrapheme(t *testing.T) {
	s := "ab" + strings.Repeat("\u0301", 100_000)
	if got := Cut(s, 250); got != "a…" {
		t.Errorf("Cut = %.20q, want the character before the long grapheme", got)
	}
}

func TestWidthAndFit(t *testing.T) {
	tests := []struct {
		in      string
		width   int
		columns int
		fit     string
	}{
		{"abc", 3, 3, "abc"},
		{"abcd", 4, 3, "ab…"},
		{"提取表格", 8, 8, "提取表格"},
		{"提取表格", 8, 7, "提取表…"},
		{"提取表格", 8, 6, "提取…"},
		{"1️⃣ one", 6, 6, "1️⃣ one"},
		{family, 2, 1, "…"},
		{"cafe\u0301", 4, 4, "cafe\u0301"},
		{"", 0, 5, ""},
		{"abc", 3, 0, ""},
		{"abc", 3, -2, ""},
	}
	for _, tt := range tests {
		if got := Width(tt.in); got != tt.width {
			t.Errorf("Width(%q) = %d, want %d", tt.in, got, tt.width)
		}
		if got := Fit(tt.in, tt.columns); got != tt.fit {
			t.Errorf("Fit(%q, %d) = %q, want %q", tt.in, tt.columns, got, tt.fit)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add("提取 abc "+pride, 5)
	f.Fuzz(func(t *testing.T, s string, columns int) {
		s, columns = Terminal(s), columns%120
		got := Fit(s, columns)
		if w := Width(got); w > max(columns, 0) {
			t.Errorf("Fit(%q, %d) = %q takes %d columns", s, columns, got, w)
		}
		if columns > 0 && Width(s) <= columns && got != s {
			t.Errorf("Fit(%q, %d) = %q changed what fits", s, columns, got)
		}
	})
}
