package invoke

import (
	"context"
	"fmt"
	"slices"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
)

// A Keep says how long a yes holds.
type Keep string

// What a person can choose.
const (
	Once       Keep = ""        // for this one call
	ForSession Keep = "session" // until the session ends, for this agent
	Always     Keep = "always"  // from now on, in this workspace
)

// A Keeper writes rules into the settings of the person. Only their own answer
// leads here.
type Keeper interface {
	Allow(ctx context.Context, rules []string) error
}

// KeptRules are the rules that keep a yes to q. Several suggestions for a line
// of shell belong together; for anything else the first is the narrowest that
// does.
func (q Question) KeptRules() []string {
	if q.Command == "" {
		return q.Suggest[:min(1, len(q.Suggest))]
	}
	return q.Suggest
}

// Put asks whether a call may be made, a tool's or an inline command's, and
// remembers the answer for as long as the person said. Without anybody to ask
// the error is [ErrNobody]. notice tells the person that their yes holds for
// less than they said.
func Put(ctx context.Context, env Env, agent session.AgentID, q Question) (a Answer, notice string, err error) {
	rules := q.KeptRules()
	q.Keeps = nil
	if !q.Firm && len(rules) > 0 {
		if env.Session != nil {
			q.Keeps = append(q.Keeps, ForSession)
		}
		if env.Keeper != nil {
			q.Keeps = append(q.Keeps, Always)
		}
	}
	a, err = ask(ctx, env, q)
	if err != nil || !a.Allow || !slices.Contains(q.Keeps, a.Keep) {
		return a, "", err
	}
	if env.Session != nil {
		// Settings are read at the start, so an answer for good holds for the
		// session as well.
		env.Session.Keep(agent, permission.Rules{Allow: keptRules(rules)})
	}
	if a.Keep == Always {
		if err := env.Keeper.Allow(ctx, rules); err != nil {
			notice = fmt.Sprintf("allowed for this session only: %v", err)
		}
	}
	return a, notice, nil
}

// keptRules parses what was suggested, which parses.
func keptRules(texts []string) []permission.Rule {
	var out []permission.Rule
	for _, text := range texts {
		if r, err := permission.ParseRule(text); err == nil {
			r.From, r.Scope = "your answer", "session"
			out = append(out, r)
		}
	}
	return out
}
