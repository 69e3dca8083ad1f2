package hookexec

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/text"
)

// maxOutput bounds what is kept of each output stream, and of each answer
// (spec H-9).
const maxOutput = 1 << 20

// An answer is what a handler said, before anything is made of it.
type answer struct {
	exit           int
	stdout, stderr string
	outcome        hook.Outcome // texts as the hook wrote them
	faults         []string     // parts of its output that cannot be used
	timedOut       bool
	// fault says why the hook has no say; it is told once for each kind.
	fault, kind string
}

func failed(kind, format string, args ...any) answer {
	return answer{kind: kind, fault: fmt.Sprintf(format, args...)}
}

// command runs a process and reads what it says (spec H-6).
func (r *Runner) command(ctx context.Context, e Entry, in hook.Input, payload []byte) answer {
	c, err := r.prepare(e, in)
	if err != nil {
		return failed("prepare", "%v%s", err, unguarded(e))
	}
	c.Stdin = payload
	out, err := r.opts.Shell.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return failed("interrupted", "it was interrupted")
	case err != nil:
		return failed("start", "it could not be started: %v%s", err, unguarded(e))
	}
	a := judge(e, in.Event, out)
	a.exit, a.stdout, a.stderr = out.Exit, string(out.Stdout), string(out.Stderr)
	if out.Lost {
		a.faults = append(a.faults, "it printed more than 1 MiB; the rest was dropped")
	}
	return a
}

// judge is the table of exit statuses.
func judge(e Entry, event hook.Event, out shell.Output) answer {
	why := firstLine(string(out.Stderr))
	switch {
	case out.TimedOut:
		a := failed("timeout", "it was ended after %v, its time limit", e.Handler.Limit())
		a.timedOut = true
		return a
	case out.Exit == 0:
		var a answer
		a.outcome, a.faults = hook.ReadOutput(event, out.Stdout)
		return a
	case out.Exit == 2:
		reason := strings.TrimSpace(string(out.Stderr))
		return refusal(cmp.Or(reason, fmt.Sprintf("its hook %q blocked this without a reason", Summary(e.Handler))))
	case out.Exit == 127:
		return failed("127", "the program %s was not found (exit status 127): %s%s", missing(e.Handler, string(out.Stderr)), why, unguarded(e))
	case out.Exit == 126:
		return failed("126", "%s cannot be executed (exit status 126): %s%s", missing(e.Handler, string(out.Stderr)), why, unguarded(e))
	}
	return failed(fmt.Sprint(out.Exit), "it failed with exit status %d: %s", out.Exit, cmp.Or(why, "it printed no error"))
}

func refusal(reason string) answer {
	return answer{outcome: hook.Outcome{Opinion: hook.Deny, Block: true, Reason: reason}}
}

// unguarded says in plain words what it means that a skill's hook does not run:
// people rely on such hooks as checks.
func unguarded(e Entry) string {
	if e.Level != Skill && e.Level != Agent {
		return ""
	}
	return "; THIS CHECK IS NOT RUNNING: what " + Origin(e) + " relies on is not enforced"
}

// missing names the program, from what the shell says or else from the line.
func missing(h hook.Handler, stderr string) string {
	notFound := regexp.MustCompile(`(?m)([^:\n]+): (?:command not found|not found|No such file or directory|Permission denied|cannot execute[^\n]*|Is a directory)`)
	if m := notFound.FindStringSubmatch(stderr); m != nil {
		return text.Line(m[1])
	}
	word := h.Command
	if h.Args == nil {
		if fields := strings.Fields(h.Command); len(fields) > 0 {
			word = fields[0]
		}
	}
	return text.Line(word)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return text.Cut(text.Line(line), 300)
}
