package invoke

import (
	"context"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
)

// What became of a question (spec S-12).
const (
	outcomeApproved = "approved"
	outcomeDeclined = "declined"
)

// note writes a record of this invocation. An auditor that cannot write must
// not stay silent: the host's Sink says so.
func (env Env) note(r audit.Record) {
	if env.Audit == nil {
		return
	}
	if env.Session != nil {
		r.SessionID = env.Session.ID
	}
	_ = env.Audit.Write(r) // the host's Sink tells the person, once
}

// noteDecision records what was decided about a skill or one of its commands.
func (env Env) noteDecision(a session.AgentID, tool string, e *catalog.Entry, d permission.Decision, outcome, command string) {
	if env.Audit == nil {
		return
	}
	r := audit.Record{AgentID: string(a), Kind: audit.Decision, Tool: tool, Skill: idOf(e), SkillHash: env.hash, Outcome: outcome}.
		With(audit.Decided{Subject: command, Reason: d.Reason})
	if d.Rule != nil {
		r.Rule, r.Source = d.Rule.Text, d.Rule.From
	}
	env.note(r)
}

// An auditedShell records every inline command that runs (spec S-12).
type auditedShell struct {
	shell.Runner
	env   Env
	agent session.AgentID
	entry *catalog.Entry
}

// Run runs c and writes down how it ended.
func (s auditedShell) Run(ctx context.Context, c shell.Command) (shell.Output, error) {
	out, err := s.Runner.Run(ctx, c)
	outcome := "ok"
	more := audit.Ran{Command: c.Line, DurationMS: audit.MS(out.Duration), Exit: out.Exit}
	switch {
	case err != nil:
		outcome, more.Error = "error", err.Error()
	case out.TimedOut:
		outcome = "timeout"
	case out.Exit != 0:
		outcome = "error"
	}
	s.env.note(audit.Record{AgentID: string(s.agent), Kind: audit.Command, Tool: commandTool(s.entry), Skill: idOf(s.entry),
		Outcome: outcome}.With(more))
	return out, err
}
