package permission

import (
	"fmt"
	"testing"
)

func manyRules(t testing.TB, n int) []Rule {
	var out []Rule
	for i := range n {
		text := [...]string{"Bash(tool%d sub:*)", "Bash(git sub%d:*)", "Bash(npm run x%d *)", "Bash(make * t%d)", "Read(src/dir%d/**)", "Skill(team:s%d)"}[i%6]
		r, err := ParseRule(fmt.Sprintf(text, i))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// BenchmarkDecide is 1,000 decisions with 1,000 rules.
func BenchmarkDecide(b *testing.B) {
	some := manyRules(b, 1000)
	rs := Rules{Deny: some[:200], Ask: some[200:300], Allow: some[300:]}
	for _, bm := range []struct {
		name string
		reqs []Request
	}{
		{"bash", []Request{bashRequest("git commit -m 'x y'"), bashRequest("npm run build && git status"), bashRequest("ls -la | grep x")}},
		{"path", []Request{{Tool: "Edit", Input: Input{Path: "src/dir7/a.go"}, WorkDir: "/w/p"}, {Tool: "Read", Input: Input{Path: "x/y.go"}, WorkDir: "/w/p"}}},
		{"skill", []Request{{Tool: "Skill", Input: Input{Skill: "team:other"}}}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				for i := range 1000 {
					rs.Decide(bm.reqs[i%len(bm.reqs)])
				}
			}
		})
	}
}
