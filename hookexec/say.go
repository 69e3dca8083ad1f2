package hookexec

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/text"
)

// maxText is the longest text in characters that a hook gets to say (spec
// H-6); the rest is in a file.
const maxText = 10_000

// Origin names who declared a hook, for people and the model.
func Origin(e Entry) string {
	switch e.Level {
	case Skill:
		return "the skill " + text.Line(e.Owner)
	case Plugin:
		return "the plugin " + text.Line(e.Owner)
	case Agent:
		return "the " + text.Line("agent "+strings.TrimPrefix(e.Owner, "agent "))
	case Managed:
		return "the administrator"
	case "":
		return text.Line(e.Owner)
	}
	return "the " + e.Level + " settings"
}

// Summary is a handler in one line. It shows no header and no query, which may
// hold secrets.
func Summary(h hook.Handler) string {
	var s string
	switch h.Type {
	case hook.Command:
		s = strings.Join(append([]string{h.Command}, h.Args...), " ")
	case hook.HTTP:
		s = "http"
		if u, err := url.Parse(h.URL); err == nil {
			s = u.Scheme + "://" + u.Host + u.EscapedPath()
		}
	case hook.MCPTool:
		s = h.Server + " " + h.Tool
	default:
		s = h.Type + ": " + h.Prompt
	}
	return text.Cut(text.Terminal(strings.Join(strings.Fields(s), " ")), 120)
}

// conclude turns an answer into a result: texts are made safe, trouble becomes
// a notice, once of each kind.
func (r *Runner) conclude(e Entry, in hook.Input, st *state, a answer) Result {
	res := Result{Entry: e, Verdict: OK, Exit: a.exit, Stdout: a.stdout, Stderr: a.stderr}
	where := fmt.Sprintf("%s hook of %s (%s)", in.Event, Origin(e), Summary(e.Handler))
	if a.fault != "" {
		res.Verdict, res.Err = Failed, a.fault
		if a.timedOut {
			res.Verdict = Timeout
		}
		if a.kind != "interrupted" && r.first(st, a.kind) {
			res.Outcome.Notices = []string{r.shown(where + ": " + a.fault)}
		}
	}
	for _, f := range a.faults {
		if r.first(st, "output "+f) {
			res.Outcome.Notices = append(res.Outcome.Notices, r.shown(where+": "+f))
		}
	}
	if a.fault != "" {
		return res
	}
	o := a.outcome
	for _, n := range o.Notices {
		res.Outcome.Notices = append(res.Outcome.Notices, r.shown("hook of "+Origin(e)+": "+n))
	}
	res.Outcome.Opinion, res.Outcome.Block, res.Outcome.Stop, res.Outcome.UpdatedInput = o.Opinion, o.Block, o.Stop, o.UpdatedInput
	if o.Refuses() {
		res.Verdict = Blocked
	}
	if o.Opinion != hook.NoOpinion {
		res.Outcome.Reason = r.shown("hook of " + Origin(e) + ": " + or(o.Reason, "no reason given") + ends(e, o))
	}
	if o.Stop {
		res.Outcome.StopReason = r.shown("hook of " + Origin(e) + ": " + or(o.StopReason, "no reason given"))
	}
	for _, c := range o.Context {
		res.Outcome.Context = append(res.Outcome.Context, r.shown(c))
	}
	return res
}

func or(s, otherwise string) string {
	if strings.TrimSpace(s) == "" {
		return otherwise
	}
	return strings.TrimSpace(s)
}

// ends says how to get rid of a skill's hook that refuses: its skill may have
// been invoked long ago.
func ends(e Entry, o hook.Outcome) string {
	if e.Level != Skill || o.Opinion != hook.Deny {
		return ""
	}
	return fmt.Sprintf("\n(%s registered this hook when it was invoked; it holds until the session ends, and /hooks lists it)", Origin(e))
}

// shown makes a text safe for the model and the person: it cannot open or close
// a reminder, and what is longer than maxText is in a file.
func (r *Runner) shown(s string) string {
	s = text.Block(strings.ToValidUTF8(s, "\uFFFD"))
	n := utf8.RuneCountInString(s)
	if n <= maxText {
		return s
	}
	note := fmt.Sprintf("\n[the first part of %d characters; the rest was dropped]", n)
	if name, err := r.save(s); err == nil {
		note = fmt.Sprintf("\n[the first part of %d characters; all of it is in %s]", n, text.Line(name))
	}
	return text.Cut(s, max(0, maxText-utf8.RuneCountInString(note))) + note
}

// save writes a text to a file of its own that only its owner can read.
func (r *Runner) save(s string) (string, error) {
	if r.opts.SpillDir == "" {
		return "", os.ErrNotExist
	}
	if err := os.MkdirAll(r.opts.SpillDir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(r.opts.SpillDir, "hook-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(s)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(f.Name()) // half a file would pass for all of it
		return "", err
	}
	return filepath.Abs(f.Name())
}
