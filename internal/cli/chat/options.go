// Package chat wires one conversation with a real model for the command line:
// model, tools, agent types, memory files, transcript (spec chapters 9 and 11).
package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool/question"
	"github.com/knack-skills/knack/agent/tool/todo"
	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/internal/otlp"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/telemetry"
)

// Options says what the person asked for on the command line (spec A-7).
type Options struct {
	Model        choose.Choice
	Aliases      choose.Options
	Effort       string
	MaxTurns     int
	Mode         agent.Mode
	Allowed      []string // --allowedTools
	Disallowed   []string // --disallowedTools
	AppendSystem string
	Agents       string // --agents, JSON
	Agent        string // --agent: the type of the main agent
	NoSkills     bool   // --disable-slash-commands
	Bare         bool   // --bare: no memory files
	Continue     bool
	Resume       string // a session id
	Fork         bool   // go on in a copy of the session
	RecordDir    string // KNACK_RECORD
	Getenv       func(string) string
	Observe      func(agent.Event)
	Collector    *otlp.Exporter // where telemetry goes; nil is nowhere
	Ask          invoke.Asker   // nil when nobody can be asked
	Questions    question.Asker // the same for the tool AskUserQuestion
	// Servers starts the MCP servers of a workspace; nil starts none.
	Servers func(ctx context.Context, e *knack.Engine) (*servers.Set, error)
}

// A Host is one conversation with everything that belongs to it.
type Host struct {
	Engine *knack.Engine
	Talk   *agent.Conversation
	// Telemetry records what the conversation does; nil records nothing.
	Telemetry *telemetry.Recorder
	Servers   *servers.Set // MCP; nil without any

	o       Options
	log     *transcript.Transcript // nil when there is no state directory
	defs    *agentdef.Set
	tools   toolbox
	hooks   *hooks
	unwatch func() // nil when nothing is watched
	problem []skill.Problem
	main    *agentdef.Definition // --agent; nil is none
	saved   json.RawMessage      // the list of tasks of the session that goes on
	around  [2]string            // where agents run; the second is for lean ones

	logMu  sync.Mutex  // guards logErr
	logErr error       // the first entry that could not be written
	todos  []todo.Task // of the main agent, as written down; only observe touches it
	// waiting holds invocations whose messages are not written yet. Only
	// observe touches it, which is called by one goroutine at a time.
	waiting map[session.AgentID][]transcript.Invocation
}

// Open makes a host. open loads the workspace; it is given the session that is
// resumed, or nil.
func Open(ctx context.Context, o Options, open func(*session.Session) (*knack.Engine, error)) (*Host, error) {
	e, err := open(nil)
	if err != nil {
		return nil, err
	}
	h := &Host{Engine: e, o: o, waiting: map[session.AgentID][]transcript.Invocation{}}
	var history []llm.Message
	if o.Continue || o.Resume != "" {
		if history, err = h.resume(ctx, open); err != nil {
			return nil, err
		}
	} else if h.log, err = h.create(); err != nil {
		return nil, err
	}
	if err := h.wire(ctx, history); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// project is where the transcripts of this workspace lie.
func (h *Host) project() (transcript.Project, error) {
	return transcript.At(h.Engine.TrustStore().Dir, h.Engine.ProjectDir())
}

// create begins a transcript. Without a state directory the session is not
// kept, which is not worth refusing to work.
func (h *Host) create() (*transcript.Transcript, error) {
	p, err := h.project()
	if err != nil {
		return nil, nil
	}
	t, err := p.Create(h.Engine.Session().ID)
	if errors.Is(err, transcript.ErrExists) {
		return nil, err
	}
	if err != nil {
		h.problem = append(h.problem, skill.Problem{Code: "transcript-unwritable", Severity: skill.Warning, Path: p.Dir,
			Message: "this session is not kept: " + err.Error(), Fix: "make the directory writable, or set KNACK_STATE_DIR"})
		return nil, nil
	}
	return t, nil
}

// resume opens an earlier session again (spec M-4).
func (h *Host) resume(ctx context.Context, open func(*session.Session) (*knack.Engine, error)) ([]llm.Message, error) {
	p, err := h.project()
	if err != nil {
		return nil, err
	}
	id := h.o.Resume
	if id == "" {
		list, _, err := p.List(ctx, 1)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, errors.New("there is no earlier session of this project to continue")
		}
		id = list[0].ID
	}
	if h.o.Fork {
		to := h.Engine.Session().ID
		if err := p.Fork(id, to); err != nil {
			return nil, err
		}
		id = to
	}
	t, c, err := p.Resume(id)
	if err != nil {
		return nil, err
	}
	h.log, h.problem, h.saved = t, c.Problems, c.Todos
	first := h.Engine
	if h.Engine, err = open(c.Session); err != nil {
		return nil, errors.Join(err, t.Close(), first.Close())
	}
	if err := first.Close(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	history := make([]llm.Message, len(c.Messages))
	for i, m := range c.Messages {
		if err := json.Unmarshal(m, &history[i]); err != nil {
			return nil, errors.Join(fmt.Errorf("session %s: message %d: %w", id, i+1, err), t.Close())
		}
	}
	return history, nil
}

// wire makes the conversation.
func (h *Host) wire(ctx context.Context, history []llm.Message) error {
	var err error
	if h.defs, err = h.agents(ctx); err != nil {
		return err
	}
	if h.o.Agent != "" {
		if h.main, err = h.defs.Lookup(h.o.Agent); err != nil {
			return output.Usagef("--agent: %v", err)
		}
	}
	mode, err := h.mode()
	if err != nil {
		return err
	}
	if len(h.o.Allowed) > 0 && h.Engine.Env().ManagedRulesOnly {
		h.problem = append(h.problem, skill.Problem{Code: "rule-not-managed", Severity: skill.Warning,
			Message: "--allowedTools is not in force, because managed settings let only their own allow rules count (allowManagedPermissionRulesOnly)",
			Fix:     "ask the administrator to add the rules to the managed settings"})
	}
	model, err := connect(h.o)
	if err != nil {
		return err
	}
	if h.Telemetry, err = NewRecorder(h.o.Collector, h.Engine.Session().ID, h.o.Model); err != nil {
		return err
	}
	if h.o.Servers != nil {
		if h.Servers, err = h.o.Servers(ctx, h.Engine); err != nil {
			return err
		}
		h.Servers.WaitForTools(ctx)
	}
	h.tools = newToolbox(h)
	h.restoreTodos()
	system, err := h.system(ctx)
	if err != nil {
		return err
	}
	h.hooks = newHooks(h)
	e := h.Engine
	effort, _ := e.Settings().EffortValue() // a bad one is told by the engine
	h.o.Effort = cmp.Or(h.o.Effort, effort)
	h.Talk = agent.New(agent.Options{
		Model: h.Telemetry.Model(model), Trace: h.Telemetry.Tracer(), ModelID: h.o.Model.ID + h.o.Model.Suffix, Effort: h.o.Effort, Window: h.o.Model.Window(),
		System: system, Main: h.main, Around: h.around[0], AroundLean: h.around[1], Tools: h.tools.all, Session: e.Session(),
		Env: h.invokeEnv, Announce: h.announce, AfterCompaction: h.names, Attach: h.attach, AttachSkill: h.attachSkill,
		Definition: h.defs.Lookup, ResolveModel: h.resolve, Touched: h.touched, Hooks: h.hooks, Audit: e.Audit(),
		Mode: mode, NoBypass: h.noBypass(), MaxTurns: h.o.MaxTurns, SpillDir: h.spill(),
		Observe: h.observe, Ask: h.o.Ask,
	})
	h.Talk.Resume(history)
	h.keep(session.Main, transcript.Meta{CWD: e.Dir(), Model: h.o.Model.String(), Effort: h.o.Effort, Mode: string(mode)})
	return nil
}

func (h *Host) agents(ctx context.Context) (*agentdef.Set, error) {
	var given []*agentdef.Definition
	if h.o.Agents != "" {
		defs, problems, err := agentdef.Parse(h.o.Agents)
		if err != nil {
			return nil, output.Usagef("%v", err)
		}
		given, h.problem = defs, append(h.problem, problems...)
		if _, strict := h.Engine.Settings().PluginOnly("agents"); strict {
			given = nil // a person's word on the command line is theirs as well (spec S-11)
			h.problem = append(h.problem, skill.Problem{Code: "plugin-only", Severity: skill.Warning, Path: "--agents",
				Message: "not in force: the administrator wants agent types from plugins alone (strictPluginOnlyCustomization)",
				Fix:     "put the agent type into a plugin that is allowed, or ask your administrator"})
		}
	}
	set, err := agentdef.Load(ctx, agentdef.Options{
		Roots: h.Engine.AgentRoots(),
		Given: given, Trusted: h.Engine.Trusted(),
	})
	if err != nil {
		return nil, err
	}
	h.problem = append(h.problem, set.Problems()...)
	return set, nil
}

// invokeEnv is what an invocation may use now, with the rules of the command line.
func (h *Host) invokeEnv() invoke.Env {
	env := h.Engine.Env()
	env.Model, env.Effort = h.o.Model.String(), h.o.Effort
	if !env.ManagedRulesOnly { // wire says so
		env.Rules = env.Rules.With(rules(h.o.Allowed, "--allowedTools")...)
	}
	env.Rules.Deny = append(rules(h.o.Disallowed, "--disallowedTools"), env.Rules.Deny...)
	if dir := h.spill(); dir != "" && !strings.ContainsAny(dir, "*?[]\\()!#") {
		env.Rules = env.Rules.With(rules([]string{"Read(/" + dir + "/**)"}, "results of this session")...)
	}
	return env
}

func rules(texts []string, from string) []permission.Rule {
	var out []permission.Rule
	for _, t := range texts {
		if r, err := permission.ParseRule(t); err == nil { // checked when the flags were read
			r.From, r.Scope = from, "command-line"
			out = append(out, r)
		}
	}
	return out
}

func (h *Host) resolve(name string) (string, error) {
	if h.o.Model.Provider == choose.Scripted {
		return name, nil // recorded; the script goes on (spec K-12)
	}
	c, err := choose.Resolve(name, h.o.Aliases)
	if err != nil {
		return "", err
	}
	if c.Provider != h.o.Model.Provider {
		return "", fmt.Errorf("it is a model of %s, and this session talks to %s", c.Provider, h.o.Model.Provider)
	}
	return c.ID + c.Suffix, nil
}

// Getenv reads the environment of the options.
func (o Options) getenv(name string) string {
	if o.Getenv == nil {
		return os.Getenv(name)
	}
	return o.Getenv(name)
}
