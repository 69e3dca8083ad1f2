package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// An Engine is the workspace of a [Toolbox]; *knack.Engine is one.
type Engine interface {
	// Env is what an invocation may use.
	Env() invoke.Env
	// RecordUse counts that a skill was used.
	RecordUse(e *catalog.Entry) error
}

// A Toolbox answers a model's calls of tools in a loop that is not that of a
// [Conversation] (spec A-10). It is for tools that need no permission of their
// own, like those of agent/skilltool: a skill is approved on the road that every
// invocation takes. It is a plain value; calls may run at the same time.
type Toolbox struct {
	Engine Engine
	Tools  []Tool
	Agent  session.AgentID // who calls
	// Notice is told what was held back, for the person. Nil means nobody is.
	Notice func(text string)
}

// NewToolbox returns the tools of the main agent. A subagent has a copy with
// another Agent.
func NewToolbox(e Engine, tools ...Tool) Toolbox {
	return Toolbox{Engine: e, Tools: tools, Agent: session.Main}
}

// Specs describes the tools, for the requests to the model. They are the same
// for the whole session (spec L-1).
func (b Toolbox) Specs() []llm.ToolSpec {
	var out []llm.ToolSpec
	for _, t := range b.Tools {
		out = append(out, t.Spec())
	}
	return out
}

// Rules are the rules in force while a turn has these settings, for the host's
// own tools: what an active skill refuses is denied, what it grants needs no
// question, and neither lifts what somebody else denied (spec I-5, S-6).
func (b Toolbox) Rules(o turn.Override) permission.Rules {
	env := b.Engine.Env()
	if env.Session == nil {
		return rulesOf(env.Rules, o)
	}
	kept := env.Session.Kept(b.Agent)
	rules := env.Rules
	rules.Deny = slices.Concat(kept.Deny, rules.Deny)
	rules.Ask = slices.Concat(kept.Ask, rules.Ask)
	return rulesOf(rules.With(kept.Allow...), o)
}

// Call answers one call; o is what holds in the running turn. Whatever goes
// wrong is in the words of the result, with IsError, so that each call of a
// model gets an answer. The result's Messages follow all results of the same
// answer, and its Override joins o.
func (b Toolbox) Call(ctx context.Context, name string, input json.RawMessage, o turn.Override) Result {
	at := slices.IndexFunc(b.Tools, func(t Tool) bool { return t.Spec().Name == name })
	if at < 0 {
		return failure("There is no tool %q.", name)
	}
	plan, err := b.Tools[at].Plan(input)
	if err != nil {
		return failure("The input of %s is wrong: %s", name, strings.TrimPrefix(err.Error(), name+": "))
	}
	rules := b.Rules(o)
	d := permission.Rules{Deny: rules.Deny}.Decide(permission.Request{Tool: name})
	switch {
	case ctx.Err() != nil:
		return failure("Cancelled before it ran.")
	case d.Verdict == permission.Deny:
		return failure("Permission denied: %s", d.Reason)
	case plan.Ask.Tool != "":
		return failure("Permission denied: a toolbox runs no tool that needs approval of its own, as %s does.", name)
	}
	out, err := plan.Run(ctx, CallEnv{Agent: b.Agent, Progress: func(string) {},
		Invoke: func(ctx context.Context, skill, args string) (*invoke.Result, error) {
			return b.invoke(ctx, invoke.Request{Name: skill, Args: args, By: invoke.ByModel, Agent: b.Agent}, rules)
		},
		Spawn: func(context.Context, invoke.ForkRequest) (invoke.ForkResult, error) {
			return invoke.ForkResult{}, invoke.ErrNoFork
		}})
	switch {
	case err == nil:
		return out
	case ctx.Err() != nil:
		return failure("Cancelled while it ran.")
	}
	return failure("%s failed: %v", name, err)
}

func failure(format string, args ...any) Result {
	return Result{Text: fmt.Sprintf(format, args...), IsError: true}
}

// invoke takes a skill down the road. Nobody asks a person for a subagent (spec
// I-10).
func (b Toolbox) invoke(ctx context.Context, req invoke.Request, rules permission.Rules) (*invoke.Result, error) {
	env := b.Engine.Env()
	env.Rules = rules
	if req.Agent != session.Main {
		env.Ask = nil
	}
	r, err := invoke.Invoke(ctx, req, env)
	if err != nil {
		return nil, err
	}
	notices := r.Notices
	if err := b.Engine.RecordUse(r.Entry); err != nil {
		notices = append(slices.Clip(notices), "this use is not counted: "+err.Error())
	}
	for _, n := range notices {
		if b.Notice != nil {
			b.Notice(n)
		}
	}
	return r, nil
}
