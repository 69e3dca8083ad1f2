// Package invoke runs a skill: find it, ask permission, compile it, and hand
// back what has to be injected (spec chapter 5). Every way in, a person's
// /name, the model's Skill tool, a schedule, an agent definition, comes through
// [Invoke]; what differs between them is written out in callers.go.
//
// The package holds no state. An invocation reads one catalog snapshot from
// start to end, and one that fails leaves no trace (spec I-2).
package invoke

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
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
	Session *session.Session // nil remembers nothing, and no conditional skill is active
	Rules   permission.Rules
	Ask     Asker        // nil refuses what the rules leave open
	Shell   shell.Runner // nil refuses inline commands
	Fork    Forker       // nil refuses skills that run in a subagent

	Approvals Approvals // what the person allowed for good (spec S-14); nil knows nothing
	Keeper    Keeper    // keeps rules for good; nil keeps none

	Environ    []string // environment of inline commands; nil means the process's own
	WorkDir    string
	ProjectDir string // ${CLAUDE_PROJECT_DIR}
	Home       string
	Links      func(path string) string // where links lead, for permissions (spec S-8); nil takes paths as they are
	Model      string                   // the session's model, whose "[1m]"-like suffix an override keeps
	Effort     string                   // the effort in force; empty means medium

	// Hooks runs the hooks of one event; which ones there are for a caller is in
	// hooked.go. What the host knows besides, such as the session, it fills in
	// itself, and it tells the person what the hooks have for them. Nil has none.
	Hooks func(ctx context.Context, in hook.Input) hook.Outcome
	// Called says that the PreToolUse hooks of a model's call have run: a loop runs
	// them for the calls of all its tools. Otherwise they run here.
	Called bool
	// Audit is told every decision and every command that ran (spec S-12). It
	// tells the person itself when it cannot write; nil keeps no log.
	Audit audit.Sink
	// NoHooks says why no skill may register hooks (spec H-10); empty is none.
	NoHooks string
	// ManagedHooks says why only managed and bundled skills may register hooks.
	ManagedHooks string
	// PluginHooks says why only those and skills of plugins may.
	PluginHooks string

	Trusted          bool // the workspace is trusted (spec S-9)
	ManagedRulesOnly bool // allowManagedPermissionRulesOnly (spec S-6)
	ShellOff         bool // disableSkillShellExecution (spec P-13)
	NoShell          bool // leave inline commands as written ("render --no-shell")
	ArgumentBase     int  // 0, 1 or -1 for auto (spec P-4)
	SpillDir         string
	PluginData       string // where each plugin has a directory for its data; empty means none
	// PluginOptions returns the values that a plugin was given and that are no
	// secrets; nil has none.
	PluginOptions func(owner string) map[string]string
	Now           func() time.Time // nil means time.Now

	approved bool   // the person allowed what the skill consists of
	hash     string // of the skill's content, where it was read (spec S-14)
}

// active reports whether the conditional skill id was activated (spec D-3).
func (env Env) active(id string) bool { return env.Session != nil && env.Session.Active(id) }

// A Result says what the caller has to do: add Messages and Override to the
// current turn; for a skill that ran in a subagent both are empty, and Fork
// holds what is to be reported. [Compile], which starts no subagent, shows in
// them what the subagent would begin with.
type Result struct {
	Entry    *catalog.Entry
	Mode     skill.Mode
	Text     string         // the compiled instructions
	Dir      string         // of the skill's files on this machine; empty if none
	Messages []turn.Message // in the order in which they join the conversation
	Override turn.Override
	Fork     *ForkResult // Mode Fork, after it ran
	Repeat   bool        // the agent already holds the same text (spec I-7)
	Trace    []prompt.Span
	Commands []prompt.Ran
	Notices  []string // for the person: what was held back, and why
	// Added is what hooks add for the model. Of an inline skill it stands at the
	// end of Messages as well; the subagent of another was told.
	Added []turn.Message

	hash     string      // of what was compiled, for the audit log
	limit    []string    // see ForkRequest.Limit
	hooks    hook.Config // that the skill registers (spec H-8)
	variants string      // note on nested skills of the same name (spec D-1)
}

// A Forker runs instructions in a subagent. The agent loop implements it.
type Forker interface {
	Fork(ctx context.Context, r ForkRequest) (ForkResult, error)
}

// A ForkRequest is a subagent to run (spec I-8).
type ForkRequest struct {
	Parent   session.AgentID
	Skill    string // catalog id
	Agent    string // agent type; empty means general-purpose
	Prompt   string
	Added    []turn.Message // what hooks add, to stand behind Prompt
	Override turn.Override
	// Limit is allowed-tools as declared, variables expanded, whether or not
	// they are granted; nil does not limit the tools (spec I-9).
	Limit      []string
	Dir        string // of the skill's files; empty if none
	Path       string // SKILL.md; empty if none
	Background bool
	// Hooks are registered for the subagent until it ends (spec H-8); Origin is
	// where they come from.
	Hooks  hook.Config
	Origin skill.Origin
}

// A ForkResult is the answer of a subagent, or the task that will bring it.
type ForkResult struct {
	Text string
	Task string
	// Tokens are those that its model calls took; zero when nobody counts them,
	// and for a task.
	Tokens int
}

// ErrNoFork reports that the host cannot run subagents.
var ErrNoFork = errors.New("this host cannot run skills in a subagent")

// Invoke runs req (spec I-1). Its errors are a *catalog.NotFoundError or
// *catalog.AmbiguousError, a [*RefusedError], a *prompt.DeniedError, a
// *prompt.CommandError, a *shell.MissingError, a *hook.BlockedError or
// *hook.StoppedError, [ErrNoFork], or what reading the body, the Asker or the
// Forker returned. With an error the result is nil and nothing was remembered
// (spec I-2).
func Invoke(ctx context.Context, req Request, env Env) (*Result, error) {
	began := env.now()
	h := &hooked{env: env, req: req}
	r, err := h.invoke(ctx)
	env.noteInvocation(h.req, r, err, env.now().Sub(began))
	return r, err
}

// invoke walks the road with the hooks beside it.
func (h *hooked) invoke(ctx context.Context) (*Result, error) {
	if err := h.beforehand(ctx); err != nil {
		return nil, err
	}
	r, err := carryOut(ctx, h.req, h.env, true)
	if err != nil {
		if r := held(err, h.req, h.env); r != nil {
			return r, nil
		}
		return nil, err
	}
	if err := h.invoked(ctx, r.Entry); err != nil {
		return nil, err
	}
	r.Added = h.added
	if r, err = begin(ctx, r, h.req, h.env); err != nil {
		return nil, err
	}
	if r.Mode != skill.Fork {
		r.Messages = append(r.Messages, r.Added...)
	}
	return r, nil
}

// begin starts the subagent of a skill that was let through, or remembers what
// joins the conversation.
func begin(ctx context.Context, r *Result, req Request, env Env) (*Result, error) {
	agent := agentOf(req)
	if r.Mode == skill.Fork {
		return runFork(ctx, r, agent, env)
	}
	if env.Session == nil {
		return r, nil
	}
	if len(r.hooks) > 0 {
		env.Session.Register(agent, idOf(r.Entry), r.Entry.Origin, r.hooks)
	}
	r.Repeat = env.Session.Record(agent, session.Invoked{
		ID: idOf(r.Entry), Path: r.Entry.Origin.Path, Args: req.Args, Text: r.Text, At: env.now(),
	})
	if r.Repeat {
		r.Messages = inlineMessages(r, req.Args, repeatNote(idOf(r.Entry)))
	}
	return r, nil
}

// Compile does everything that [Invoke] does up to the point where something
// would be remembered or started: it finds, authorizes and compiles, which runs
// inline commands, and shows the messages and the override that an invocation
// would bring. A skill for a subagent compiles without a Forker.
func Compile(ctx context.Context, req Request, env Env) (*Result, error) {
	return carryOut(ctx, req, env, false)
}

// Check reports whether req would be let through, without compiling or running
// anything: nil, or the error with which [Compile] would refuse it (spec G-7).
// Env.Ask is asked as there. It is not audited and sets off no hooks: nothing is
// let through.
func Check(ctx context.Context, req Request, env Env) error {
	env.Audit, env.Hooks = nil, nil
	_, err := admit(ctx, req, env, false)
	return err
}

// admitted is a call that was found and authorized.
type admitted struct {
	entry *catalog.Entry
	in    *skill.Instructions // nil until they are needed
	req   Request
	env   Env
	approval
}

// admit finds and authorizes (spec I-2). The body is read here only if the
// decision depends on it. toRun refuses a skill that cannot be run in the end
// before anybody is asked or a command has run.
func admit(ctx context.Context, req Request, env Env, toRun bool) (*admitted, error) {
	e, err := find(req, env)
	if err != nil {
		return nil, err
	}
	decided, err := authorize(e, req, env)
	if err != nil {
		return nil, err
	}
	if toRun && mode(e, req.By) == skill.Fork && env.Fork == nil {
		return nil, fmt.Errorf("skill %q: %w", idOf(e), ErrNoFork)
	}
	a := &admitted{entry: e, req: req, env: env}
	if decided {
		return a, nil
	}
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	if err := a.approve(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// load reads the body, once (spec F-9).
func (a *admitted) load(ctx context.Context) error {
	if a.in != nil {
		return nil
	}
	in, err := a.read(ctx)
	if err != nil {
		return fmt.Errorf("reading skill %q: %w", idOf(a.entry), err)
	}
	a.in = &in
	return nil
}

// read reads the body for this call.
func (a *admitted) read(ctx context.Context) (skill.Instructions, error) {
	if b, ok := a.entry.Content.Body.(skill.ArgumentBody); ok {
		return b.LoadFor(ctx, prompt.SplitArgs(a.req.Args))
	}
	return a.entry.Content.Body.Load(ctx)
}

func (a *admitted) compile(ctx context.Context) (*Result, error) {
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	e, req, env := a.entry, a.req, a.env
	env.Shell = a.checked(ctx, env.Shell)
	var err error
	if env.approved, err = a.grantsRemote(ctx); err != nil {
		return nil, err
	}
	r := &Result{Entry: e, Mode: mode(e, req.By), Dir: a.in.Dir, variants: variantsNote(e, req, env)}
	r.Override, r.Notices = override(e, *a.in, env)
	r.Notices = append(r.Notices, a.notices...)
	hooks, held := hooksOf(e, env)
	r.hooks = hooks
	if held != "" {
		r.Notices = append(r.Notices, held)
	}
	if e.Run.AllowedTools != nil {
		r.limit = prompt.ExpandRules(e.Run.AllowedTools, vars(e, *a.in, env))
	}
	if err := compile(ctx, r, *a.in, req, env); err != nil {
		return nil, err
	}
	if r.Mode == skill.Fork {
		r.Messages = forkMessages(r)
	} else {
		r.Messages = inlineMessages(r, req.Args, r.Text)
	}
	return r, nil
}

// agentOf is the agent for which req runs.
func agentOf(req Request) session.AgentID { return cmp.Or(req.Agent, session.Main) }

// mode is how a skill runs for a caller. An agent definition brings along texts,
// which are read at the beginning and not carried out by others before it (spec
// I-1).
func mode(e *catalog.Entry, by Caller) skill.Mode {
	m := e.Run.Mode
	if m == "" || by == ByAgent {
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

// runFork hands r to the Forker. What it began with and what it may do stay
// with the subagent (spec I-8).
func runFork(ctx context.Context, r *Result, parent session.AgentID, env Env) (*Result, error) {
	out, err := env.Fork.Fork(ctx, ForkRequest{
		Parent: parent, Skill: idOf(r.Entry), Agent: r.Entry.Run.Agent, Prompt: r.Messages[0].Text,
		Added: r.Added, Override: r.Override, Limit: r.limit, Dir: cmp.Or(r.Entry.Origin.Dir, r.Dir), Path: r.Entry.Origin.Path,
		Background: r.Entry.Run.Background, Hooks: r.hooks, Origin: r.Entry.Origin,
	})
	if err != nil {
		return nil, fmt.Errorf("skill %q: %w", idOf(r.Entry), err)
	}
	r.Fork, r.Messages, r.Override = &out, nil, turn.Override{}
	return r, nil
}
