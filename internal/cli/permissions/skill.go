package permissions

import (
	"context"
	"errors"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
)

// asModel completes what the rules say of a Skill call with what else decides
// when a model makes it: who may start the skill (spec I-3, C-9), and its safe
// properties (S-4). No such call is put to anybody here.
func asModel(ctx context.Context, e *knack.Engine, in input, d permission.Decision) (permission.Decision, error) {
	if d.Verdict == permission.Deny {
		return d, nil
	}
	var asked question
	env := e.Env()
	env.Ask = &asked
	err := invoke.Check(ctx, invoke.Request{Name: in.Skill, Args: in.Args, By: invoke.ByModel}, env)
	refused, isRefused := errors.AsType[*invoke.RefusedError](err)
	_, missing := errors.AsType[*catalog.NotFoundError](err)
	_, ambiguous := errors.AsType[*catalog.AmbiguousError](err)
	switch {
	case missing, ambiguous:
		d.Reason += "; but " + err.Error()
	case asked.Skill != "": // what the person would be asked
		d.Reason, d.Suggest, d.Firm = asked.Reason, asked.Suggest, asked.Firm
	case isRefused:
		d = permission.Decision{Verdict: permission.Deny, Tried: d.Tried, Reason: refused.Reason + " (" + refused.Rule + ")"}
	case err != nil:
		return d, err
	case d.Verdict == permission.Ask:
		d = permission.Decision{Verdict: permission.Allow, Tried: d.Tried, Reason: whyAllowed(e, in.Skill)}
	}
	return d, nil
}

// whyAllowed says why a skill needs no approval although no rule allows it.
func whyAllowed(e *knack.Engine, name string) string {
	if entry, err := e.Snapshot().Resolve(invoke.Named(name)); err == nil && entry.Origin.ShippedOrManaged() {
		return "no rule speaks of it, and bundled and managed skills need no approval (C-13)"
	}
	return "no rule speaks of it, and all its properties are safe (S-4)"
}

// A question keeps what it is asked, and answers no.
type question struct{ invoke.Question }

func (q *question) Ask(_ context.Context, asked invoke.Question) (invoke.Answer, error) {
	q.Question = asked
	return invoke.Answer{}, nil
}
