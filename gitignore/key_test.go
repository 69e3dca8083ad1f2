package gitignore_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/gitignore"
)

func TestKeys(t *testing.T) { // spec D-4
	tests := []struct {
		pattern string
		want    gitignore.Key
	}{
		{"*.ts", gitignore.Key{Tail: ".ts"}},
		{"**/*.ts", gitignore.Key{Tail: ".ts"}},
		{"**/*_test.go", gitignore.Key{Tail: "_test.go"}},
		{"src/**/*.ts", gitignore.Key{Dir: "src", Tail: ".ts"}},
		{"packages/app/src/**", gitignore.Key{Dir: "packages/app/src"}},
		{"/Makefile", gitignore.Key{Name: "Makefile"}},
		{"Makefile", gitignore.Key{Name: "Makefile"}},
		{"docs/", gitignore.Key{Name: "docs"}},
		{"docs/api/", gitignore.Key{Dir: "docs", Name: "api"}},
		{"a/b.ts", gitignore.Key{Dir: "a", Name: "b.ts"}},
		{"**/a/b.ts", gitignore.Key{Name: "b.ts"}},
		{"a/x*.ts", gitignore.Key{Dir: "a", Head: "x", Tail: ".ts"}},
		{"**/x*", gitignore.Key{Head: "x"}},
		{"foo**/bar", gitignore.Key{Head: "foo", Tail: "bar"}}, // matches foobar
		{"a/foo**", gitignore.Key{Dir: "a", Head: "foo"}},
		{"[ab].ts", gitignore.Key{Tail: ".ts"}},
		{`\#x`, gitignore.Key{Name: "#x"}},
		{"**", gitignore.Key{}},
		{"*", gitignore.Key{}},
	}
	for _, tt := range tests {
		if got := gitignore.Compile(tt.pattern).Keys(); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.pattern, got, tt.want)
		}
	}
	if got := gitignore.Compile("!a", "#c", "[", "b").Keys(); !slices.Equal(got, []gitignore.Key{{Name: "b"}}) {
		t.Errorf("got %+v", got)
	}
}

// has is what a Key promises of every path that is matched.
func has(k gitignore.Key, path string) bool {
	if k.Dir != "" {
		rest, ok := strings.CutPrefix(path, k.Dir+"/")
		if !ok {
			return false
		}
		path = rest
	}
	for s := range strings.SplitSeq(path, "/") {
		if (k.Name == "" || s == k.Name) && strings.HasPrefix(s, k.Head) {
			k.Name, k.Head = "", ""
		}
	}
	for s := range strings.SplitSeq(path, "/") {
		if strings.HasSuffix(s, k.Tail) {
			k.Tail = ""
		}
	}
	return k.Name+k.Head+k.Tail == ""
}

// TestKeysHold: what is matched has one of the keys.
func TestKeysHold(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2026))
	matched := 0
	check := func(file, path string) {
		m := gitignore.CompileFile(file)
		if _, ok := m.Match(path, false); !ok {
			return
		}
		matched++
		if !slices.ContainsFunc(m.Keys(), func(k gitignore.Key) bool { return has(k, path) }) {
			t.Errorf("%q matches %q, which has none of %+v", file, path, m.Keys())
		}
	}
	for _, file := range trickyFiles {
		for _, name := range names {
			check(file, name)
			check(file, "a/b/"+name)
			check(file, "foo/"+name+"/bar")
		}
	}
	for range 60_000 {
		check(randomFile(r), randomPath(r))
	}
	if matched < 5_000 {
		t.Errorf("only %d paths were matched", matched)
	}
}
