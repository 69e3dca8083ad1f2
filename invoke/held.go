package invoke

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

// held answers a model that calls a skill which it may not start, but whose text
// a person has put before it: "do not do its steps" would undo what the person
// asked for. Nothing is compiled, granted or started; nil keeps the refusal.
func held(refusal error, req Request, env Env) *Result {
	var refused *RefusedError
	if !errors.As(refusal, &refused) || refused.Rule != "I-3" || req.By != ByModel || env.Session == nil {
		return nil
	}
	e, err := env.Catalog.Resolve(Named(req.Name))
	if err != nil || mode(e, req.By) == skill.Fork {
		return nil
	}
	agent := cmp.Or(req.Agent, session.Main)
	before, ok := env.Session.Holds(agent, idOf(e))
	if !ok {
		return nil
	}
	before.At = env.now()
	r := &Result{Entry: e, Mode: skill.Inline, Text: before.Text}
	r.Repeat = env.Session.Record(agent, before)
	r.Messages = inlineMessages(r, req.Args, heldNote(idOf(e)))
	return r
}

func heldNote(id string) string {
	return fmt.Sprintf("Skill %q is already loaded: the person started it, and its text stands above. Go on with that request. "+
		"This call starts nothing; when that request is done, only the person can start the skill again, with /%s.", id, id)
}
