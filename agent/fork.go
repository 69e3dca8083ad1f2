package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
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
	child, err := f.a.child(r)
	if err != nil {
		return invoke.ForkResult{}, err
	}
	if err := f.a.c.begin(child, f.a, r); err != nil {
		return invoke.ForkResult{}, err
	}
	if !r.Background {
		defer f.a.c.end(child)
		text, err := child.runAlone(ctx, r)
		return invoke.ForkResult{Text: text}, err
	}
	return invoke.ForkResult{Task: string(child.id)}, f.a.c.background(child, r)
}

// child makes the agent that r asks for, within the limits of spec I-10.
func (a *agent) child(r invoke.ForkRequest) (*agent, error) {
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
	child := &agent{
		c: a.c, def: def, kind: first(r.Skill, def.Name),
		system: first(def.Prompt, a.c.opts.System), maxTurns: def.Run.MaxTurns,
		model: first(r.Override.Model, def.Run.Model), effort: first(r.Override.Effort, def.Run.Effort),
		granted: r.Override.AllowedTools,
	}
	if child.maxTurns <= 0 {
		child.maxTurns = forkTurns
	}
	pool := agentdef.PoolOf(def, agentdef.Fork{Skill: r.Skill, Dir: r.Dir, Allowed: r.Limit,
		Disallowed: r.Override.DisallowedTools}, toolNames(a.c.opts.Tools))
	if a.pool != nil {
		pool = pool.Within(*a.pool)
	}
	child.pool, child.denied = &pool, pool.Deny
	for _, t := range a.c.opts.Tools {
		if slices.Contains(pool.Names, t.Spec().Name) {
			child.tools = append(child.tools, t)
		}
	}
	return child, nil
}

// definition finds an agent type (spec I-8).
func (a *agent) definition(name string) (*agentdef.Definition, error) {
	if a.c.opts.Definition != nil {
		return a.c.opts.Definition(first(name, agentdef.GeneralPurpose))
	}
	for _, d := range agentdef.Builtin() {
		if d.Name == first(name, agentdef.GeneralPurpose) {
			return d, nil
		}
	}
	return nil, fmt.Errorf("unknown agent type %q", name)
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
	msgs, err := a.preload(ctx)
	if err != nil {
		return "", err
	}
	msgs = append(msgs, turn.Message{Role: turn.User, Text: r.Prompt, Meta: true})
	ans, err := a.run(ctx, msgs, turn.Override{})
	if err != nil {
		return "", err
	}
	return ans.Text, nil
}

// preload invokes the skills that an agent type brings along (spec I-1).
func (a *agent) preload(ctx context.Context) ([]turn.Message, error) {
	var msgs []turn.Message
	for _, name := range a.def.Run.Skills {
		r, err := a.invoke(ctx, invoke.Request{Name: name, By: invoke.ByAgent, Agent: a.id}, turn.Override{})
		var missing *catalog.NotFoundError
		switch {
		case errors.As(err, &missing):
			a.c.observe(Notice{Agent: a.id, Text: fmt.Sprintf("agent type %s: %v", a.def.Name, err)})
		case err != nil:
			return nil, fmt.Errorf("agent type %s: %w", a.def.Name, err)
		default:
			msgs = append(msgs, r.Messages...)
			a.granted = append(a.granted, r.Override.AllowedTools...)
			a.denied = append(a.denied, r.Override.DisallowedTools...)
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
	c.observe(AgentStarted{Agent: child.id, Parent: parent.id, Type: child.def.Name, Skill: r.Skill})
	return nil
}

func (c *Conversation) end(a *agent) {
	c.mu.Lock()
	c.running--
	c.mu.Unlock()
	c.opts.Session.EndAgent(a.id)
	c.observe(AgentEnded{Agent: a.id})
}

// background runs a subagent whose result becomes a message of the session,
// whatever became of the agent that started it (spec I-11).
func (c *Conversation) background(a *agent, r invoke.ForkRequest) error {
	ctx, stop := context.WithCancel(context.Background())
	c.mu.Lock()
	c.tasks[string(a.id)] = stop
	c.mu.Unlock()
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		defer stop()
		text, err := a.runAlone(ctx, r)
		c.end(a)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tasks, string(a.id))
		c.pending = append(c.pending, turn.Message{Role: turn.User, Meta: true, Text: taskNote(a, text, err)})
	}()
	return nil
}

func taskNote(a *agent, text string, err error) string {
	head := fmt.Sprintf("Background task %s (%s)", a.id, a.kind)
	switch {
	case err != nil:
		return head + " failed: " + err.Error()
	case strings.TrimSpace(text) == "":
		return head + " completed without a text."
	}
	return head + " completed.\n\nResult:\n" + text
}

// Tasks returns the ids of the background subagents that run now.
func (c *Conversation) Tasks() []session.AgentID {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []session.AgentID
	for id := range c.tasks {
		out = append(out, session.AgentID(id))
	}
	slices.Sort(out)
	return out
}

// StopTask ends a background subagent; its failure is delivered like a result.
func (c *Conversation) StopTask(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop, ok := c.tasks[id]
	if ok {
		stop()
	}
	return ok
}
