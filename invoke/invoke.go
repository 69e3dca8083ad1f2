// Package invoke runs a skill: find it, ask permission, compile it, and hand
// back what has to be injected (spec chapter 5). Every way in, a person's
// /name, the model's Skill tool, a schedule, an agent definition, comes through
// [Invoke]; what differs between them is written out in callers.go.
//
// The package holds no state. An invocation reads one catalog snapshot from
// start to end, and one that fails leaves no trace (spec I-2).
package invoke

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/turn"
)

// A Request names the skill to run.
type Request struct {
	Name  string // id, qualified id or display name; a leading "/" is ignored
	Args  string // as typed
	By    Caller
	Agent session.AgentID // empty means session.Main
}

// Env is what one invocation may use. It comes with the call, from whoever
// runs the conversation, so nothing needs to be registered beforehand.
type Env struct {
	Catalog *catalog.Snapshot
	Session *session.Session
	Rules   permission.Rules
	Ask     Asker        // nil refuses what the rules leave open
	Shell   shell.Runner // nil refuses inline commands
	Fork    Forker       // nil refuses skills that run in a subagent

	WorkDir    string
	ProjectDir string // ${CLAUDE_PROJECT_DIR}
	Home       string
	Model      string // the session's model, whose "[1m]"-like suffix an override keeps
	Effort     string // the effort in force; empty means medium

	Trusted          bool // the workspace is trusted (spec S-9)
	ManagedRulesOnly bool // allowManagedPermissionRulesOnly (spec S-6)
	ShellOff         bool // disableSkillShellExecution (spec P-13)
	NoShell          bool // leave inline commands as written ("render --no-shell")
	ArgumentBase     int  // 0, 1 or -1 for auto (spec P-4)
	SpillDir         string
	Now              func() time.Time // nil means time.Now
}

// A Result says what the caller has to do: for an inline skill, add Messages
// and Override to the current turn; for a forked one, report Fork.
type Result struct {
	Entry    *catalog.Entry
	Mode     skill.Mode
	Text     string         // the compiled instructions
	Messages []turn.Message // in the order in which they join the conversation
	Override turn.Override
	Fork     *ForkResult // Mode Fork, after it ran
	Repeat   bool        // the agent already holds the same text (spec I-7)
	Trace    []prompt.Span
	Commands []prompt.Ran
	Notices  []string // for the person: what was held back, and why
}

// A Forker runs instructions in a subagent. The agent loop implements it.
type Forker interface {
	Fork(ctx context.Context, r ForkRequest) (ForkResult, error)
}

// A ForkRequest is a subagent to run (spec I-8).
type ForkRequest struct {
	Parent     session.AgentID
	Skill      string // catalog id
	Agent      string // agent type; empty means general-purpose
	Prompt     string
	Override   turn.Override
	Background bool
}

// A ForkResult is the answer of a subagent, or the task that will bring it.
type ForkResult struct {
	Text string
	Task string
}

// ErrNoFork reports that the host cannot run subagents.
var ErrNoFork = errors.New("this host cannot run skills in a subagent")

// Invoke runs req (spec I-1). Its errors are a *catalog.NotFoundError or
// *catalog.AmbiguousError, a [*RefusedError], a *prompt.DeniedError, a
// *prompt.CommandError, a *shell.MissingError, [ErrNoFork], or what reading the
// body or the Forker returned.
func Invoke(ctx context.Context, req Request, env Env) (*Result, error) {
	r, err := Compile(ctx, req, env)
	if err != nil {
		return nil, err
	}
	agent := req.Agent
	if agent == "" {
		agent = session.Main
	}
	if r.Mode == skill.Fork {
		return r, runFork(ctx, r, agent, env)
	}
	r.Repeat = env.Session.Record(agent, session.Invoked{
		ID: r.Entry.ID, Path: r.Entry.Origin.Path, Text: r.Text, At: env.now(),
	})
	if r.Repeat {
		r.Messages = inlineMessages(r, req.Args, repeatNote(r.Entry.ID))
	}
	return r, nil
}

// Compile does everything that [Invoke] does up to the point where something
// would be remembered or started: it finds, authorizes and compiles, and shows
// the messages and the override that an invocation would bring.
func Compile(ctx context.Context, req Request, env Env) (*Result, error) {
	e, err := find(req, env)
	if err != nil {
		return nil, err
	}
	decided, err := authorize(e, req, env)
	if err != nil {
		return nil, err
	}
	in, err := e.Content.Body.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading skill %q: %w", e.ID, err)
	}
	if !decided {
		if err := approve(ctx, e, in, req, env); err != nil {
			return nil, err
		}
	}
	r := &Result{Entry: e, Mode: mode(e.Run.Mode)}
	r.Override, r.Notices = override(e, in, env)
	if err := compile(ctx, r, in, req, env); err != nil {
		return nil, err
	}
	r.Messages = inlineMessages(r, req.Args, r.Text)
	if r.Mode == skill.Fork {
		r.Messages = []turn.Message{{Role: turn.User, Text: r.Text, Meta: true}}
	}
	return r, nil
}

// Check reports whether req would be let through, without compiling or running
// anything: nil, or the error that [Invoke] would return (spec G-7).
func Check(ctx context.Context, req Request, env Env) error {
	e, err := find(req, env)
	if err != nil {
		return err
	}
	decided, err := authorize(e, req, env)
	if err != nil || decided {
		return err
	}
	in, err := e.Content.Body.Load(ctx)
	if err != nil {
		return fmt.Errorf("reading skill %q: %w", e.ID, err)
	}
	return approve(ctx, e, in, req, env)
}

func mode(m skill.Mode) skill.Mode {
	if m == "" {
		return skill.Inline
	}
	return m
}

func (env Env) now() time.Time {
	if env.Now == nil {
		return time.Now()
	}
	return env.Now()
}

func runFork(ctx context.Context, r *Result, parent session.AgentID, env Env) error {
	if env.Fork == nil {
		return fmt.Errorf("skill %q: %w", r.Entry.ID, ErrNoFork)
	}
	out, err := env.Fork.Fork(ctx, ForkRequest{
		Parent: parent, Skill: r.Entry.ID, Agent: r.Entry.Run.Agent, Prompt: r.Text,
		Override: r.Override, Background: r.Entry.Run.Background,
	})
	if err != nil {
		return fmt.Errorf("skill %q: %w", r.Entry.ID, err)
	}
	r.Fork = &out
	return nil
}
