package main

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/scan"
)

// securityRules describes what the scanner looks for.
func securityRules() string {
	var b strings.Builder
	b.WriteString("# Security rules\n\n" + generated)
	b.WriteString(`` + "`knack check --security`" + ` applies these rules to a skill and the files beside it. Ids
are stable and never used again; the name is the code of the problem in JSON.

The severity is the highest that a rule gives. A command that runs without
anybody reading it (an inline command, a hook, a script) is graded highest; one
that a text tells a model to run is a warning; one that the text only explains or
warns of, or the installer of a well-known project, is a hint (` + "`info`" + `). Nothing is
left out because of the words around it, and no comment in a file accepts a
finding: whoever attacks could write it.

Shell text is judged as a shell would read it, so quotes, continued lines, ` + "`bash -c`" + `
and here-documents do not hide a command. Other languages are judged by patterns.
The scanner finds carelessness and plain attacks. **A clean report is no proof.**

`)
	b.WriteString("| id | name | severity | looks at |\n|---|---|---|---|\n")
	for _, r := range scan.Rules() {
		fmt.Fprintf(&b, "| [%s](#%s-%s) | `%s` | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Name, r.Name, r.Severity, strings.Join(r.Where, ", "))
	}
	for _, r := range scan.Rules() {
		fmt.Fprintf(&b, "\n## %s %s\n\n**%s.** %s\n\nFix: %s.\n", r.ID, r.Name, r.Title, r.Why, r.Fix)
	}
	return b.String()
}
