// Package shell runs command lines as child processes: own process group, time
// limit, output limit, no terminal, standard input empty or given (spec P-11).
// It does not decide whether a line may run.
package shell

import (
	"context"
	"io"
	"time"
)

// A Command is one command line and where to run it.
type Command struct {
	Line    string        // program text; never contains arguments (spec P-9)
	Shell   string        // "bash" (also when empty) or "powershell"
	Args    []string      // positional parameters, Args[0] is $0
	Dir     string        // working directory
	Env     []string      // complete environment; nil means the process's own
	Timeout time.Duration // zero means no limit but that of ctx
	Limit   int           // bytes of output kept in memory of each stream; zero means 1 MiB
	Spill   string        // directory for the full output when Limit is passed; empty drops the rest
	// Stdin is what the command reads on standard input, which ends after it;
	// empty is an empty input. A command that leaves it unread is at no fault.
	Stdin []byte
	// Merge sends standard error where standard output goes, so that both are
	// in the order in which they were written; Output.Stderr stays empty.
	Merge bool
	// Follow gets what goes to standard output while the command runs, from one
	// goroutine. What it returns is ignored: it cannot stop a command. Nil is
	// nobody.
	Follow io.Writer
}

// Output is what a command left behind. A non-zero exit is not an error.
type Output struct {
	Stdout, Stderr         []byte
	StdoutFile, StderrFile string // full output when it passed the limit
	Exit                   int    // exit status; 128+n when killed by signal n
	TimedOut               bool
	// Lost reports that output was neither kept nor saved: Spill is empty or
	// could not be written, or a stream passed 64 MiB.
	Lost     bool
	Duration time.Duration
}

// A Runner runs commands. [Exec] uses the operating system; sandboxes and
// tests bring their own. Run returns an error only when the command could not
// be started or ctx ended; it never leaves a process behind.
type Runner interface {
	Run(ctx context.Context, c Command) (Output, error)
}
