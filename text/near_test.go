package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

func TestEdits(t *testing.T) {
	tests := []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 3, 0},
		{"", "abc", 3, 3},
		{"commit", "commit", 0, 0},
		{"commit", "comit", 1, 1},
		{"commit", "commits", 1, 1},
		{"commit", "commyt", 1, 1},
		{"deploy", "deplyo", 1, 1}, // a swap is one
		{"deploy", "edplyo", 2, 2},
		{"ca", "abc", 9, 3}, // swapped neighbours are not changed again
		{"kitten", "sitting", 9, 3},
		{"kitten", "sitting", 2, 3},
		{"kitten", "sitting", 0, 1},
		{"abcdef", "ghijkl", 3, 4},
		{"caf\u00e9", "cafe", 1, 1}, // characters, not bytes
		{"日本語", "日語本", 1, 1},
		{"a", "b", -1, 0},
		{"abcd", "a", 2, 3},
		{strings.Repeat("x", 300), strings.Repeat("x", 299) + "y", 2, 1}, // no room on the stack
	}
	for _, tt := range tests {
		if got := Edits(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("Edits(%q, %q, %d) = %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { Edits("disable-model-invocation", "disable-modal-invocaton", 3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEditsAgrees holds the count against the definition, written plainly.
func TestEditsAgrees(t *testing.T) {
	word := func(r *rand.Rand) string {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	var plain func(a, b string) int
	plain = func(a, b string) int {
		switch {
		case a == "":
			return len(b)
		case b == "":
			return len(a)
		case a[0] == b[0]:
			return plain(a[1:], b[1:])
		}
		best := 1 + min(plain(a[1:], b), plain(a, b[1:]), plain(a[1:], b[1:]))
		if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
			best = min(best, 1+plain(a[2:], b[2:]))
		}
		return best
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a, b := word(r), word(r)
		for limit := range 8 {
			if got, want := Edits(a, b, limit), min(plain(a, b), limit+1); got != want {
				t.Fatalf("Edits(%q, %q, %d) = %d, want %d", a, b, limit, got, want)
			}
		}
	}
	// Any text: the same both ways, and never more than the longer one.
	err := quick.Check(func(a, b string) bool {
		x, y := []rune(a), []rune(b)
		longer := max(len(x), len(y))
		d := Edits(a, b, longer)
		return d == Edits(b, a, longer) && d <= longer && (d == 0) == slices.Equal(x, y)
	}, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestNear(t *testing.T) {
	tests := []struct {
		word, names string
		n           int
		want        string
	}{
		{"deplyo", "build deploy deplete", 3, "deploy"},
		{"Code_Reviewer", "code-reviewer", 3, "code-reviewer"},
		{"reviewer", "kit:reviewer", 3, "kit:reviewer"},
		{"kit:reviewr", "kit:reviewer", 3, "kit:reviewer"},
		{"perm", "model permissions", 3, "permissions"},
		{"permissionsets", "permissions", 3, "permissions"},
		{"al", "all json", 1, "all"},
		{"of", "on off", 3, "off on"},
		{"x", "y on", 3, ""},
		{"X", "x", 3, "x"},
		{"ab", "abcdef", 3, ""}, // too short a beginning
		{"cat", "cats bat cat catalog", 9, "cat cats bat catalog"},
		{"cat", "cats bat cat catalog", 2, "cat cats"},
		{"cat", "cat", 0, ""},
		{"cat", "cat", -1, ""},
		{"", "cat", 3, ""},
		{"--", "cat", 3, ""},
		{strings.Repeat("x", 101), strings.Repeat("x", 101), 3, ""},
		{"weather", "deploy build", 3, ""},
	}
	for _, tt := range tests {
		if got := strings.Join(Near(tt.word, strings.Fields(tt.names), tt.n), " "); got != tt.want {
			t.Errorf("Near(%q, %q, %d) = %q, want %q", tt.word, tt.names, tt.n, got, tt.want)
		}
	}
}
