package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// Options is what a conversation is made of. Model, Session and Env are
// required.
type Options struct {
	Model   llm.Model
	ModelID string // the session's model, as the provider names it
	Effort  string // empty is the provider's default
	Window  int    // context window in tokens; zero means 200,000
	System  string // system prompt of the main agent; constant (spec L-1)
	Tools   []Tool // every tool there is; the main agent has all of them

	Session *session.Session
	// Env returns what an invocation may use at this moment: a fresh snapshot,
	// the rules in force. Its Ask and Fork are filled in here.
	Env func() invoke.Env
	// Announce returns the reminder that tells an agent which skills are new,
	// or "" (spec L-6); nil announces nothing.
	Announce func(session.AgentID) string
	// Attach returns what "@path" references of a text bring in (spec A-5); nil
	// attaches nothing.
	Attach func(ctx context.Context, text string) []turn.Message
	// Definition finds an agent type by name. Its error names the known ones
	// (spec I-8); nil knows the built-in ones.
	Definition func(name string) (*agentdef.Definition, error)
	// ResolveModel turns a skill's or agent's model into the provider's id. Its
	// error keeps the session's model, with a notice (spec I-5); nil takes every
	// name as it is.
	ResolveModel func(name string) (string, error)
	// AfterCompaction is the reminder of skill names (spec L-7); nil sends none.
	AfterCompaction func(session.AgentID) string

	// Touched is told which files a call read or wrote (spec D-1); nil is fine.
	Touched func(files []string)

	Ask      invoke.Asker // nil refuses what needs a person
	Mode     Mode         // empty means ModeDefault
	MaxTurns int          // model calls of one turn of the main agent; zero means 200
	SpillDir string       // where results that are too long are saved; empty drops the rest
	Observe  func(Event)  // told of everything that happens; called by one goroutine at a time
	Now      func() time.Time
}

// The limits of a turn; those of subagents are in session (spec I-10).
const (
	forkTurns    = 50  // model calls of a subagent
	defaultTurns = 200 // model calls of one turn of the main agent
	maxParallel  = 10  // read-only calls of one answer
)

// A Conversation is one session of a main agent with its subagents. Turns of
// the main agent follow each other: Submit calls wait for one another. All
// other methods are safe for concurrent use.
type Conversation struct {
	opts Options // fixed at creation
	main *agent

	turnMu sync.Mutex // one turn of the main agent at a time

	mu      sync.Mutex // guards the fields below
	running int        // subagents at this moment
	tasks   map[string]context.CancelFunc
	pending []turn.Message // results of background subagents, not yet delivered
	done    sync.WaitGroup // background subagents
	usage   llm.Usage
	denials []Denial

	observeMu sync.Mutex // makes Observe calls follow each other
}

// A Denial is one call that was not allowed (spec K-11).
type Denial struct {
	Tool   string
	Input  []byte
	Reason string
}

// New returns a conversation that has not begun.
func New(o Options) *Conversation {
	if o.Window == 0 {
		o.Window = 200_000
	}
	if o.MaxTurns == 0 {
		o.MaxTurns = defaultTurns
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Conversation{opts: o, tasks: map[string]context.CancelFunc{}}
	c.main = &agent{c: c, id: session.Main, system: o.System, tools: o.Tools, maxTurns: o.MaxTurns}
	return c
}

// An Input begins a turn.
type Input struct {
	Text     string         // what the person said; may be empty when Messages say it
	Messages []turn.Message // of skills that were invoked for it, in order
	Override turn.Override  // of these skills
}

// An Answer ends a turn.
type Answer struct {
	Text   string
	Turns  int // model calls
	Usage  llm.Usage
	Stop   llm.StopReason
	Denied []Denial
}

// Submit runs one turn of the main agent: until the model stops, ctx ends, or a
// limit is reached. Settings of the turn end with it (spec I-6). After an error
// the history is valid, and the next Submit goes on from there.
func (c *Conversation) Submit(ctx context.Context, in Input) (Answer, error) {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	msgs := in.Messages
	if in.Text != "" {
		msgs = append([]turn.Message{{Role: turn.User, Text: in.Text}}, msgs...)
		if c.opts.Attach != nil {
			msgs = append(msgs, c.opts.Attach(ctx, in.Text)...)
		}
	}
	return c.main.run(ctx, append(c.takePending(), msgs...), in.Override)
}

// Invoke runs a skill for the main agent (spec I-1). An inline result goes into
// the next Submit; a fork has run when it returns.
func (c *Conversation) Invoke(ctx context.Context, req invoke.Request) (*invoke.Result, error) {
	req.Agent = session.Main
	return c.main.invoke(ctx, req, turn.Override{})
}

// History returns a copy of the main agent's messages.
func (c *Conversation) History() []llm.Message {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	return append([]llm.Message(nil), c.main.history...)
}

// Resume puts messages of an earlier run back. It is called before the first
// Submit.
func (c *Conversation) Resume(history []llm.Message) {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	c.main.history = append([]llm.Message(nil), history...)
}

// Usage returns the tokens of all agents so far.
func (c *Conversation) Usage() llm.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}

// Wait returns when no background subagent runs any more, or ctx ends.
// Pending reports whether results wait for the next turn.
func (c *Conversation) Wait(ctx context.Context) (pending bool, err error) {
	finished := make(chan struct{})
	go func() { c.done.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) > 0, nil
}

// Close stops every background subagent and waits for it.
func (c *Conversation) Close() {
	c.mu.Lock()
	for _, stop := range c.tasks {
		stop()
	}
	c.mu.Unlock()
	c.done.Wait()
}

func (c *Conversation) takePending() []turn.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.pending
	c.pending = nil
	return out
}

func (c *Conversation) observe(e Event) {
	if c.opts.Observe == nil {
		return
	}
	c.observeMu.Lock()
	defer c.observeMu.Unlock()
	c.opts.Observe(e)
}

func (c *Conversation) count(u llm.Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usage = c.usage.Add(u)
}

// env is what an invocation of a may use under the turn's settings.
func (a *agent) env(o turn.Override) invoke.Env {
	env := a.c.opts.Env()
	env.Rules = a.rules(o)
	env.Ask = a.asker()
	env.Fork = forker{a, o}
	return env
}

// rules are what is in force for a: the session's, what the person said to it,
// and what the turn's skills grant and refuse.
func (a *agent) rules(o turn.Override) permission.Rules {
	rules, kept := a.c.opts.Env().Rules, a.c.opts.Session.Kept(a.id)
	rules.Deny = slices.Concat(kept.Deny, rules.Deny)
	rules.Ask = slices.Concat(kept.Ask, rules.Ask)
	o.AllowedTools = slices.Concat(a.granted, o.AllowedTools)
	o.DisallowedTools = slices.Concat(a.denied, o.DisallowedTools)
	return rulesOf(rules.With(kept.Allow...), o)
}

// rulesOf adds the grants and refusals of a turn to the rules of the session
// (spec I-5, S-6): a refusal is a deny, a grant never lifts one.
func rulesOf(rules permission.Rules, o turn.Override) permission.Rules {
	var deny []permission.Rule
	for _, text := range o.DisallowedTools {
		if r, err := permission.ParseRule(text); err == nil {
			r.From, r.Scope = "disallowed-tools of an active skill", "skill"
			deny = append(deny, r)
		}
	}
	if len(deny) > 0 {
		rules.Deny = append(deny, rules.Deny...)
	}
	var allow []permission.Rule
	for _, text := range o.AllowedTools {
		if r, err := permission.ParseRule(text); err == nil {
			r.From, r.Scope = "allowed-tools of an active skill", "skill"
			allow = append(allow, r)
		}
	}
	return rules.With(allow...)
}
