package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// grace is how long output of background children is awaited after the command
// itself has ended, or after it was killed. Then they are killed as well.
const grace = time.Second

// Exec runs commands as child processes. It is safe for concurrent use.
//
// On Unix each command is the leader of a new session: it has no terminal, and
// it and its children are killed together. A child that makes a session of its
// own escapes that, as does one that job control puts into a group of its own
// and that holds none of the output, and outside Linux any in such a group.
type Exec struct {
	// Prepare may change a process before it starts: a sandbox puts itself in
	// front of the interpreter. Killing stays as it is, so what it starts must
	// stay in the session of the process. Its error is that of Run. Nil changes
	// nothing.
	Prepare func(cmd *exec.Cmd) error
}

// Run runs c. A command that passes its time limit is killed with SIGKILL at
// once: nobody reads what a polite farewell would print.
func (e Exec) Run(ctx context.Context, c Command) (Output, error) {
	i, path, err := find(c.Shell)
	if err != nil {
		return Output{}, err
	}
	if err := checkDir(c.Dir); err != nil {
		return Output{}, err
	}
	runCtx := ctx
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		runCtx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	args, extra := i.argv(c)
	base := c.Env
	if base == nil {
		base = os.Environ()
	}
	cmd := exec.CommandContext(runCtx, path, args...)
	cmd.Dir = c.Dir
	cmd.Env = environment(base, extra)
	cmd.WaitDelay = grace
	cmd.SysProcAttr = detached()
	if e.Prepare != nil {
		if err := e.Prepare(cmd); err != nil {
			return Output{}, err
		}
	}
	return run(ctx, cmd, c)
}

// run starts cmd, waits for it and collects what it left. ctx is the caller's;
// the time limit is already part of cmd.
func run(ctx context.Context, cmd *exec.Cmd, c Command) (Output, error) {
	stdout, stderr := newCapture(c), newCapture(c)
	stdout.follow = c.Follow
	if len(c.Stdin) > 0 {
		// os/exec writes it in the background, forgives a reader that closes
		// early, and gives up after WaitDelay when a child holds it unread.
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.Merge {
		cmd.Stderr = cmd.Stdout // one pipe for both
	}
	var killed atomic.Bool
	cmd.Cancel = func() error {
		killed.Store(true)
		return killGroup(cmd.Process.Pid)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		switch {
		case ctx.Err() != nil:
			return Output{}, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded): // a limit too short to start in
			return Output{Exit: killedStatus, TimedOut: true, Duration: time.Since(start)}, nil
		}
		return Output{}, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	waitErr := cmd.Wait()
	killLeftovers(cmd.Process.Pid)
	if killed.Load() || errors.Is(waitErr, exec.ErrWaitDelay) {
		killSession(cmd.Process.Pid) // looks at all processes, so only when needed
	}
	if cmd.ProcessState == nil {
		return Output{}, fmt.Errorf("wait for %s: %w", cmd.Path, waitErr)
	}
	out := Output{Exit: exitStatus(cmd.ProcessState), Duration: time.Since(start)}
	out.Stdout, out.StdoutFile = stdout.close()
	out.Stderr, out.StderrFile = stderr.close()
	out.Lost = stdout.lost || stderr.lost
	if !killed.Load() || !diedKilled(cmd.ProcessState) {
		return out, nil // it ended by itself, if only just
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	out.TimedOut = true
	return out, nil
}

// killedStatus is the exit status of a command that was killed with SIGKILL.
const killedStatus = 128 + 9

// checkDir reports a missing working directory by its name; the operating
// system would only say that starting the shell failed.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory: %s is not a directory", dir)
	}
	return nil
}
