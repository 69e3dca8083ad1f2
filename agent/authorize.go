package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// authorize lets a call through, or makes its refusal the result: the kind of
// agent, hooks, the limits of a fork, rules, the mode, and then a person, in
// this order. Whatever is decided is written down (spec S-12).
func (a *agent) authorize(ctx context.Context, p *prepared, o turn.Override) {
	if p.plan.Person && a.id != session.Main {
		p.fail("A subagent cannot ask the person; decide yourself and say what you assumed.")
		return
	}
	opinion := a.preTool(ctx, p)
	if p.ready {
		return
	}
	rules := a.rules(o)
	if p.plan.Ask.Tool == "" {
		// A tool without a specifier of its own can still be denied by name.
		d := permission.Rules{Deny: rules.Deny}.Decide(permission.Request{Tool: p.block.Name})
		switch {
		case d.Verdict == permission.Deny:
			a.ruled(p, d, outcomeDeny)
			a.refuse(p, d.Reason)
		case opinion == hook.Ask:
			a.question(ctx, p, weigh(permission.Decision{Verdict: permission.Allow}, opinion, p.said))
		}
		return
	}
	if a.pool != nil {
		// A fork keeps to the patterns of its skill and its type, also where the
		// person's rules would allow more (spec I-9).
		call := p.plan.Ask
		call.Tool = p.block.Name // limits speak of tools as the agent has them
		if why := a.pool.Check(call); why != "" {
			a.ruled(p, permission.Decision{Reason: why}, outcomeDeny)
			a.refuse(p, why)
			return
		}
	}
	d := weigh(a.mode.judge(rules.Decide(p.plan.Ask), p.plan), opinion, p.said)
	switch d.Verdict {
	case permission.Allow:
		a.ruled(p, d, outcomeAllow)
	case permission.Ask:
		a.question(ctx, p, d)
	default:
		a.ruled(p, d, outcomeDeny)
		a.refuse(p, d.Reason)
	}
}

// What became of a decision (spec S-12).
const (
	outcomeAllow    = "allow"
	outcomeDeny     = "deny"
	outcomeApproved = "approved"
	outcomeDeclined = "declined"
)

// question asks about a call that the rules leave open.
func (a *agent) question(ctx context.Context, p *prepared, d permission.Decision) {
	env := a.c.opts.Env()
	env.Ask, env.Hooks, env.Session = a.asker(), a.hooks(), a.c.opts.Session
	answer, notice, err := invoke.Put(ctx, env, a.id, invoke.Question{Tool: p.block.Name, Input: p.input(),
		Command: p.plan.Ask.Input.Command, Reason: d.Reason, Suggest: d.Suggest, Firm: d.Firm})
	if notice != "" {
		a.c.observe(Notice{Agent: a.id, Text: notice})
	}
	switch {
	case err == nil && answer.Allow:
		a.ruled(p, d, outcomeApproved)
	case ctx.Err() != nil:
		p.fail("Cancelled before it ran.")
	case err == nil:
		a.ruled(p, d, outcomeDeclined)
		a.refuse(p, strings.TrimSuffix("the person declined: "+answer.Reason, ": "))
	default:
		if !errors.Is(err, invoke.ErrNobody) {
			d.Reason += fmt.Sprintf("; asking failed: %v", err)
		}
		a.ruled(p, d, outcomeDeny)
		a.refuse(p, d.Reason)
	}
}

// asker is who can be asked. In a subagent there is no person (spec I-10), only
// hooks that may answer, and in dontAsk nobody answers at all.
func (a *agent) asker() invoke.Asker {
	switch {
	case a.mode == ModeDontAsk:
		return nil
	case a.id != session.Main || a.c.opts.Ask == nil:
		return invoke.Nobody{}
	}
	return a.c.opts.Ask
}

// hooks runs hooks for what a does; nil when none may run.
func (a *agent) hooks() func(context.Context, hook.Input) hook.Outcome {
	if a.c.opts.Hooks == nil || a.unwatched {
		return nil
	}
	return a.hook
}
