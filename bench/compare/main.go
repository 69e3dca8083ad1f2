// Command compare times whole processes against the bare cost of finding and of
// reading the same files, in one run and in turns, so that the ratios hold on a
// noisy machine. docs/performance.md is filled from its output.
//
//	go run ./bench/compare -skills 1000
//	go run ./bench/compare -skills 100000 -rounds 3
//	go run ./bench/compare -peer "other list --json"
//	go run ./bench/compare -skills 10 -servers 20
//
// Each root holds at most 20,000 skills, as many as knack looks at; more of them
// are spread over further directories.
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
	"github.com/knack-skills/knack/source/dir"
)

// A contender is one command that is timed in the generated workspace.
type contender struct {
	name  string
	args  []string
	env   []string // besides that of all
	times []time.Duration
	cpu   []time.Duration // user and system
	rss   int64           // peak resident set, KiB
}

type peers []string

func (p *peers) String() string     { return strings.Join(*p, "; ") }
func (p *peers) Set(s string) error { *p = append(*p, s); return nil }

func main() {
	var others peers
	skills := flag.Int("skills", 1000, "how many skills to generate")
	rounds := flag.Int("rounds", 21, "how often each command is timed")
	servers := flag.Int("servers", 0, "also time a conversation beside so many MCP servers")
	flag.Var(&others, "peer", "a further command to time, run in the workspace (repeatable)")
	flag.Parse()
	if err := compare(*skills, *rounds, *servers, others); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func compare(skills, rounds, servers int, others peers) error {
	tmp, err := os.MkdirTemp("", "knack-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	knack := filepath.Join(tmp, "knack")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", knack, "./cmd/knack").CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	roots, err := generate(tmp, skills)
	if err != nil {
		return err
	}
	list := contenders(tmp, knack, roots, skills)
	if servers > 0 {
		more, err := conversations(tmp, knack, servers)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	for _, o := range others {
		list = append(list, &contender{name: o, args: strings.Fields(o)})
	}
	env := append(os.Environ(), "HOME="+filepath.Join(tmp, "home"), "KNACK_STATE_DIR="+filepath.Join(tmp, "state"))
	before := load()
	for range rounds + 1 { // the first round warms the file cache, and writes the index
		for _, c := range list {
			if err := c.run(filepath.Join(tmp, roots[0]), env); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	report(skills, list)
	fmt.Printf("\nload of the machine before: %s; after: %s\n", before, load())
	return nil
}

// generate makes as many workspaces below tmp as it takes, and returns their
// names. The first one is where the commands run.
func generate(tmp string, skills int) (roots []string, err error) {
	for from := 0; from < skills || from == 0; from += dir.MaxDirectories {
		name := fmt.Sprintf("workspace%d", len(roots))
		tree := lab.Tree{Skills: min(skills-from, dir.MaxDirectories), First: from, Seed: uint64(from) + 1}
		if err := tree.Write(filepath.Join(tmp, name)); err != nil {
			return nil, err
		}
		roots = append(roots, name)
	}
	// Without an index: nothing can be written where a file lies.
	if err := os.Mkdir(filepath.Join(tmp, "bare"), 0o700); err != nil {
		return nil, err
	}
	return roots, os.WriteFile(filepath.Join(tmp, "bare", "index"), nil, 0o600)
}

func contenders(tmp, knack string, roots []string, skills int) []*contender {
	find := []string{"find"}
	var more []string
	for i, r := range roots {
		find = append(find, filepath.Join(tmp, r, ".claude", "skills"))
		if i > 0 {
			more = append(more, "--add-dir", filepath.Join(tmp, r))
		}
	}
	find = append(find, "-name", "SKILL.md")
	run := func(args ...string) []string { return slices.Concat([]string{knack}, args, more) }
	bare := []string{"KNACK_STATE_DIR=" + filepath.Join(tmp, "bare")}
	list := []*contender{
		{name: "find every SKILL.md", args: find},
		{name: "cat of every SKILL.md", args: append(slices.Clone(find), "-exec", "cat", "{}", "+")},
		{name: "knack list --json", args: run("list", "--json")},
		{name: "knack list --json, no index", args: run("list", "--json"), env: bare},
		{name: "knack render", args: run("render", "skill-000007", "x")},
		{name: "knack render, no index", args: run("render", "skill-000007", "x"), env: bare},
		{name: "knack listing", args: run("listing")},
		{name: "knack version", args: []string{knack, "version"}},
	}
	if skills <= dir.MaxDirectories {
		list = append(list, &contender{name: "knack search (reads every body)", args: run("search", "deploy the payment worker")})
	}
	return list
}

func (c *contender) run(at string, env []string) error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = at, append(slices.Clip(env), c.env...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	c.times = append(c.times, time.Since(start))
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if len(c.times) == 1 {
		return nil // the round that warms up: it has no index yet
	}
	c.rss = max(c.rss, peak(cmd.ProcessState))
	return nil
}

func report(skills int, list []*contender) {
	fmt.Printf("%d skills, medians of %d rounds run in turns; ratios are to the first row\n\n", skills, len(list[0].times)-1)
	fmt.Println("| command | median ms | min ms | ratio | CPU ms | CPU ratio | peak MB |")
	fmt.Println("|---|---|---|---|---|---|---|")
	base, baseCPU := median(list[0].times[1:]), median(list[0].cpu[1:])
	for _, c := range list {
		times, cpu := median(c.times[1:]), median(c.cpu[1:])
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.1f | %.2f | %.1f |\n", c.name, ms(times), ms(slices.Min(c.times[1:])),
			float64(times)/float64(base), ms(cpu), float64(cpu)/float64(baseCPU), float64(c.rss)/1024)
	}
}

// load returns the load averages of the machine, where they can be had.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); err == nil && len(f) > 2 {
		return strings.Join(f[:3], " ")
	}
	return "unknown"
}

func median(t []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(t))
	return s[len(s)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
