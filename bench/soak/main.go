// Command soak lets skills and settings change at random under a running session,
// and compares: at every quiet point the snapshot equals a fresh load, byte for
// byte as `knack list --all --json` prints it, and the model has been told exactly
// the differences (spec D-6 to D-8, L-6).
//
//	go run ./bench/soak                 # half an hour
//	go run ./bench/soak -for 20s -quick # with short waits
//	go run ./bench/soak -seed 7         # the same changes again
//
// Changes are files created, edited in steps or by renaming, renamed and removed,
// whole roots that go and come back, links that lead elsewhere, checkouts of git
// branches, and settings that deny skills. The session is a real conversation of
// package agent with a scripted model, which calls a skill with each message.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"
)

func main() {
	var o options
	flag.DurationVar(&o.length, "for", 30*time.Minute, "how long to go on")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "the same seed, the same changes")
	flag.BoolVar(&o.quick, "quick", false, "wait for 60 ms where a session waits for 1.3 s")
	flag.BoolVar(&o.poll, "poll", false, "poll, without native events")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	tmp, err := os.MkdirTemp("", "knack-soak-")
	if err == nil {
		defer os.RemoveAll(tmp)
		fmt.Printf("seed %d, for %v\n", o.seed, o.length)
		var r report
		r, err = soak(ctx, tmp, o)
		fmt.Println(r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// options say how to soak.
type options struct {
	length time.Duration
	seed   uint64
	quick  bool
	poll   bool
}

// A report counts what happened.
type report struct {
	changes   map[string]int
	points    int // quiet ones
	messages  int
	reloads   int
	announced int // differences that the model was told
	largest   int // skills at once
	slowest   time.Duration
	goroutines,
	files [2]int // before and after
}

func (r report) String() string {
	all := 0
	for _, n := range r.changes {
		all += n
	}
	return fmt.Sprintf("%d quiet points, %d changes %v, %d reloads, %d messages, %d differences told, at most %d skills;\n"+
		"the slowest quiet point was reached after %v; goroutines %d to %d, open files %d to %d",
		r.points, all, r.changes, r.reloads, r.messages, r.announced, r.largest,
		r.slowest.Round(time.Millisecond), r.goroutines[0], r.goroutines[1], r.files[0], r.files[1])
}
