package text

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// golden reads the texts of testdata/tokens and the counts a real tokenizer
// (o200k) gave for them.
func golden(t testing.TB) map[string]struct {
	text string
	want int
} {
	t.Helper()
	dir := filepath.Join("testdata", "tokens")
	counts, err := os.ReadFile(filepath.Join(dir, "counts.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]struct {
		text string
		want int
	}{}
	for line := range strings.Lines(string(counts)) {
		name, n, _ := strings.Cut(strings.TrimSpace(line), "\t")
		want, err := strconv.Atoi(n)
		if err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = struct {
			text string
			want int
		}{string(body), want}
	}
	return out
}

// kinds says what is promised for which texts (spec L-4): the lowest and the
// highest estimate allowed, as a share of the true count.
var kinds = map[string]struct {
	low, high float64
	names     []string
}{
	"prose":       {0.8, 1.4, []string{"english.txt", "english-short.txt", "chinese.txt", "chinese-short.txt", "chinese-traditional.txt", "japanese.txt", "japanese-short.txt", "korean.txt", "german.txt", "french.txt", "russian.txt", "arabic.txt", "hindi.txt", "thai.txt"}},
	"code":        {0.9, 1.4, []string{"go.txt", "python.txt", "typescript.txt", "shell.txt", "json.txt", "json-min.txt", "upper.txt", "paths.txt"}},
	"data":        {0.9, 1.4, []string{"base64.txt", "hex.txt", "csv.txt", "table.txt", "markdown.txt"}},
	"pictographs": {0.75, 1.5, []string{"emoji.txt"}},
}

func TestTokensAgainstTokenizer(t *testing.T) { // L-4
	texts := golden(t)
	checked := 0
	for kind, k := range kinds {
		for _, name := range k.names {
			g, ok := texts[name]
			if !ok {
				t.Fatalf("no count for %s", name)
			}
			checked++
			got := Tokens(g.text)
			if share := float64(got) / float64(g.want); share < k.low || share > k.high {
				t.Errorf("%s: %s: estimated %d tokens of %d (%.2f), want %.2f to %.2f", kind, name, got, g.want, share, k.low, k.high)
			}
		}
	}
	if checked != len(texts) {
		t.Errorf("%d texts checked of %d counted", checked, len(texts))
	}
}

func TestTokensSmall(t *testing.T) {
	tests := []struct {
		in        string
		low, high int
	}{
		{"", 0, 0},
		{"a", 1, 1},
		{"hello", 1, 2},
		{" ", 1, 1},
		{"你好", 1, 3},
		{"\xff", 1, 2},
		{"12345678", 3, 5},
		{"🚀", 1, 4},
		{strings.Repeat("x", 1000), 150, 700},
		{strings.Repeat("\n", 1000), 1, 500},
		{strings.Repeat("-", 1000), 10, 500},
	}
	for _, tt := range tests {
		if got := Tokens(tt.in); got < tt.low || got > tt.high {
			t.Errorf("Tokens(%.20q) = %d, want %d to %d", tt.in, got, tt.low, tt.high)
		}
	}
}

func TestTokensOfBytes(t *testing.T) {
	for n, want := range map[int64]int{-1: 0, 0: 0, 1: 1, 4: 1, 5: 2, 4000: 1000} {
		if got := TokensOfBytes(n); got != want {
			t.Errorf("TokensOfBytes(%d) = %d, want %d", n, got, want)
		}
	}
}

// Cutting a text in two must not change its price by more than a seam.
func FuzzTokens(f *testing.F) {
	f.Add("func main() { fmt.Println(42) }", 11)
	f.Add("提取表格 and 表格", 4)
	f.Add("aGVsbG8gd29ybGQ=", 3)
	f.Fuzz(func(t *testing.T, s string, at int) {
		if len(s) == 0 {
			return
		}
		at = max(at, -at) % len(s)
		for at >= 0 && at < len(s) && s[at]&0xC0 == 0x80 {
			at++
		}
		at = max(at, 0)
		a, b, whole := Tokens(s[:at]), Tokens(s[at:]), Tokens(s)
		if whole > a+b+2 || whole < a-1 || whole < 0 {
			t.Errorf("Tokens(%q) = %d + %d, together %d", s, a, b, whole)
		}
		if len(s) > 0 && whole > 4*len(s)+1 {
			t.Errorf("Tokens(%q) = %d is over four a byte", s, whole)
		}
	})
}
