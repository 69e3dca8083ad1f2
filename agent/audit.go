package agent

import (
	"cmp"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/permission"
)

// ruled remembers what became of a call, and writes it down (spec S-12).
func (a *agent) ruled(p *prepared, d permission.Decision, outcome string) {
	if a.c.opts.Audit == nil {
		return
	}
	r := audit.Record{Kind: audit.Decision, Tool: p.block.Name, Outcome: outcome}.
		With(audit.Decided{Subject: subject(p.asked), Reason: d.Reason})
	if d.Rule != nil {
		r.Rule, r.Source = d.Rule.Text, cmp.Or(d.Rule.From, d.Rule.Scope)
	}
	a.note(r)
}

// noteCommand writes down a command of a shell tool that ran.
func (a *agent) noteCommand(p *prepared, failed bool, took time.Duration) {
	if a.c.opts.Audit == nil || p.asked.Input.Command == "" {
		return
	}
	outcome := "ok"
	if failed {
		outcome = "error"
	}
	a.note(audit.Record{Kind: audit.Command, Tool: p.block.Name, Outcome: outcome}.
		With(audit.Ran{Command: p.asked.Input.Command, DurationMS: audit.MS(took)}))
}

func (a *agent) note(r audit.Record) {
	r.SessionID, r.AgentID, r.Skill = a.c.opts.Session.ID, string(a.id), cmp.Or(r.Skill, a.skill)
	_ = a.c.opts.Audit.Write(r) // the host's Sink tells the person, once
}

// subject is what a call is about.
func subject(r permission.Request) string {
	i := r.Input
	return cmp.Or(i.Command, i.Path, i.URL, i.Skill, i.Agent)
}
