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

func main() {
	if code, mine := sandbox.Main(os.Args); mine {
		os.Exit(code) // it was started to bind a command
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
