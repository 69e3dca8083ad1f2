// Package lab makes the fixtures that tests and benchmarks share: generated
// workspaces of any size, the same for the same seed.
package lab

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// words are what generated skills are written with.
var words = strings.Fields(`build test deploy review report search parse render check release
	database schema index query cache server client worker queue stream file folder image table
	chart design style page form button error retry limit budget token prompt model agent tool
	project customer invoice payment order ticket account user policy audit secret network`)

// A Tree says what to generate.
type Tree struct {
	Skills      int
	First       int    // number of the first one, so that several trees differ
	MinBytes    int    // size of the smallest SKILL.md; zero means 1,000
	MaxBytes    int    // size of the largest; zero means 10,000
	Conditional int    // how many of them are bound to paths
	Seed        uint64 // same seed, same tree
}

// Write makes dir/.claude/skills with the skills of t.
func (t Tree) Write(dir string) error {
	if t.MinBytes == 0 {
		t.MinBytes, t.MaxBytes = 1_000, 10_000
	}
	r := rand.New(rand.NewPCG(t.Seed, 1))
	root := filepath.Join(dir, ".claude", "skills")
	for i := range t.Skills {
		name := fmt.Sprintf("skill-%06d", t.First+i)
		d := filepath.Join(root, name)
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(d, "SKILL.md"), t.skill(r, i, name), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (t Tree) skill(r *rand.Rand, i int, name string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s. Use when the person asks for %s.\n", name, phrase(r, 12+r.IntN(24)), phrase(r, 4))
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "allowed-tools: Read, Grep, Bash(git log:*)\n")
	}
	if i < t.Conditional {
		fmt.Fprintf(&b, "paths: \"src/%s/**/*.%s, *.%s\"\n", pick(r), pick(r), pick(r))
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n", phrase(r, 3))
	size := t.MinBytes + r.IntN(t.MaxBytes-t.MinBytes+1)
	for b.Len() < size {
		if r.IntN(12) == 0 {
			fmt.Fprintf(&b, "\n## %s\n\n", phrase(r, 3))
		}
		b.WriteString(phrase(r, 10) + ".\n")
	}
	return []byte(b.String())
}

func pick(r *rand.Rand) string { return words[r.IntN(len(words))] }

func phrase(r *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = pick(r)
	}
	return strings.Join(out, " ")
}
