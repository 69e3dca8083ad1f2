package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	if err := f.a.c.begin(); err != nil {
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
	if a.depth+1 > maxDepth {
		return nil, fmt.Errorf("subagents may be %d deep, and this one is; do the task here", maxDepth)
	}
	if r.Skill != "" && slices.Contains(a.chain, r.Skill) {
		return nil, fmt.Errorf("skill %q runs already in this chain of subagents (%s); it cannot start itself",
			r.Skill, strings.Join(a.chain, " > "))
	}
	t, err := a.agentType(r.Agent)
	if err != nil {
		return nil, err
	}
	child := &agent{
		c: a.c, depth: a.depth + 1, chain: a.chain, kind: first(r.Skill, t.Name),
		system: first(t.System, a.c.opts.System), denied: t.Denied,
		model: first(r.Override.Model, t.Model), effort: first(r.Override.Effort, t.Effort), maxTurns: t.MaxTurns,
	}
	if child.maxTurns <= 0 {
		child.maxTurns = forkTurns
	}
	if r.Skill != "" {
		child.chain = append(slices.Clone(a.chain), r.Skill)
	}
	child.granted, child.limit = r.Override.AllowedTools, r.Limit
	child.denied = append(slices.Clone(t.Denied), r.Override.DisallowedTools...)
	child.tools = a.c.pool(t, r)
	child.id = a.c.opts.Session.StartAgent(a.id, t.Name, r.Skill)
	a.c.observe(AgentStarted{Agent: child.id, Parent: a.id, Type: t.Name, Skill: r.Skill})
	return child, nil
}

func (a *agent) agentType(name string) (Type, error) {
	if a.c.opts.AgentType != nil {
		return a.c.opts.AgentType(name)
	}
	if name == "" || name == "general-purpose" {
		return Type{Name: "general-purpose"}, nil
	}
	return Type{}, fmt.Errorf("unknown agent type %q; the only one is general-purpose", name)
}

// readers are the tools that stay in every fork: they change nothing outside
// the conversation (spec I-9).
var readers = []string{"Read", "Grep", "Glob", "Skill", "SkillSearch", "TodoWrite"}

// pool returns the tools of a subagent (spec I-9): those of its type, and, when
// its skill declares allowed-tools, of the others only the listed ones.
func (c *Conversation) pool(t Type, r invoke.ForkRequest) []Tool {
	var out []Tool
	for _, tool := range c.opts.Tools {
		name := tool.Spec().Name
		switch {
		case t.Tools != nil && !named(t.Tools, name):
		case slices.Contains(t.Denied, name), slices.Contains(r.Override.DisallowedTools, name):
		case r.Limit != nil && !slices.Contains(readers, name) && !named(r.Limit, name):
		default:
			out = append(out, tool)
		}
	}
	return out
}

// named reports whether a list of tools and rules speaks of a tool.
func named(list []string, tool string) bool {
	return slices.ContainsFunc(list, func(s string) bool {
		name, _, _ := strings.Cut(s, "(")
		name = strings.TrimSpace(name)
		return name == tool || name == "*" || strings.HasSuffix(name, "*") && strings.HasPrefix(tool, strings.TrimSuffix(name, "*"))
	})
}

// runAlone runs a subagent to its end and returns its last text.
func (a *agent) runAlone(ctx context.Context, r invoke.ForkRequest) (string, error) {
	msgs, err := a.preload(ctx, r.Agent)
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
func (a *agent) preload(ctx context.Context, kind string) ([]turn.Message, error) {
	t, err := a.agentType(kind)
	if err != nil {
		return nil, err
	}
	var msgs []turn.Message
	for _, name := range t.Preload {
		r, err := a.invoke(ctx, invoke.Request{Name: name, By: invoke.ByAgent, Agent: a.id}, turn.Override{})
		var missing *catalog.NotFoundError
		switch {
		case errors.As(err, &missing):
			a.c.observe(Notice{Agent: a.id, Text: fmt.Sprintf("agent type %s: %v", t.Name, err)})
		case err != nil:
			return nil, fmt.Errorf("agent type %s: %w", t.Name, err)
		default:
			msgs = append(msgs, r.Messages...)
			a.granted = append(a.granted, r.Override.AllowedTools...)
			a.denied = append(a.denied, r.Override.DisallowedTools...)
		}
	}
	return msgs, nil
}

// begin counts a subagent in, or says that there are too many.
func (c *Conversation) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running >= maxAgents {
		return fmt.Errorf("%d subagents run already; wait for one to end", maxAgents)
	}
	c.running++
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
