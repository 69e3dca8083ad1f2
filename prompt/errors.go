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
	if why := p.why(); why != "" {
		b.WriteString("\n" + why)
	}
	switch {
	case p.Decision == "ask" && p.Rule != "": // no allow rule lifts an ask rule
		b.WriteString("\nnobody can be asked here: remove that rule, or start the skill where somebody can answer")
	case p.Decision == "ask":
		b.WriteString("\nnobody can be asked here: allow it with a Bash(…) rule in the skill's allowed-tools or in the settings")
	}
	b.WriteString("\nnothing was run")
	return b.String()
}

// why says what was decided and by which rule.
func (p Permission) why() string {
	verdict := decided(p.Decision)
	switch {
	case strings.HasPrefix(p.Reason, verdict) && strings.Contains(p.Reason, p.Rule):
		return p.Reason
	case p.Rule != "" && p.Reason != "":
		return verdict + " by rule " + p.Rule + ": " + p.Reason
	case p.Rule != "":
		return verdict + " by rule " + p.Rule
	case p.Reason != "":
		return verdict + ": " + p.Reason
	}
	return ""
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
