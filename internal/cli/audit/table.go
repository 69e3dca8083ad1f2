package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/text"
)

// Records are printed as they come, so the columns have fixed widths.
const (
	timeFormat = "2006-01-02 15:04:05"
	kindWidth  = 10
	wordWidth  = 8
	leastWhat  = 20
)

func (p *printer) head() {
	_, p.err = fmt.Fprintln(p.out, p.style.Dim(fmt.Sprintf("%-*s  %-*s  %-*s  %s", len(timeFormat), "TIME", kindWidth, "KIND", wordWidth, "OUTCOME", "WHAT")))
}

// row prints one record on one line, and with -v all the rest of it.
func (p *printer) row(r *audit.Record) {
	what := what(r)
	if p.style.Width > 0 {
		what = text.Fit(what, max(p.style.Width-len(timeFormat)-kindWidth-wordWidth-6, leastWhat))
	}
	_, err := fmt.Fprintf(p.out, "%s  %s  %s  %s\n", p.style.Dim(r.Time.Local().Format(timeFormat)),
		column(string(r.Kind), kindWidth), p.mark(r.Outcome), what)
	if err == nil && p.verbose {
		err = p.more(r)
	}
	if p.err == nil {
		p.err = err
	}
}

// column is a cell of a fixed width.
func column(s string, width int) string {
	s = text.Fit(text.Terminal(s), width)
	return s + strings.Repeat(" ", max(width-text.Width(s), 0))
}

// mark is the outcome, in the colour of what it means.
func (p *printer) mark(outcome string) string {
	cell := column(outcome, wordWidth)
	switch outcome {
	case "allow", "approved", "ok":
		return p.style.Green(cell)
	case "ask", "declined", "timeout":
		return p.style.Yellow(cell)
	}
	return p.style.Red(cell)
}

// what says what a record is about: who, with what, by which rule.
func what(r *audit.Record) string {
	subject := cmp.Or(r.Tool, string(r.Kind))
	switch {
	case r.Kind == audit.Hook:
		subject = cmp.Or(key(r.Detail, "event"), "hook")
	case r.Skill != "" && (r.Tool == "Skill" || r.Tool == ""):
		subject = "/" + r.Skill
	case r.Skill != "":
		subject += " in /" + r.Skill
	}
	if r.AgentID != "" && r.AgentID != "main" {
		subject = "[" + r.AgentID + "] " + subject
	}
	if s := about(r.Detail); s != "" {
		subject += ": " + s
	}
	if r.Rule != "" {
		subject += " <" + r.Rule + ">"
	}
	return text.Terminal(subject)
}

// told are the keys of a detail that say what a record is about, the most
// telling first.
var told = []string{"command", "subject", "error", "hook", "name", "reason"}

// about is the most telling part of a detail.
func about(detail json.RawMessage) string {
	for _, k := range told {
		if s := key(detail, k); s != "" {
			return s
		}
	}
	return ""
}

// key is a text of a detail; "" when there is none.
func key(detail json.RawMessage, name string) string {
	var m map[string]json.RawMessage
	var s string
	if json.Unmarshal(detail, &m) != nil || json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

// more prints the rest of a record, a line for each part.
func (p *printer) more(r *audit.Record) error {
	var b bytes.Buffer
	part := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "    %-8s %s\n", key, output.Tilde(text.Terminal(value)))
		}
	}
	part("session", r.SessionID)
	part("agent", r.AgentID)
	part("rule", r.Rule)
	part("source", r.Source)
	part("hash", r.SkillHash)
	part("detail", string(r.Detail))
	_, err := p.out.Write(b.Bytes())
	return err
}

// times are the forms in which a time may be given; without a zone it is local.
var times = []string{time.RFC3339, "2006-01-02T15:04:05", timeFormat, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly}

// readTime reads the value of a flag: a time, or how long ago.
func readTime(flag, value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, f := range times {
		if t, err := time.ParseInLocation(f, value, time.Local); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(value, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(value); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, output.Usagef("%s: %q is neither a time, such as 2026-11-30 or \"2026-11-30 14:00\", nor an age, such as 90m or 7d", flag, value)
}
