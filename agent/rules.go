package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/turn"
)

// env is what an invocation of a may use under the turn's settings. The mode
// speaks of skills and their inline commands as it does of tool calls (spec
// S-10).
func (a *agent) env(o turn.Override) invoke.Env {
	env := a.c.opts.Env()
	env.Rules = a.withOwn(env.Rules, o)
	env.Ask, env.Hooks = a.asker(), a.hooks()
	env.Fork = forker{a, o}
	switch a.mode {
	case ModePlan:
		if env.Shell != nil {
			env.Shell = readOnlyShell{env.Shell, env}
		}
	case ModeBypass:
		env.Rules = env.Rules.With(bypassed...)
	}
	return env
}

// bypassed is what ModeBypass allows invocations; what always asks still does.
var bypassed = []permission.Rule{
	{Tool: "Skill", From: "permission mode bypassPermissions"},
	{Tool: "Bash", From: "permission mode bypassPermissions"},
	{Tool: "PowerShell", From: "permission mode bypassPermissions"},
}

// A readOnlyShell runs the inline commands of skills in plan mode.
type readOnlyShell struct {
	shell.Runner
	env invoke.Env
}

var errPlanShell = errors.New("plan mode only reads, and this command may do more")

// Run runs what changes nothing by itself.
func (s readOnlyShell) Run(ctx context.Context, c shell.Command) (shell.Output, error) {
	r := permission.Request{Tool: "Bash", Input: permission.Input{Command: c.Line},
		WorkDir: s.env.WorkDir, Home: s.env.Home, Links: s.env.Links}
	if c.Shell == "powershell" || (permission.Rules{}).Decide(r).Verdict != permission.Allow {
		return shell.Output{}, errPlanShell
	}
	return s.Runner.Run(ctx, c)
}

// rules are what is in force for a: the session's, what the person said to it,
// and what the turn's skills grant and refuse.
func (a *agent) rules(o turn.Override) permission.Rules {
	return a.withOwn(a.c.opts.Env().Rules, o)
}

func (a *agent) withOwn(rules permission.Rules, o turn.Override) permission.Rules {
	kept := a.c.opts.Session.Kept(a.id)
	rules.Deny = slices.Concat(kept.Deny, rules.Deny)
	rules.Ask = slices.Concat(kept.Ask, rules.Ask)
	a.mu.Lock()
	o.AllowedTools = slices.Concat(a.granted, o.AllowedTools)
	o.DisallowedTools = slices.Concat(a.denied, o.DisallowedTools)
	a.mu.Unlock()
	return rulesOf(rules.With(kept.Allow...), o)
}

// rulesOf adds the grants and refusals of a turn to the rules of the session
// (spec I-5, S-6): a refusal is a deny, a grant never lifts one.
func rulesOf(rules permission.Rules, o turn.Override) permission.Rules {
	if deny := parsed(o.DisallowedTools, "disallowed-tools of an active skill"); len(deny) > 0 {
		rules.Deny = append(deny, rules.Deny...)
	}
	return rules.With(parsed(o.AllowedTools, "allowed-tools of an active skill")...)
}

// parsed leaves out what is no rule; whoever loaded the skill has said so.
func parsed(texts []string, from string) []permission.Rule {
	var out []permission.Rule
	for _, text := range texts {
		if r, err := permission.ParseRule(text); err == nil {
			r.From, r.Scope = from, "skill"
			out = append(out, r)
		}
	}
	return out
}

// beyond refuses a model a skill that its agent's type, or that of the agent
// which started it, does not list: "tools: Skill(a)" speaks of skills as other
// entries speak of commands.
func (a *agent) beyond(req invoke.Request, env invoke.Env) error {
	if a.pool == nil || req.By != invoke.ByModel {
		return nil
	}
	e, err := env.Catalog.Resolve(invoke.Named(req.Name))
	if err != nil {
		return nil // the road says what is wrong with the name
	}
	id := e.ID
	if e.Winner != nil {
		id = e.Qualified
	}
	why := a.pool.Check(permission.Request{Tool: "Skill", Input: permission.Input{Skill: id, Args: req.Args}})
	if why == "" {
		return nil
	}
	return &invoke.RefusedError{ID: id, By: req.By, Rule: "A-4", Reason: why}
}
