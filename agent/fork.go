package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/turn"
)

// A forker runs subagents of one agent, under the settings of its turn.
type forker struct {
	a *agent
	o turn.Override
}

// Fork runs a subagent (spec I-8 to I-11): an agent id of its own, an empty
// history whose first message is the prompt, and the tools that are left to it.
func (f forker) Fork(ctx context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
	child, err := f.a.child(r, f.o)
	if err != nil {
		return invoke.ForkResult{}, err
	}
	if err := f.a.c.begin(child, f.a, r); err != nil {
		return invoke.ForkResult{}, err
	}
	if r.Background || child.def.Run.Background {
		return invoke.ForkResult{Task: string(child.id)}, f.a.c.background(ctx, child, f.a.id, r)
	}
	text, err := child.runAlone(ctx, r)
	f.a.c.end(child, err)
	return invoke.ForkResult{Text: text, Tokens: child.spent.Context()}, err
}

// child makes the agent that r asks for, within the limits of spec I-10.
func (a *agent) child(r invoke.ForkRequest, o turn.Override) (*agent, error) {
	at, _ := a.c.opts.Session.Agent(a.id)
	if at.Depth+1 > session.MaxDepth {
		return nil, fmt.Errorf("subagents may be %d deep, and this one is; do the task here", session.MaxDepth)
	}
	if r.Skill != "" && slices.Contains(at.Chain, r.Skill) {
		return nil, fmt.Errorf("skill %q runs already in this chain of subagents (%s); it cannot start itself",
			r.Skill, strings.Join(at.Chain, " > "))
	}
	def, err := a.definition(r.Agent)
	if err != nil {
		return nil, err
	}
	pool := agentdef.PoolOf(def, agentdef.Fork{Skill: r.Skill, Dir: r.Dir, Allowed: r.Limit,
		Disallowed: r.Override.DisallowedTools}, toolNames(a.c.opts.Tools))
	if a.pool != nil {
		pool = pool.Within(*a.pool)
	}
	child := &agent{c: a.c, skill: r.Skill, system: a.c.prompt(def), maxTurns: forkTurns,
		granted: slices.Clone(r.Override.AllowedTools), mode: a.mode.of(def.Run.PermissionMode, a.c.opts.NoBypass)}
	child.unwatched, child.purpose = a.unwatched, a.purpose
	child.become(def, pool)
	child.mayRead(r.Dir)
	child.model = first(r.Override.Model, child.model)
	child.effort = first(r.Override.Effort, child.effort)
	// What the turn refuses its agent, that agent cannot have done by another.
	a.mu.Lock()
	child.denied = slices.Concat(child.denied, a.denied, o.DisallowedTools)
	a.mu.Unlock()
	return child, nil
}

// become makes a an agent of a type, with the tools that are left to it.
func (a *agent) become(def *agentdef.Definition, pool agentdef.Pool) {
	a.def, a.pool = def, &pool
	a.model, a.effort = def.Run.Model, def.Run.Effort
	a.denied = slices.Clone(pool.Deny)
	if def.Run.MaxTurns > 0 {
		a.maxTurns = def.Run.MaxTurns
	}
	a.tools = nil
	for _, t := range a.c.opts.Tools {
		if slices.Contains(pool.Names, t.Spec().Name) {
			a.tools = append(a.tools, t)
		}
	}
}

// prompt is the system prompt of a subagent of kind def.
func (c *Conversation) prompt(def *agentdef.Definition) string {
	if def.Prompt == "" {
		return c.opts.System
	}
	around := c.opts.Around
	if def.Run.Lean {
		around = c.opts.AroundLean
	}
	return strings.TrimSpace(def.Prompt + "\n\n" + around)
}

// definition finds an agent type (spec I-8).
func (a *agent) definition(name string) (*agentdef.Definition, error) {
	if a.c.opts.Definition != nil {
		return a.c.opts.Definition(first(name, agentdef.GeneralPurpose))
	}
	unknown := &agentdef.UnknownError{Name: name}
	for _, d := range agentdef.Builtin() {
		if d.Name == first(name, agentdef.GeneralPurpose) {
			return d, nil
		}
		unknown.Known = append(unknown.Known, d.Name)
	}
	return nil, unknown
}

func toolNames(tools []Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Spec().Name
	}
	return out
}

// runAlone runs a subagent to its end and returns its last text.
func (a *agent) runAlone(ctx context.Context, r invoke.ForkRequest) (string, error) {
	if r.Skill != "" {
		a.c.opts.Session.Record(a.id, session.Invoked{ID: r.Skill, Path: r.Path, Text: r.Prompt, At: a.c.opts.Now()})
	}
	msgs, err := a.must(ctx, hook.Input{Event: hook.SubagentStart, Prompt: r.Prompt, CommandName: r.Skill})
	if err != nil {
		return "", err
	}
	loaded, err := a.preload(ctx)
	if err != nil {
		return "", err
	}
	msgs = append(msgs, loaded...)
	msgs = append(msgs, turn.Message{Role: turn.User, Text: r.Prompt, Meta: true})
	msgs = append(msgs, a.attachments(ctx, r)...)
	msgs = append(msgs, r.Added...)
	ans, err := a.run(ctx, msgs, turn.Override{})
	if errors.Is(err, ErrTurnLimit) {
		// Nobody can tell a subagent to go on; what it found is not lost.
		return "", fmt.Errorf("%w: it was stopped after %d%s", ErrTurnLimit, ans.Turns, lastWords(a.history))
	}
	if err != nil {
		return "", err
	}
	return ans.Text, nil
}

// lastWords is the last text that an agent said, if it said any.
func lastWords(history []llm.Message) string {
	for _, m := range slices.Backward(history) {
		for _, b := range slices.Backward(m.Content) {
			if m.Role == llm.Assistant && b.Type == llm.Text && strings.TrimSpace(b.Text) != "" {
				return "; the last that it said:\n" + b.Text
			}
		}
	}
	return ""
}

// ownHooks registers the hooks of an agent's type, for as long as it runs.
func (a *agent) ownHooks() {
	if len(a.def.Run.Hooks) == 0 {
		return
	}
	o := a.def.Origin
	if why := a.c.opts.Env().HooksHeld(skill.Origin{Source: o.Source}); why != "" {
		a.c.observe(Notice{Agent: a.id, Text: fmt.Sprintf("hooks of agent type %s are not registered: %s", a.def.Name, why)})
		return
	}
	a.c.opts.Session.Register(a.id, "agent "+a.def.Name, skill.Origin{Source: o.Source, Owner: o.Owner, Path: o.Path}, a.def.Run.Hooks)
}

// attachments are the files that the prompt of a forked skill refers to.
func (a *agent) attachments(ctx context.Context, r invoke.ForkRequest) []turn.Message {
	if r.Skill == "" || a.c.opts.AttachSkill == nil {
		return nil
	}
	e, err := a.c.opts.Env().Catalog.Resolve(r.Skill)
	if err != nil {
		return nil // it was deleted a moment ago; its text says what it needs
	}
	return a.c.opts.AttachSkill(ctx, e, r.Prompt)
}

// preload invokes the skills that an agent type brings along (spec I-1).
func (a *agent) preload(ctx context.Context) ([]turn.Message, error) {
	var msgs []turn.Message
	for _, name := range a.def.Run.Skills {
		r, err := a.invoke(ctx, invoke.Request{Name: name, By: invoke.ByAgent, Agent: a.id}, a.env(turn.Override{}))
		var missing *catalog.NotFoundError
		switch {
		case errors.As(err, &missing):
			a.c.observe(Notice{Agent: a.id, Text: fmt.Sprintf("agent type %s: %v", a.def.Name, err)})
			msgs = append(msgs, turn.Message{Role: turn.User, Meta: true,
				Text: fmt.Sprintf("Your agent type brings the skill %q along, and it was not found: say so in your answer if the work needs it.", name)})
		case err != nil:
			return nil, fmt.Errorf("agent type %s: %w", a.def.Name, err)
		default:
			msgs = append(msgs, r.Messages...)
			a.mu.Lock()
			a.granted = append(a.granted, r.Override.AllowedTools...)
			a.denied = append(a.denied, r.Override.DisallowedTools...)
			a.mu.Unlock()
		}
	}
	return msgs, nil
}

// begin counts a subagent in, or says that there are too many.
func (c *Conversation) begin(child, parent *agent, r invoke.ForkRequest) error {
	c.mu.Lock()
	if c.running >= session.MaxAgents {
		c.mu.Unlock()
		return fmt.Errorf("%d subagents run already; wait for one to end", session.MaxAgents)
	}
	c.running++
	c.mu.Unlock()
	child.id = c.opts.Session.StartAgent(parent.id, child.def.Name, r.Skill)
	if len(r.Hooks) > 0 {
		c.opts.Session.Register(child.id, r.Skill, r.Origin, r.Hooks)
	}
	child.ownHooks()
	c.observe(AgentStarted{Agent: child.id, Parent: parent.id, Type: child.def.Name, Skill: r.Skill})
	for _, m := range child.pool.Absent {
		c.observe(Notice{Agent: child.id, Text: fmt.Sprintf("agent type %s: %s names %q, and there is no such tool here", child.def.Name, m.Field, m.Entry)})
	}
	return nil
}

// end drops what belongs to a subagent. What its own background subagents have
// not delivered yet goes to the session (spec I-11).
func (c *Conversation) end(a *agent, err error) {
	c.mu.Lock()
	c.running--
	c.opts.Session.EndAgent(a.id)
	if left := c.pending[a.id]; len(left) > 0 {
		c.pending[session.Main] = append(c.pending[session.Main], left...)
	}
	delete(c.pending, a.id)
	c.mu.Unlock()
	c.observe(AgentEnded{Agent: a.id, Err: err})
}
