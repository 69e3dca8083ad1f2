package prompt

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// A DeniedError reports that a command is not allowed; nothing ran (spec P-10).
type DeniedError struct {
	Line       string
	Source     int // line of the file
	Permission Permission
}

// Error names the command, the rule and what would allow it.
func (e *DeniedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "inline command on line %d is not allowed: %s", e.Source, shown(e.Line))
	p := e.Permission
	switch {
	case p.Rule != "":
		fmt.Fprintf(&b, "\n%s by rule %s", decided(p.Decision), p.Rule)
		if p.Reason != "" {
			fmt.Fprintf(&b, " (%s)", p.Reason)
		}
	case p.Reason != "":
		fmt.Fprintf(&b, "\n%s: %s", decided(p.Decision), p.Reason)
	}
	if p.Decision == "ask" {
		b.WriteString("\nnobody can be asked here: allow it with a Bash(…) rule in the skill's allowed-tools or in the settings")
	}
	b.WriteString("\nnothing was run")
	return b.String()
}

func decided(decision string) string {
	switch decision {
	case "ask":
		return "needs approval"
	case "deny":
		return "denied"
	}
	return "not allowed"
}

// A CommandError reports that a command failed (spec P-12).
type CommandError struct {
	Line     string
	Source   int
	ExitCode int
	Stderr   string
	TimedOut bool
	Timeout  time.Duration
}

// Error names the command, how it ended, what it complained about and what to
// do.
func (e *CommandError) Error() string {
	var how, advice string
	switch {
	case e.TimedOut:
		how = fmt.Sprintf("timed out after %v and was killed", e.Timeout)
		advice = "make it faster, or let the model run it"
	case e.ExitCode == 127:
		how = "failed with exit code 127: command not found"
		advice = "install the program, or correct its name or PATH"
	case e.ExitCode == 126:
		how = "failed with exit code 126: it could not be started"
		advice = "check its permissions and the working directory"
	case e.ExitCode > 128:
		how = fmt.Sprintf("failed with exit code %d: killed by signal %d", e.ExitCode, e.ExitCode-128)
	default:
		how = fmt.Sprintf("failed with exit code %d", e.ExitCode)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "inline command on line %d %s: %s", e.Source, how, shown(e.Line))
	if text := strings.TrimSpace(e.Stderr); text != "" {
		b.WriteString("\n[stderr]\n" + text)
	}
	b.WriteString("\n" + cmp.Or(advice, `correct it, or add "|| true" if its failure does not matter`))
	return b.String()
}

// shown returns a command line for a message: a script by its first line.
func shown(line string) string {
	line = strings.TrimSpace(line)
	first, rest, more := strings.Cut(line, "\n")
	const most = 300
	if utf8.RuneCountInString(first) > most {
		first = firstCharacters(first, most) + "…"
	}
	if more {
		first += fmt.Sprintf(" … (%d more lines)", strings.Count(rest, "\n")+1)
	}
	return first
}
