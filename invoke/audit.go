package invoke

import (
	"context"
	"encoding/json"
	"fmt"

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
	r := audit.Record{AgentID: string(a), Kind: audit.Decision, Tool: tool, Skill: idOf(e), SkillHash: env.hash, Outcome: outcome,
		Detail: detail(map[string]string{"reason": d.Reason, "command": command})}
	if d.Rule != nil {
		r.Rule, r.Source = d.Rule.Text, d.Rule.From
	}
	env.note(r)
}

// detail is m as JSON, without what is empty.
func detail(m map[string]string) json.RawMessage {
	for k, v := range m {
		if v == "" {
			delete(m, k)
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil // texts do not fail
	}
	return data
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
	more := map[string]string{"command": c.Line, "duration_ms": fmt.Sprint(out.Duration.Milliseconds())}
	switch {
	case err != nil:
		outcome, more["error"] = "error", err.Error()
	case out.TimedOut:
		outcome = "timeout"
	case out.Exit != 0:
		outcome, more["exit"] = "error", fmt.Sprint(out.Exit)
	}
	s.env.note(audit.Record{AgentID: string(s.agent), Kind: audit.Command, Tool: commandTool(s.entry), Skill: idOf(s.entry),
		Outcome: outcome, Detail: detail(more)})
	return out, err
}
