package workspace

import (
	"fmt"
	"io"
	"strings"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// waits are the problems that say no more than that a workspace is not trusted.
// With -v, and in `knack doctor`, each has a line of its own.
var waits = map[string]bool{"setting-untrusted": true, "rule-untrusted": true, "agent-untrusted": true, "mcp-untrusted": true}

// Waits reports whether a problem was part of the notice about trust.
func (f *Flags) Waits(p skill.Problem) bool { return waits[p.Code] && f.told.all && !f.Verbose }

// notTrusted is what a run has said about a workspace that is not trusted: one
// notice is enough (spec S-9).
type notTrusted struct{ all, skill bool }

// settings tells of everything that is off, once.
func (t *notTrusted) settings(w io.Writer, off []skill.Problem) {
	if len(off) == 0 || t.all {
		return
	}
	t.all = true
	var parts []string
	for _, p := range off {
		_, what, _ := strings.Cut(p.Message, ": ")
		if p.Code == "rule-untrusted" {
			what = "allow rules " + what
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", what, p.Path))
	}
	fmt.Fprintln(w, "notice: "+invoke.NotTrusted+", so what it brings is off: grants, hooks and inline commands of its skills, "+
		output.Tilde(text.Terminal(strings.Join(parts, ", ")))+"; read it, then use --trust for this run, or `knack doctor --trust` to remember it")
}

// Told reports whether a notice of a skill repeats what was said about trust.
// What was said on standard error is not known to who reads a stream.
func (f *Flags) Told(notice string, stream bool) bool {
	if !strings.HasPrefix(notice, invoke.NotTrusted) {
		return false
	}
	before := f.told.skill || f.told.all && !stream
	f.told.skill = true
	return before
}
