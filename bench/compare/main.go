// Command compare times whole processes against the bare cost of reading the
// same files, in one run and in turns, so that the ratios hold on a noisy
// machine. docs/performance.md is filled from its output.
//
//	go run ./bench/compare -skills 1000
//	go run ./bench/compare -peer "other list --json"
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/internal/lab"
)

// A contender is one command that is timed in the generated workspace.
type contender struct {
	name  string
	args  []string
	times []time.Duration
	rss   int64 // peak resident set, KiB
}

type peers []string

func (p *peers) String() string     { return strings.Join(*p, "; ") }
func (p *peers) Set(s string) error { *p = append(*p, s); return nil }

func main() {
	var others peers
	skills := flag.Int("skills", 1000, "how many skills to generate")
	rounds := flag.Int("rounds", 21, "how often each command is timed")
	flag.Var(&others, "peer", "a further command to time, run in the workspace (repeatable)")
	flag.Parse()
	if err := compare(*skills, *rounds, others); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func compare(skills, rounds int, others peers) error {
	tmp, err := os.MkdirTemp("", "knack-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	knack := filepath.Join(tmp, "knack")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", knack, "./cmd/knack").CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	workspace := filepath.Join(tmp, "workspace")
	if err := (lab.Tree{Skills: skills, Seed: 1}).Write(workspace); err != nil {
		return err
	}
	cat := []string{"sh", "-c", "exec find .claude/skills -name SKILL.md -exec cat {} +"}
	if files, _ := filepath.Glob(filepath.Join(workspace, ".claude/skills/*/SKILL.md")); skills <= 20_000 {
		cat = append([]string{"cat"}, files...)
	}
	list := []*contender{
		{name: "cat of every SKILL.md", args: cat},
		{name: "knack list --json", args: []string{knack, "list", "--json"}},
		{name: "knack listing", args: []string{knack, "listing"}},
		{name: "knack search", args: []string{knack, "search", "deploy the payment worker"}},
		{name: "knack render", args: []string{knack, "render", "skill-000007", "x"}},
		{name: "knack version", args: []string{knack, "version"}},
	}
	for _, o := range others {
		list = append(list, &contender{name: o, args: strings.Fields(o)})
	}
	env := append(os.Environ(), "HOME="+filepath.Join(tmp, "home"), "KNACK_STATE_DIR="+filepath.Join(tmp, "state"))
	for range rounds + 1 { // the first round warms the file cache
		for _, c := range list {
			if err := c.run(workspace, env); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	report(skills, list)
	return nil
}

func (c *contender) run(dir string, env []string) error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	start := time.Now()
	err := cmd.Run()
	c.times = append(c.times, time.Since(start))
	if err != nil {
		return err
	}
	c.rss = max(c.rss, peak(cmd.ProcessState))
	return nil
}

func report(skills int, list []*contender) {
	fmt.Printf("%d skills, medians of %d rounds run in turns\n\n", skills, len(list[0].times)-1)
	fmt.Println("| command | median ms | min ms | ratio to cat | peak MB |")
	fmt.Println("|---|---|---|---|---|")
	base := median(list[0].times[1:])
	for _, c := range list {
		times := c.times[1:]
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.1f |\n", c.name, ms(median(times)), ms(slices.Min(times)),
			float64(median(times))/float64(base), float64(c.rss)/1024)
	}
}

func median(t []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(t))
	return s[len(s)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
