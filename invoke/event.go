package invoke

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// Tokens are what the invocation cost (spec I-13): of a fork what its model
// calls took, else an estimate of the text that joined the conversation.
func (r *Result) Tokens() int {
	if r.Mode == skill.Fork {
		if r.Fork == nil {
			return 0
		}
		return r.Fork.Tokens
	}
	sum := 0
	for _, m := range r.Messages {
		sum += text.Tokens(m.Text)
	}
	return sum
}

// Outcome is the word of the audit log for how an invocation ended: ok,
// blocked when rules, hooks or a person said no, timeout, else error.
func Outcome(err error) string {
	var (
		refused *RefusedError
		denied  *prompt.DeniedError
		blocked *hook.BlockedError
		stopped *hook.StoppedError
	)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &refused), errors.As(err, &denied), errors.As(err, &blocked), errors.As(err, &stopped):
		return "blocked"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "error"
}

// noteInvocation writes the one record of an invocation (spec I-13), also of
// one that failed.
func (env Env) noteInvocation(req Request, r *Result, err error, took time.Duration) {
	if env.Audit == nil {
		return
	}
	rec := audit.Record{AgentID: string(agentOf(req)), Kind: audit.Invocation, Tool: "Skill", Outcome: Outcome(err)}
	d := audit.Invoked{By: string(req.By), Name: Named(req.Name), DurationMS: audit.MS(took)}
	if r != nil {
		rec.Skill, rec.Source, rec.SkillHash = idOf(r.Entry), string(r.Entry.Origin.Source), r.hash
		d.Mode, d.Tokens = string(r.Mode), r.Tokens()
	} else {
		d.Error = err.Error()
		if e, missing := env.Catalog.Resolve(Named(req.Name)); missing == nil {
			rec.Skill, rec.Source = idOf(e), string(e.Origin.Source)
			d.Mode = string(mode(e, req.By))
		}
	}
	if d.Name == rec.Skill {
		d.Name = ""
	}
	env.note(rec.With(d))
}

// auditedHash is the hash of what an admitted skill consists of, for the audit
// log (spec S-12, S-14): what was approved where that was asked, else what is
// there now. It is empty when nobody keeps a log or nobody can tell.
func (a *admitted) auditedHash(ctx context.Context) string {
	if a.env.Audit == nil {
		return ""
	}
	if h := cmp.Or(a.content.Hash, a.env.hash); h != "" {
		return h
	}
	c, err := a.examine(ctx, *a.in)
	if err != nil {
		return "" // the end of ctx, which the next step meets, too
	}
	return c.Hash
}
