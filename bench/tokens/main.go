// Command tokens simulates one long session and counts what the model's
// knowledge of skills costs in it, for several strategies of telling it. It
// runs the listing, search and session packages on generated skills; only the
// talk around them is made up. Nothing depends on the clock, on chance or on
// the directory. docs/performance.md is filled from its output.
//
//	go run ./bench/tokens
//	go run ./bench/tokens -skills 1000
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	skills := flag.Int("skills", 200, "how many skills to generate")
	requests := flag.Int("requests", 5, "how many requests a turn has")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *skills, *requests); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, skills, requests int) error {
	tmp, err := os.MkdirTemp("", "knack-tokens-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	reports, err := simulateAll(ctx, tmp, skills, requests)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, tables(skills, requests, reports))
	return err
}

func simulateAll(ctx context.Context, tmp string, skills, requests int) ([]report, error) {
	if requests < 1 {
		return nil, fmt.Errorf("a turn has %d requests; it needs one", requests)
	}
	l, err := newLibrary(ctx, tmp, skills)
	if err != nil {
		return nil, err
	}
	var out []report
	for _, s := range strategies() {
		r, err := simulate(ctx, l, s, requests)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// What a cached token costs in tokens of plain input; the usual prices.
const (
	writePrice = 1.25
	readPrice  = 0.1
)

// A report is what one strategy cost, and what the model could do with it.
type report struct {
	name        string
	put         [kinds]int // tokens that joined the context, by kind
	writes      int        // cache-write tokens of all requests
	reads       int        // cache-read tokens of all requests
	largest     int        // tokens of the largest request
	lookUps     int        // searches
	invocations int
	byModel     int     // invocations of skills that the model could reach
	reachable   []reach // after each compaction
}

// A reach counts the skills that the model can come to.
type reach struct {
	named     int // the id stands in the context
	firstFive int // a search has it among the first five hits
	found     int // or the first twenty
	allWords  int // or the first twenty, for a query of its whole description
	all       int // named or found
	of        int // skills
}

// spent is what discovery and restored bodies put into the context.
func (r report) spent() int { return r.put[discovery] + r.put[restored] }

// price is that of all requests, in tokens of plain input.
func (r report) price() float64 { return writePrice*float64(r.writes) + readPrice*float64(r.reads) }

func tables(skills, requests int, reports []report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d skills, %d turns of %d requests, %d invocations, %d compactions\n\n",
		skills, turns, requests, len(invocations()), len(compactions()))
	row := func(cells ...string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

	row("tokens", "discovery", "restored", "both", "cache writes", "cache reads", "price", "largest request")
	b.WriteString(strings.Repeat("|---", 8) + "|\n")
	for _, r := range reports {
		row(r.name, number(r.put[discovery]), number(r.put[restored]), number(r.spent()),
			number(r.writes), number(r.reads), number(int(r.price())), number(r.largest))
	}
	b.WriteString("\n")
	row("skills in reach after compaction", "1", "2", "3", "by name", "in 5 hits", "in 20 hits", "by all words", "searches", "calls in reach")
	b.WriteString(strings.Repeat("|---", 10) + "|\n")
	for _, r := range reports {
		last := r.reachable[2]
		five, twenty, all := "–", "–", "–"
		if last.found > 0 {
			five, twenty, all = percent(last.firstFive, last.of), percent(last.found, last.of), percent(last.allWords, last.of)
		}
		row(r.name, r.reachable[0].share(), r.reachable[1].share(), last.share(), percent(last.named, last.of),
			five, twenty, all, fmt.Sprint(r.lookUps), fmt.Sprintf("%d of %d", r.byModel, r.invocations))
	}
	return b.String()
}

func (r reach) share() string { return percent(r.all, r.of) }

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of)) }

// number writes n with a comma at each thousand.
func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
