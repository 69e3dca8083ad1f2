package discovery_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/discovery"
	"github.com/knack-skills/knack/skill"
)

// segments are what paths and patterns of the tests below are made of.
var segments = []string{"a", "b", "src", "docs", "x.ts", "y.d.ts", "a_test.go", "Makefile", ".x", "foobar", "README.md", "..a", "é", "src.ts"}

// pieces are further parts of patterns.
var pieces = []string{"*", "**", "?", "[ab]", "*.ts", "*_test.go", "foo**", "s*", "*c", `\a`, "[!s]rc", "x*.ts", "[", "f*r", ""}

// randomPath joins one to most names, each from one of two lists.
func randomPath(r *rand.Rand, most int, lists ...[]string) string {
	var parts []string
	for n := 1 + r.IntN(most); n > 0; n-- {
		from := lists[r.IntN(len(lists))]
		parts = append(parts, from[r.IntN(len(from))])
	}
	return strings.Join(parts, "/")
}

func randomPattern(r *rand.Rand) string {
	p := randomPath(r, 4, segments, pieces)
	switch r.IntN(8) {
	case 0:
		p = "!" + p
	case 1:
		p += "/"
	case 2:
		p = "/" + p
	}
	return p
}

// TestSetAgrees holds the index against the plain way, skill by skill.
func TestSetAgrees(t *testing.T) { // spec D-4
	r := rand.New(rand.NewPCG(8, 2026))
	bases := []string{"/p", "/p/a", "/p/a/b", "/", "/p/src/", "/q"}
	hits := 0
	for round := range 60 {
		var rules []discovery.Rule
		var skills []*skill.Skill
		for i := range 1 + r.IntN(60) {
			var patterns []string
			for n := r.IntN(4); n > 0; n-- {
				patterns = append(patterns, randomPattern(r))
			}
			rules = append(rules, discovery.Rule{ID: fmt.Sprint(i), Base: bases[r.IntN(len(bases))], Patterns: patterns})
			skills = append(skills, &skill.Skill{Trigger: skill.Trigger{Conditional: true, Paths: patterns}})
		}
		set := discovery.NewSet(rules)
		for range 200 {
			parts := []string{"/p"}
			if r.IntN(4) == 0 {
				parts = []string{"/"}
			}
			for n := r.IntN(6); n > 0; n-- {
				parts = append(parts, segments[r.IntN(len(segments))])
			}
			file := strings.Join(parts, "/")
			var want []string
			for i, s := range skills {
				if _, ok := discovery.Activates(s, rules[i].Base, file); ok {
					want = append(want, rules[i].ID)
				}
			}
			hits += len(want)
			if got := set.Match(filepath.FromSlash(file)); !slices.Equal(got, want) {
				t.Fatalf("round %d, %s: got %q, want %q\n%q", round, file, got, want, rules)
			}
		}
	}
	if hits < 5_000 {
		t.Errorf("only %d matches", hits)
	}
}

func TestSet(t *testing.T) {
	set := discovery.NewSet([]discovery.Rule{
		{ID: "ts", Base: "/p", Patterns: []string{"**/*.ts", "!*.d.ts"}},
		{ID: "same", Base: "/p", Patterns: []string{"**/*.ts", "!*.d.ts"}},
		{ID: "order", Base: "/p", Patterns: []string{"!*.d.ts", "**/*.ts"}},
		{ID: "web", Base: "/p/web", Patterns: []string{"/x.ts"}},
		{ID: "any", Base: "/p", Patterns: []string{"**"}},
		{ID: "none", Base: "/p"},
	})
	for file, want := range map[string][]string{
		"/p/a.ts":         {"ts", "same", "order", "any"},
		"/p/a.d.ts":       {"order", "any"},
		"/p/web/x.ts":     {"ts", "same", "order", "web", "any"},
		"/p/web/../x.ts":  {"ts", "same", "order", "any"},
		"/p/README":       {"any"},
		"/p":              nil,
		"/proj/a.ts":      nil,
		"/q/a.ts":         nil,
		"/":               nil,
		"/p/new/dir/a.ts": {"ts", "same", "order", "any"},
	} {
		if got := set.Match(filepath.FromSlash(file)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
	if got := discovery.NewSet(nil).Match("/p/a.ts"); got != nil || set.Len() != 6 {
		t.Errorf("got %q, %d rules", got, set.Len())
	}
}

// thousands are conditional skills as a large monorepo has them.
func thousands(n int) []discovery.Rule {
	shapes := []string{
		"packages/app-%05d/**", "packages/lib-%05d/src/**/*.ts", "**/*.ext%d", "**/feature_%d*.ts", "*_%d_test.go",
		"services/s%d/**/*.go", "docs/%d/*.md", "/tools/t%d.sh", "Makefile.%d", "**/gen-%d/**/*.pb.go",
	}
	rules := make([]discovery.Rule, n)
	for i := range rules {
		rules[i] = discovery.Rule{ID: fmt.Sprintf("skill-%05d", i), Base: "/work/repo",
			Patterns: []string{fmt.Sprintf(shapes[i%len(shapes)], i), "!**/vendor/**"}}
	}
	return rules
}

func BenchmarkSetMatch(b *testing.B) {
	set := discovery.NewSet(thousands(10_000))
	b.ReportAllocs()
	for b.Loop() {
		if len(set.Match("/work/repo/packages/lib-00001/src/components/button/index.ts")) != 1 {
			b.Fatal("not the one")
		}
	}
}

// BenchmarkSetMatchShared: a tenth of the skills wants every TypeScript file.
func BenchmarkSetMatchShared(b *testing.B) {
	rules := thousands(10_000)
	for i := 0; i < len(rules); i += 10 {
		rules[i].Patterns = []string{"**/*.ts"}
	}
	set := discovery.NewSet(rules)
	b.ReportAllocs()
	for b.Loop() {
		if len(set.Match("/work/repo/packages/lib-00001/src/components/button/index.ts")) != 1001 {
			b.Fatal("not all")
		}
	}
}

// BenchmarkSetMatchPlain is what the index saves.
func BenchmarkSetMatchPlain(b *testing.B) {
	rules := thousands(10_000)
	skills := make([]*skill.Skill, len(rules))
	for i, r := range rules {
		skills[i] = &skill.Skill{Trigger: skill.Trigger{Conditional: true, Paths: r.Patterns}}
	}
	for b.Loop() {
		for i, s := range skills {
			discovery.Activates(s, rules[i].Base, "/work/repo/packages/lib-00001/src/components/button/index.ts")
		}
	}
}

func BenchmarkNewSet(b *testing.B) {
	rules := thousands(10_000)
	b.ReportAllocs()
	for b.Loop() {
		discovery.NewSet(rules)
	}
}
