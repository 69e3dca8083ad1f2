package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/permission"
)

// maxAudited is how much of a reason or a command a record holds, in bytes.
const maxAudited = 4096

// ruled remembers what became of a call, and writes it down (spec S-12).
func (a *agent) ruled(p *prepared, d permission.Decision, outcome string) {
	if a.c.opts.Audit == nil {
		return
	}
	r := audit.Record{Kind: audit.Decision, Tool: p.block.Name, Outcome: outcome,
		Detail: detail(map[string]string{"reason": d.Reason, "subject": subject(p.asked)})}
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
	a.note(audit.Record{Kind: audit.Command, Tool: p.block.Name, Outcome: outcome,
		Detail: detail(map[string]string{"command": p.asked.Input.Command, "duration_ms": fmt.Sprint(took.Milliseconds())})})
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

func detail(m map[string]string) json.RawMessage {
	for k, v := range m {
		switch {
		case v == "":
			delete(m, k)
		case len(v) > maxAudited:
			m[k] = v[:maxAudited] + "…"
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil // texts do not fail
	}
	return data
}
