package prompt

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/knack-skills/knack/shell"
)

const (
	defaultTimeout = 2 * time.Minute // spec P-11
	maxParallel    = 8               // commands of one body at a time
)

// run decides about all commands and then runs them (spec P-10, P-11).
func (c *compiler) run(ctx context.Context) error {
	if c.literal || c.env.Off != "" || len(c.commands) == 0 {
		return nil
	}
	if a, ok := c.env.Shell.(interface{ Available(string) error }); ok {
		if err := a.Available(c.skill.Run.Shell); err != nil {
			return err // before anything runs (spec P-13)
		}
	}
	d := dialectOf(c.skill.Run.Shell)
	base := baseEnviron(c.env.Environ)
	exported := exportable(base)
	for i := range c.commands {
		cmd := &c.commands[i]
		cmd.line = d.prepare(cmd.piece.text, cmd.labels, cmd.tokens, c.scope, exported)
		p, err := c.decide(ctx, *cmd)
		if err != nil {
			return err
		}
		cmd.ran = Ran{Line: cmd.line, Decision: p.Decision, Rule: p.Rule}
		cmd.env = c.environ(*cmd, base, exported)
	}
	return c.start(ctx)
}

// decide asks whether cmd may run. Only "allow" allows.
func (c *compiler) decide(ctx context.Context, cmd command) (Permission, error) {
	denied := &DeniedError{Line: cmd.line, Source: cmd.source}
	switch {
	case c.env.Shell == nil:
		denied.Permission = Permission{Decision: "deny", Reason: "no shell is available here"}
		return Permission{}, denied
	case c.env.Decide == nil:
		denied.Permission = Permission{Decision: "deny", Reason: "nobody decides about commands here"}
		return Permission{}, denied
	}
	p, err := c.env.Decide(ctx, cmd.line)
	if err != nil {
		return p, err
	}
	if p.Decision != "allow" {
		denied.Permission = p
		return p, denied
	}
	return p, nil
}

// start runs all commands and collects their output. The first failure ends
// the others; of several, the one that stands first in the body is reported.
func (c *compiler) start(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(c.commands))
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for i := range c.commands {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if errs[i] = c.execute(running, &c.commands[i]); errs[i] != nil {
				stop()
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

// execute runs one command and judges its exit status (spec P-12).
func (c *compiler) execute(ctx context.Context, cmd *command) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timeout := c.env.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	now := c.env.Now
	if now == nil {
		now = time.Now
	}
	start := now()
	out, err := c.env.Shell.Run(ctx, shell.Command{
		Line: cmd.line, Shell: c.skill.Run.Shell, Args: c.positional(*cmd), Dir: c.env.WorkDir, Env: cmd.env,
		Timeout: timeout, Limit: memoryLimit, Spill: c.spillDir(),
	})
	cmd.ran.MS = now().Sub(start).Milliseconds()
	cmd.ran.ExitCode = out.Exit
	failed := &CommandError{Line: cmd.line, Source: cmd.source, ExitCode: out.Exit, Timeout: timeout}
	var missing *shell.MissingError
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case errors.As(err, &missing):
		return err
	case err != nil: // it could not be started, as a shell reports that
		failed.ExitCode, failed.Stderr = 126, err.Error()
		return failed
	}
	failed.Stderr = c.inserted(out.Stderr, out.StderrFile)
	failed.TimedOut = out.TimedOut
	result := out.Exit == 0 || out.Exit == 1 && resultStatus(cmd.line, dialectOf(c.skill.Run.Shell), out.Stderr)
	if out.TimedOut || !result {
		return failed
	}
	cmd.output = c.inserted(out.Stdout, out.StdoutFile)
	if failed.Stderr != "" {
		if cmd.output != "" {
			cmd.output = strings.TrimSuffix(cmd.output, "\n") + "\n"
		}
		cmd.output += "[stderr]\n" + failed.Stderr
	}
	return nil
}
