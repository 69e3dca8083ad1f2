// Command knack runs, explains and checks skills for AI agents.
package main

import (
	"os"
	"runtime/debug"

	"github.com/knack-skills/knack/internal/cli"
	"github.com/knack-skills/knack/sandbox"
)

// gcPercent lets the heap of this short-lived process grow to 16 MB before the
// first collection: a list of a thousand skills then ends without any
// (docs/performance.md). GOGC overrides it.
const gcPercent = 400

// memoryLimit is from where on collecting is worth its time after all: with
// 100,000 skills the heap would otherwise grow to twice what is in use
// (docs/performance.md). It bounds nothing. GOMEMLIMIT overrides it.
const memoryLimit = 300 << 20

func main() {
	if code, mine := sandbox.Main(os.Args); mine {
		os.Exit(code) // it was started to bind a command
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
