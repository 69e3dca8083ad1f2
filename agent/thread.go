package agent

import (
	"context"
	"encoding/json"
	"errors"
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

// An Engine is the workspace of a [Thread]; *knack.Engine is one.
type Engine interface {
	// Env is what an invocation may use.
	Env() invoke.Env
	// RecordUse counts that a skill was used.
	RecordUse(e *catalog.Entry) error
	// Announce is what an agent has to be told of the skills there are.
	Announce(id session.AgentID) (m turn.Message, ok bool)
}

// A Thread is the skills' part of a conversation whose loop is the host's own,
// not that of a [Conversation] (spec A-10): the tools, what the model has still
// to be told, and what skills have changed for the running turn. The tools are
// such as need no permission of their own, like those of agent/skilltool: a
// skill is approved on the road that every invocation takes.
//
// A thread belongs to one agent, and is used by one goroutine at a time.
type Thread struct {
	Engine Engine
	Tools  []Tool
	Agent  session.AgentID
	// Notice is told what was held back, for the person. Nil means nobody is.
	Notice func(text string)
	// Override is what skills have changed for the running turn.
	Override turn.Override

	texts []string // for the model
}

// NewThread returns the thread of the main agent.
func NewThread(e Engine, tools ...Tool) *Thread {
	return &Thread{Engine: e, Tools: tools, Agent: session.Main}
}

// Sub returns the thread of a subagent, with the same tools. It is for a host
// that is an [invoke.Forker]: the id is new, its records last until
// session.EndAgent, and the prompt is what it has to be told. The error says
// that subagents are nested too deep (spec I-10).
func (t *Thread) Sub(r invoke.ForkRequest) (*Thread, error) {
	s := t.Engine.Env().Session
	if s == nil {
		return nil, errors.New("a subagent needs a session")
	}
	parent, _ := s.Agent(r.Parent)
	switch {
	case parent.Depth >= session.MaxDepth:
		return nil, fmt.Errorf("subagents may be %d deep, and this one is; do the task here", session.MaxDepth)
	case r.Skill != "" && slices.Contains(parent.Chain, r.Skill):
		return nil, fmt.Errorf("skill %q runs already in this chain of subagents; it cannot start itself", r.Skill)
	}
	// What this turn refuses its agent, that agent cannot have done by another.
	o := turn.Override{DisallowedTools: t.Override.DisallowedTools}.And(r.Override)
	sub := &Thread{Engine: t.Engine, Tools: t.Tools, Notice: t.Notice, Override: o,
		Agent: s.StartAgent(r.Parent, r.Agent, r.Skill), texts: []string{r.Prompt}}
	sub.take(r.Added, turn.Override{})
	return sub, nil
}

// Specs describes the tools, for the requests to the model. They are the same
// for the whole session (spec L-1).
func (t *Thread) Specs() []llm.ToolSpec {
	var out []llm.ToolSpec
	for _, tool := range t.Tools {
		out = append(out, tool.Spec())
	}
	return out
}

// Begin begins a turn: what skills changed in the last one is over (spec I-6).
func (t *Thread) Begin() { t.Override = turn.Override{} }

// Say is what a person says to the model.
func (t *Thread) Say(text string) { t.texts = append(t.texts, text) }

// Texts returns what the model has to be told now, as messages of the user, in
// this order, and behind the results of the calls that it made: which skills
// there are, if it does not know, and what has come up since the last call.
// Each text is returned once, so all must be sent.
func (t *Thread) Texts() []string {
	out := t.texts
	if m, ok := t.Engine.Announce(t.Agent); ok {
		out = slices.Insert(out, 0, m.Text)
	}
	t.texts = nil
	return out
}

// Typed runs a skill that the person named (spec I-4). With ended, the turn is
// over and answer is for the person: a subagent's, or why the skill did not run.
func (t *Thread) Typed(ctx context.Context, name, args string) (answer string, ended bool) {
	r, err := t.invoke(ctx, invoke.Request{Name: name, Args: args, By: invoke.ByUser, Agent: t.Agent})
	switch {
	case err != nil:
		return err.Error(), true
	case r.Fork != nil && r.Fork.Task != "":
		return r.ToolResult(), true
	case r.Fork != nil:
		return r.Fork.Text, true
	}
	t.take(r.Messages, r.Override)
	return "", false
}

// take keeps what follows from a skill.
func (t *Thread) take(messages []turn.Message, o turn.Override) {
	for _, m := range messages {
		t.texts = append(t.texts, m.Text)
	}
	t.Override = t.Override.And(o)
}

// Call answers a model's call of one of the tools. Whatever goes wrong is in the
// words of the result, with isError, so that each call gets an answer. What a
// skill says comes with the next [Thread.Texts].
func (t *Thread) Call(ctx context.Context, name string, input json.RawMessage) (result string, isError bool) {
	at := slices.IndexFunc(t.Tools, func(tool Tool) bool { return tool.Spec().Name == name })
	if at < 0 {
		return fmt.Sprintf("There is no tool %q.", name), true
	}
	plan, err := t.Tools[at].Plan(input)
	if err != nil {
		return fmt.Sprintf("The input of %s is wrong: %s", name, strings.TrimPrefix(err.Error(), name+": ")), true
	}
	if why := t.refusal(ctx, name, plan); why != "" {
		return why, true
	}
	out, err := plan.Run(ctx, CallEnv{Agent: t.Agent, Progress: func(string) {},
		Invoke: func(ctx context.Context, skill, args string) (*invoke.Result, error) {
			return t.invoke(ctx, invoke.Request{Name: skill, Args: args, By: invoke.ByModel, Agent: t.Agent})
		},
		Spawn: func(context.Context, invoke.ForkRequest) (invoke.ForkResult, error) {
			return invoke.ForkResult{}, invoke.ErrNoFork
		}})
	switch {
	case err == nil:
		t.take(out.Messages, out.Override)
		return out.Text, out.IsError
	case ctx.Err() != nil:
		return "Cancelled while it ran.", true
	}
	return fmt.Sprintf("%s failed: %v", name, err), true
}

// refusal says why a call must not run; empty lets it.
func (t *Thread) refusal(ctx context.Context, name string, plan Plan) string {
	d := permission.Rules{Deny: t.Rules().Deny}.Decide(permission.Request{Tool: name})
	switch {
	case ctx.Err() != nil:
		return "Cancelled before it ran."
	case d.Verdict == permission.Deny:
		return "Permission denied: " + d.Reason
	case plan.Ask.Tool != "" || plan.Person:
		return "Permission denied: " + name + " needs an approval of its own, and nothing here can give it."
	}
	return ""
}

// Rules are the rules in force in the running turn, for the host's own tools:
// what an active skill refuses is denied, what it grants needs no question, and
// neither lifts what somebody else denied (spec I-5, S-6).
func (t *Thread) Rules() permission.Rules {
	env := t.Engine.Env()
	rules := env.Rules
	if env.Session != nil {
		kept := env.Session.Kept(t.Agent)
		rules.Deny = slices.Concat(kept.Deny, rules.Deny)
		rules.Ask = slices.Concat(kept.Ask, rules.Ask)
		rules = rules.With(kept.Allow...)
	}
	return rulesOf(rules, t.Override)
}

// invoke takes a skill down the road. Nobody asks a person for a subagent (spec
// I-10).
func (t *Thread) invoke(ctx context.Context, req invoke.Request) (*invoke.Result, error) {
	env := t.Engine.Env()
	env.Rules = t.Rules()
	if t.Agent != session.Main {
		env.Ask = nil
	}
	r, err := invoke.Invoke(ctx, req, env)
	if err != nil {
		return nil, err
	}
	notices := r.Notices
	if err := t.Engine.RecordUse(r.Entry); err != nil {
		notices = append(slices.Clip(notices), "this use is not counted: "+err.Error())
	}
	for _, n := range notices {
		if t.Notice != nil {
			t.Notice(n)
		}
	}
	return r, nil
}
