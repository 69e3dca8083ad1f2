package agent

import (
	"context"
	"sync"
	"time"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
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
	// Main is the type of the main agent, which limits its tools and may bring
	// skills along; nil is none. Its prompt belongs into System.
	Main *agentdef.Definition
	// Around follows the prompt of an agent type: where it runs, and what people
	// have written down for agents. AroundLean is what types get that are Lean.
	Around, AroundLean string

	Session *session.Session
	// Env returns what an invocation may use at this moment: a fresh snapshot,
	// the rules in force. Its Ask and Fork are filled in here.
	Env func() invoke.Env
	// Announce returns the reminder that tells an agent which skills are new,
	// or "" (spec L-6); nil announces nothing. Prompt is what the agent is about
	// to answer, which may decide what is told first (spec L-5).
	Announce func(ctx context.Context, agent session.AgentID, prompt string) string
	// Attach returns what "@path" references of a text bring in (spec A-5); nil
	// attaches nothing.
	Attach func(ctx context.Context, text string) []turn.Message
	// AttachSkill is Attach for the compiled text of a skill; nil attaches nothing.
	AttachSkill func(ctx context.Context, e *catalog.Entry, text string) []turn.Message
	// Definition finds an agent type by name. Its error names the known ones
	// (spec I-8); nil knows the built-in ones.
	Definition func(name string) (*agentdef.Definition, error)
	// ResolveModel turns a skill's or agent's model into the provider's id. Its
	// error keeps the session's model, with a notice (spec I-5); nil takes every
	// name as it is.
	ResolveModel func(name string) (string, error)
	// AfterCompaction is the reminder of skill names (spec L-7); nil sends none.
	AfterCompaction func(session.AgentID) string

	// Hooks runs lifecycle hooks (spec chapter 7); nil runs none.
	Hooks Hooks
	// Audit is told every decision about a call and every command (spec S-12). It
	// tells the person itself when it cannot write; nil keeps no log.
	Audit audit.Sink
	Trace Tracer // frames what takes time; nil traces nothing
	// Touched is told which files a call read or wrote (spec D-1), and returns
	// what the person should know of what followed; nil is fine. It may be called
	// from several goroutines.
	Touched func(ctx context.Context, files []string) (notices []string)

	Ask      invoke.Asker // nil refuses what needs a person
	Mode     Mode         // empty means ModeDefault
	NoBypass bool         // agent types cannot have ModeBypass (disableBypassPermissionsMode)
	MaxTurns int          // model calls of one turn of the main agent; zero means 200
	SpillDir string       // where results that are too long are saved; empty drops the rest
	Observe  func(Event)  // told of everything that happens; called by one goroutine at a time
	Now      func() time.Time
}

// Hooks runs the lifecycle hooks that hold for an agent at this moment. Run
// returns when all of them have said what they have to say, or ctx ended; it is
// safe for concurrent use.
type Hooks interface {
	Run(ctx context.Context, agent session.AgentID, in hook.Input) hook.Outcome
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
	closed  bool
	tasks   map[session.AgentID]context.CancelFunc // background subagents
	ended   chan struct{}                          // closed, and made anew, when one of them ends
	pending map[session.AgentID][]turn.Message     // their results, not yet delivered, by receiver
	usage   llm.Usage
	denials []Denial

	opening []turn.Message // what hooks add before the next turn; guarded by turnMu

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
	c := &Conversation{opts: o, tasks: map[session.AgentID]context.CancelFunc{},
		ended: make(chan struct{}), pending: map[session.AgentID][]turn.Message{}}
	c.main = &agent{c: c, id: session.Main, system: o.System, tools: o.Tools, maxTurns: o.MaxTurns, mode: o.Mode}
	if o.Main != nil {
		c.main.become(o.Main, agentdef.PoolOf(o.Main, agentdef.Fork{}, toolNames(o.Tools)))
		c.main.mode = o.Mode.of(o.Main.Run.PermissionMode, o.NoBypass)
		c.main.ownHooks()
	}
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
	Text  string
	Turns int // model calls
	Usage llm.Usage
	Stop  llm.StopReason
}

// Submit runs one turn of the main agent: until the model stops, ctx ends, or a
// limit is reached. Settings of the turn end with it (spec I-6). After an error
// the history is valid, and the next Submit goes on from there.
func (c *Conversation) Submit(ctx context.Context, in Input) (Answer, error) {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	msgs, err := c.first(ctx)
	if err != nil {
		return Answer{}, err
	}
	msgs = append(msgs, c.takePending(session.Main)...)
	msgs = append(msgs, c.opening...)
	c.opening = nil
	if in.Text != "" {
		msgs = append(msgs, turn.Message{Role: turn.User, Text: in.Text})
	}
	msgs = append(msgs, in.Messages...)
	if in.Text != "" && c.opts.Attach != nil {
		msgs = append(msgs, c.opts.Attach(ctx, in.Text)...)
	}
	return c.main.run(ctx, msgs, in.Override)
}

// first returns what stands before everything else: the skills that the type
// of the main agent brings along.
func (c *Conversation) first(ctx context.Context) ([]turn.Message, error) {
	if c.main.def == nil || len(c.main.history) > 0 {
		return nil, nil
	}
	return c.main.preload(ctx)
}

// Join adds messages to the main agent's history without asking the model: what
// a person's call led to that needs no answer of its own (spec I-8).
func (c *Conversation) Join(msgs ...turn.Message) {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	c.main.joinAll(msgs)
}

// Deliver adds the results of background subagents to the main agent's history
// without asking the model, and returns them.
func (c *Conversation) Deliver() []turn.Message {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	msgs := c.takePending(session.Main)
	c.main.joinAll(msgs)
	return msgs
}

// Invoke runs a skill for the main agent (spec I-1). An inline result goes into
// the next Submit; a fork has run when it returns.
func (c *Conversation) Invoke(ctx context.Context, req invoke.Request) (*invoke.Result, error) {
	req.Agent = session.Main
	return c.main.invoke(ctx, req, c.main.env(turn.Override{}))
}

// History returns a copy of the main agent's messages.
func (c *Conversation) History() []llm.Message {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	return append([]llm.Message(nil), c.main.history...)
}

// Resume puts messages of an earlier run back; a turn that was broken off in
// the middle is mended. It is called before the first Submit.
func (c *Conversation) Resume(history []llm.Message) {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	c.main.history = mend(history)
}

// Usage returns the tokens of all agents so far.
func (c *Conversation) Usage() llm.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}

// Notify tells whoever observes the conversation something that the person
// should know.
func (c *Conversation) Notify(text string) { c.observe(Notice{Agent: session.Main, Text: text}) }

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
