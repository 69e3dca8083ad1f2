package prompt

import (
	"reflect"
	"strings"
	"testing"
	"testing/quick"
)

// Arguments (spec P-3).
func TestSplitArgs(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{" \t\n", nil},
		{"a b  c", []string{"a", "b", "c"}},
		{"a\tb\nc\r\nd", []string{"a", "b", "c", "d"}},
		{`"hello world" x`, []string{"hello world", "x"}},
		{`'a "b"' "c 'd'"`, []string{`a "b"`, "c 'd'"}},
		{`"" ''`, []string{"", ""}},
		{`a"b c"d'e f'`, []string{"ab cde f"}},
		{`a\ b \"c \\`, []string{"a b", `"c`, `\`}},
		{`"a\"b" "\$x \q"`, []string{`a"b`, `$x \q`}},
		{`'a\'`, []string{`a\`}},
		{"a\\\nb \"c\\\nd\"", []string{"ab", "cd"}},
		{`end\`, []string{`end\`}},
		{"don't try this", []string{"dont try this"}},
		{"fix what doesn't  work", []string{"fix", "what", "doesnt  work"}},
		{`say "hi \"there `, []string{"say", `hi \"there `}},
		{`'a "b c`, []string{`a "b c`}},
		{`a"`, []string{"a"}},
		{`"`, []string{""}},
		{"タイトル: chore(tests): a　b", []string{"タイトル:", "chore(tests):", "a　b"}},
		{"$0 `x` $(y)", []string{"$0", "`x`", "$(y)"}},
		{"\xff\xfe x", []string{"\xff\xfe", "x"}},
	} {
		if got := SplitArgs(tt.in); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("SplitArgs(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestQuoteArg(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "": `""`, "two words": `"two words"`, "don't": `"don't"`, `say "x"`: `'say "x"'`, `a\b`: `'a\b'`,
		"$HOME": "$HOME", "$a b": "'$a b'", `'"`: `"'\""`, "a　b": "a　b",
	} {
		if got := QuoteArg(in); got != want {
			t.Errorf("QuoteArg(%q) = %s, want %s", in, got, want)
		}
	}
}

// QuoteArg is the inverse of SplitArgs, for any list.
func TestQuoteArgInverse(t *testing.T) {
	inverse := func(list []string) bool {
		quoted := make([]string, len(list))
		for i, a := range list {
			quoted[i] = QuoteArg(a)
		}
		got := SplitArgs(strings.Join(quoted, " "))
		return len(got) == len(list) && (len(list) == 0 || reflect.DeepEqual(got, list))
	}
	if err := quick.Check(inverse, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
	const marks = "a '\"\\\n\t$`"
	var try func(prefix string, n int)
	try = func(prefix string, n int) {
		if !inverse([]string{prefix, "x", prefix}) {
			t.Errorf("%q comes back as %q", prefix, SplitArgs(QuoteArg(prefix)))
		}
		for i := 0; n > 0 && i < len(marks); i++ {
			try(prefix+marks[i:i+1], n-1)
		}
	}
	try("", 4)
}

func FuzzSplitArgs(f *testing.F) {
	for _, s := range []string{"a 'b c'", `"\"`, `\`, "don't", "a\\\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		total := 0
		for _, a := range SplitArgs(s) {
			total += len(a)
			if got := SplitArgs(QuoteArg(a)); len(got) != 1 || got[0] != a {
				t.Fatalf("%q is quoted %s and split %q", a, QuoteArg(a), got)
			}
		}
		if total > len(s) {
			t.Fatalf("%q gave more text than it has: %q", s, SplitArgs(s))
		}
	})
}
