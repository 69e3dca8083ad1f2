package shell

import (
	"fmt"
	"strings"
)

// bashArgs runs the line without start-up files. The two dashes matter: a line
// that begins with a dash would otherwise be read as options, and the first
// argument, which is data, as the program (spec P-9).
func bashArgs(c Command) (args, env []string) {
	args = []string{"--noprofile", "--norc", "-c", "--", clean(c.Line)}
	for _, a := range c.Args {
		args = append(args, clean(a))
	}
	return args, nil
}

// powershellArgs runs the line after a prelude that sets $0, $1 and so on.
// PowerShell joins everything behind -Command into one program, so arguments
// never stand there: the prelude reads them from the environment. What follows
// the line turns the outcome of its last statement into an exit status.
func powershellArgs(c Command) (args, env []string) {
	var b strings.Builder
	for i, a := range c.Args {
		name := fmt.Sprintf("KNACK_POSITIONAL_%d", i)
		fmt.Fprintf(&b, "${%d} = [string]$env:%s\n", i, name)
		env = append(env, name+"="+clean(a))
	}
	b.WriteString("$LASTEXITCODE = 0\n")
	b.WriteString(clean(c.Line))
	b.WriteString("\nif ($?) { exit 0 } elseif ($LASTEXITCODE) { exit $LASTEXITCODE } else { exit 1 }\n")
	return []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-Command", b.String()}, env
}

// clean drops NUL, which no argument and no variable of a process can hold.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// startup are variables that make bash read a file before the line. They are
// dropped for the reason that --norc is given.
var startup = []string{"BASH_ENV", "ENV"}

// environment returns base without start-up variables and NULs, then extra.
func environment(base, extra []string) []string {
	out := make([]string, 0, len(base)+len(extra))
next:
	for _, kv := range base {
		for _, name := range startup {
			if value, ok := strings.CutPrefix(kv, name); ok && strings.HasPrefix(value, "=") {
				continue next
			}
		}
		out = append(out, clean(kv))
	}
	return append(out, extra...)
}
