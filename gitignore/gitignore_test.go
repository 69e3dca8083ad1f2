package gitignore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/knack-skills/knack/gitignore"
)

func TestMatch(t *testing.T) {
	lines := func(s ...string) []string { return s }
	tests := []struct {
		patterns []string
		path     string
		isDir    bool
		want     string // the pattern
		ok       bool
	}{
		{lines("*.md"), "a/b/c.md", false, "*.md", true}, // any depth (D-4)
		{lines("/x"), "x", false, "/x", true},
		{lines("/x"), "a/x", false, "", false},
		{lines("src/"), "src/a/b.go", false, "src/", true}, // below a matched directory
		{lines("src/"), "src", false, "", false},
		{lines("src/"), "src", true, "src/", true},
		{lines("src/"), "src/", false, "src/", true}, // a slash at the end says directory
		{lines("a/**/b"), "a/b", false, "a/**/b", true},
		{lines("a/**/b"), "a/x/y/b", false, "a/**/b", true},
		{lines("a/**/b"), "z/a/b", false, "", false},
		{lines("src/**/*.tsx"), "src/x.tsx", false, "src/**/*.tsx", true},
		{lines("**/*.ts", "**/*.js"), "b.js", false, "**/*.js", true},
		{lines("**/*.js", "**/*.ts"), "b.js", false, "**/*.js", true},
		{lines("foo**/bar"), "foo/x/bar", false, "foo**/bar", true},
		{lines("*.go", "!main.go"), "main.go", false, "!main.go", false}, // last one wins
		{lines("!main.go", "*.go"), "main.go", false, "*.go", true},
		{lines("out/", "!out/keep"), "out/keep", false, "out/", true}, // no way back
		{lines("out/*", "!out/keep"), "out/keep", false, "!out/keep", false},
		{lines("!out/"), "out/x", false, "", false}, // says nothing of what is below
		{lines("# x", "", "  ", "\t"), "# x", false, "", false},
		{lines(`\#x`), "#x", false, `\#x`, true},
		{lines("x  "), "x", false, "x", true},
		{lines(`x\ `), "x ", false, `x\ `, true},
		{lines("[[:nope:]]", "[", `\`, "x"), "x", false, "x", true}, // broken ones cost nothing else
		{lines("a\nb"), "b", false, "", false},                      // one pattern each
		{lines("X"), "x", false, "", false},                         // case counts
		{lines("*"), "../x", false, "", false},
		{lines("*"), "a/../x", false, "", false},
		{lines("*"), "..", true, "", false},
		{lines("*"), "", true, "", false},
		{lines("*"), "/x", false, "", false},
		{lines("*"), "/", true, "", false},
		{lines("*"), "a//b", false, "", false},
		{lines("*"), "./a", false, "", false},
		{lines("*"), "..a", false, "*", true},
		{nil, "a", false, "", false},
	}
	for _, tt := range tests {
		got, ok := gitignore.Compile(tt.patterns...).Match(tt.path, tt.isDir)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%q, %q: got %q %v, want %q %v", tt.patterns, tt.path, got, ok, tt.want, tt.ok)
		}
	}
}

func TestMatchSelf(t *testing.T) {
	tests := []struct {
		patterns, path, want string
		ok                   bool
	}{
		{"out/", "out/x", "", false}, // the parent is somebody else's question
		{"out", "a/out", "out", true},
		{"out/*\n!out/x", "out/x", "!out/x", false},
		{"*", "../x", "", false},
		{"a/b", "a/b", "a/b", true},
	}
	for _, tt := range tests {
		got, ok := gitignore.CompileFile(tt.patterns).MatchSelf(tt.path, false)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%q, %q: got %q %v, want %q %v", tt.patterns, tt.path, got, ok, tt.want, tt.ok)
		}
	}
}

func TestCompileFile(t *testing.T) {
	m := gitignore.CompileFile("\ufeff# made by hand\r\n\r\n*.log \r\n!keep.log\r\n/build/")
	for path, want := range map[string]string{
		"x.log":      "*.log",
		"a/keep.log": "!keep.log",
		"build/x":    "/build/",
		"x/build/y":  "",
	} {
		if got, _ := m.Match(path, false); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestMatchIsBounded has patterns on which a matcher that tries everything
// takes longer than anybody waits.
func TestMatchIsBounded(t *testing.T) {
	long := strings.Repeat("a", 4000)
	deep := strings.Repeat("a/", 2000) + "a"
	for _, tt := range []struct{ pattern, path string }{
		{strings.Repeat("a*", 40) + "b", long},
		{strings.Repeat("*a", 40) + "b", long},
		{"/" + strings.Repeat("a*", 40) + "b", long},
		{strings.Repeat("**/a*", 40) + "b", long},
		{"/" + strings.Repeat("**/a/", 40) + "b", deep},
		{strings.Repeat("*/", 40) + "b", deep},
		{"**/" + strings.Repeat("*a*", 40) + "/b", long + "/" + long},
	} {
		if got, ok := gitignore.Compile(tt.pattern).Match(tt.path, false); ok {
			t.Errorf("%.20s…: matched %q", tt.pattern, got)
		}
	}
}

func TestExpandBraces(t *testing.T) {
	tests := []struct {
		pattern string
		want    []string
	}{
		{"", []string{""}},
		{"a", []string{"a"}},
		{"src/*.{ts,tsx}", []string{"src/*.ts", "src/*.tsx"}},
		{"{a,b}{c,d}", []string{"ac", "ad", "bc", "bd"}},
		{"{a,{b,c}x,}y", []string{"ay", "bxy", "cxy", "y"}},
		{"{,}", []string{"", ""}},
		{"{a,}", []string{"a", ""}},
		{"{a}", []string{"{a}"}},
		{"{}", []string{"{}"}},
		{"{1..3}", []string{"{1..3}"}},
		{"{1..3,x}", []string{"1..3", "x"}},
		{`\{a,b}`, []string{`\{a,b}`}},
		{`{a\,b,c}`, []string{`a\,b`, "c"}},
		{`{a,b\}`, []string{`{a,b\}`}},
		{`{a,b\},c}`, []string{"a", `b\}`, "c"}},
		{`{a,b\\}`, []string{"a", `b\\`}},
		{"{a,{b,c}", []string{"{a,b", "{a,c"}},
		{"{a{b,c}}", []string{"{ab}", "{ac}"}},
		{"a}{b,c}", []string{"a}b", "a}c"}},
		{"{a,{b}c}", []string{"a", "{b}c"}},
		{"a,b", []string{"a,b"}},
		{"{a,b", []string{"{a,b"}},
		{`x\`, []string{`x\`}},
		{"{é,ü}", []string{"é", "ü"}},
	}
	for _, tt := range tests {
		got, ok := gitignore.ExpandBraces(tt.pattern, 100)
		if !ok || !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q %v, want %q", tt.pattern, got, ok, tt.want)
		}
	}
}

func TestExpandBracesLimit(t *testing.T) {
	ten := "{0,1,2,3,4,5,6,7,8,9}"
	tests := []struct {
		pattern string
		max     int
		ok      bool
	}{
		{strings.Repeat(ten, 3), 1000, true},
		{strings.Repeat(ten, 3) + "{a,}", 1000, false},
		{strings.Repeat(ten, 60), 1000, false}, // more than an int counts
		{"{a,b}", 2, true},
		{"{a,b}", 1, false},
		{"a", 1, true},
		{"a", 0, false},
		{strings.Repeat("{a,", 5000) + strings.Repeat("}", 5000), 1000, false},
		{strings.Repeat("{", 50000) + strings.Repeat("}", 50000), 1000, true},
		{strings.Repeat("x", 1<<20) + "{a,b,c,d,e}", 1000, false}, // 5 MiB of results
	}
	for _, tt := range tests {
		got, ok := gitignore.ExpandBraces(tt.pattern, tt.max)
		if ok != tt.ok {
			t.Errorf("%.30q, %d: got %v", tt.pattern, tt.max, ok)
		}
		if !ok && !slices.Equal(got, []string{tt.pattern}) {
			t.Errorf("%.30q: not returned as it is", tt.pattern)
		}
	}
}

// TestExpandBracesOfJoined: what is joined from alternatives comes apart again.
func TestExpandBracesOfJoined(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c/*.]{0,4}`)
		head, tail := word.Draw(t, "head"), word.Draw(t, "tail")
		parts := rapid.SliceOfN(word, 2, 6).Draw(t, "parts")
		want := make([]string, len(parts))
		for i, part := range parts {
			want[i] = head + part + tail
		}
		got, ok := gitignore.ExpandBraces(head+"{"+strings.Join(parts, ",")+"}"+tail, 6)
		if !ok || !slices.Equal(got, want) {
			t.Fatalf("got %q %v, want %q", got, ok, want)
		}
	})
}

// TestMatchFollowsMatchSelf states what Match is in terms of MatchSelf: the
// first matched directory on the way decides, else the path itself.
func TestMatchFollowsMatchSelf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := gitignore.Compile(rapid.SliceOfN(rapid.StringMatching(`!?[ab*?/]{1,6}`), 1, 5).Draw(t, "patterns")...)
		parts := rapid.SliceOfN(rapid.StringMatching(`[ab]{1,2}`), 1, 4).Draw(t, "path")
		var want string
		var wantOK bool
		for i := range parts {
			want, wantOK = m.MatchSelf(strings.Join(parts[:i+1], "/"), i+1 < len(parts))
			if wantOK {
				break
			}
		}
		if got, ok := m.Match(strings.Join(parts, "/"), false); got != want || ok != wantOK {
			t.Fatalf("got %q %v, want %q %v", got, ok, want, wantOK)
		}
	})
}

func FuzzMatch(f *testing.F) {
	for i, file := range trickyFiles {
		f.Add(file, names[i%len(names)]+"/a")
	}
	f.Fuzz(func(t *testing.T, file, path string) {
		m := gitignore.CompileFile(file)
		for _, isDir := range []bool{false, true} {
			pattern, ok := m.Match(path, isDir)
			if ok && (pattern == "" || pattern[0] == '!') {
				t.Errorf("matched by %q", pattern)
			}
			if !strings.Contains(file, pattern) {
				t.Errorf("pattern %q is not in the file", pattern)
			}
			if below, okBelow := m.Match(path+"/x", false); isDir && ok && path[len(path)-1] != '/' && (!okBelow || below != pattern) {
				t.Errorf("below a matched directory: got %q %v, want %q", below, okBelow, pattern)
			}
		}
	})
}

func FuzzExpandBraces(f *testing.F) {
	for _, s := range []string{"{a,b}", "{a,{b,c}}", `\{a,b}`, "{", "}", "{,}", "{a,b}{c,d}{e,f}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		got, ok := gitignore.ExpandBraces(pattern, 50)
		if len(got) == 0 || len(got) > 50 {
			t.Fatalf("%d results", len(got))
		}
		if !ok && got[0] != pattern {
			t.Errorf("not returned as it is: %q", got[0])
		}
		for _, s := range got {
			if len(s) > len(pattern) {
				t.Errorf("result %q is longer than the pattern", s)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	m := gitignore.Compile("*.md", "/src/**/*.ts", "node_modules/", "docs/[a-z]*.txt", "!keep.md")
	b.ReportAllocs()
	for b.Loop() {
		m.Match("src/components/button/index.css", false)
	}
}

func BenchmarkMatchPathological(b *testing.B) {
	m := gitignore.Compile(strings.Repeat("a*", 20) + "b")
	path := strings.Repeat("a", 200)
	for b.Loop() {
		m.Match(path, false)
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		gitignore.Compile("*.md", "/src/**/*.ts", "node_modules/", "docs/[a-z]*.txt", "!keep.md")
	}
}

func ExampleMatcher_Match() {
	m := gitignore.Compile("*.log", "!keep.log", "/build/")
	for _, path := range []string{"a/x.log", "keep.log", "build/bin/x", "x.txt"} {
		pattern, ok := m.Match(path, false)
		fmt.Printf("%s %v %q\n", path, ok, pattern)
	}
	// Output:
	// a/x.log true "*.log"
	// keep.log false "!keep.log"
	// build/bin/x true "/build/"
	// x.txt false ""
}
