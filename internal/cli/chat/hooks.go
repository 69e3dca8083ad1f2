package chat

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/hookexec"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

// endGrace is how long hooks may take when the session ends.
const endGrace = 5 * time.Second

// A Declared hook is one that a settings file or a skill declares.
type Declared struct {
	Entry hookexec.Entry
	Off   string // why it does not run; empty for one that does
}

// Hooks returns every hook that is declared: those of settings files, strongest
// file first, those of plugins, then those that skills register when they are
// invoked (spec H-11).
func Hooks(e *knack.Engine) (out []Declared) {
	on, left := e.Settings().HooksInForce()
	for _, f := range slices.Concat(on, left) {
		for _, entry := range hookexec.Entries(f.Config, hookexec.Entry{Owner: f.Path, Level: level(string(f.Level))}) {
			out = append(out, Declared{entry, f.Off})
		}
	}
	for _, p := range e.PluginHooks() {
		_, off := admitPlugin(e, p)
		for _, entry := range pluginEntries(p) {
			out = append(out, Declared{entry, off})
		}
	}
	for s := range e.Snapshot().All() {
		_, off := Admit(e, s.Origin)
		for _, entry := range SkillHooks(e, s) {
			out = append(out, Declared{entry, off})
		}
	}
	return out
}

// GlobalHooks returns the hooks of settings files and of plugins that are in
// force, as one group (spec H-7, H-10). A bare run has none but the administrator's.
func GlobalHooks(e *knack.Engine, bare bool) []hookexec.Entry {
	var out []hookexec.Entry
	on, _ := e.Settings().HooksInForce()
	for _, f := range on {
		if bare && string(f.Level) != hookexec.Managed {
			continue
		}
		out = append(out, hookexec.Entries(f.Config, hookexec.Entry{Owner: f.Path, Level: level(string(f.Level))})...)
	}
	if bare {
		return out
	}
	for _, p := range e.PluginHooks() {
		if ok, _ := admitPlugin(e, p); ok {
			out = append(out, pluginEntries(p)...)
		}
	}
	return out
}

// pluginEntries are the hooks that a plugin brings in its hooks file.
func pluginEntries(p knack.PluginHook) []hookexec.Entry {
	return hookexec.Entries(p.Config, hookexec.Entry{Owner: p.Plugin.Name, Level: hookexec.Plugin, Env: p.Env,
		Dirs: hookexec.Dirs{PluginRoot: p.Plugin.Dir, PluginData: p.Data}})
}

// admitPlugin holds the hooks of a plugin against policy (spec H-10).
func admitPlugin(e *knack.Engine, p knack.PluginHook) (ok bool, why string) {
	none, managed := e.Settings().HookPolicy()
	return hookexec.Admit(hookexec.Plugin, hookexec.Facts{Managed: p.Plugin.Managed(), Plugin: true},
		hookexec.Policy{Trusted: e.Trusted(), DisabledManaged: none != "", ManagedOnly: managed != ""})
}

// SkillHooks returns the hooks that a skill registers when it is invoked.
func SkillHooks(e *knack.Engine, s *catalog.Entry) []hookexec.Entry {
	return hookexec.Entries(s.Run.Hooks, hookexec.Entry{Owner: s.ID, Level: hookexec.Skill, Dirs: dirs(e, s.Origin)})
}

// Admit holds the hooks of a skill or an agent against policy (spec H-10).
func Admit(e *knack.Engine, o skill.Origin) (ok bool, why string) {
	none, managed := e.Settings().HookPolicy()
	return hookexec.Admit(hookexec.Skill, hookexec.Facts{Managed: o.Administered(), Bundled: o.Source == skill.Bundled,
		Plugin: o.Source == skill.Plugin, Workspace: o.FromWorkspace(), Remote: o.Remote()},
		hookexec.Policy{Trusted: e.Trusted(), DisabledManaged: none != "", ManagedOnly: managed != "", PluginOnly: e.Settings().PluginHooks() != ""})
}

// Covers answers "if" rules for an event of a tool call that nobody makes (spec
// H-3).
func Covers(e *knack.Engine, in hook.Input) func(rule string) bool {
	var call struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
		URL      string `json:"url"`
		Skill    string `json:"skill"`
		Agent    string `json:"subagent_type"`
	}
	_ = json.Unmarshal(in.ToolInput, &call) // what is no object is covered by no rule
	r := e.PermissionRequest(in.ToolName)
	r.Input = permission.Input{Command: call.Command, Path: call.FilePath, URL: call.URL, Skill: call.Skill, Agent: call.Agent}
	return func(rule string) bool { return permission.Covers(rule, r) }
}

// level says how a settings level weighs: what a person gives on the command
// line is theirs.
func level(l string) string {
	if l == "command-line" {
		return hookexec.User
	}
	return l
}

// hooks finds and runs the hooks that hold for an agent (spec chapter 7).
type hooks struct {
	h      *Host
	runner *hookexec.Runner
}

func newHooks(h *Host) *hooks {
	e := h.Engine
	k := &hooks{h: h}
	o := HookOptions(e)
	o.SpillDir, o.Frame = h.spill(), Frame(h.Telemetry)
	o.AskModel = func(ctx context.Context, model, prompt string) (string, error) {
		return h.Talk.Judge(ctx, h.small(model), prompt)
	}
	o.CallTool = func(ctx context.Context, server, tool string, input map[string]any) (string, error) {
		return h.Servers.CallTool(ctx, server, tool, input)
	}
	o.RunAgent = func(ctx context.Context, model, prompt string, maxTurns int) (string, error) {
		return h.Talk.Consult(ctx, h.small(model), prompt, maxTurns)
	}
	k.runner = hookexec.New(o)
	return k
}

// HookOptions are what every host runs hooks with. Models and tools are for
// those that have some.
func HookOptions(e *knack.Engine) hookexec.Options {
	return hookexec.Options{ProjectDir: e.ProjectDir(), WorkDir: e.Dir(), Env: e.Environ, Shell: e.Env().Shell, Audit: e.Audit()}
}

// small is the model of a hook that names none: the alias "small" of the
// settings, the provider's small one, or the session's.
func (h *Host) small(model string) string {
	if model != "" {
		return model
	}
	names := []string{"small"}
	if h.o.Model.Provider == choose.Anthropic {
		names = append(names, "haiku")
	}
	for _, name := range names {
		if _, err := h.resolve(name); err == nil {
			return name
		}
	}
	return ""
}

// Run runs the global hooks, then the agent's own (spec H-7).
func (k *hooks) Run(ctx context.Context, id session.AgentID, in hook.Input) hook.Outcome {
	in.SessionID, in.CWD = k.h.Engine.Session().ID, k.h.Engine.Dir()
	if k.h.log != nil {
		in.TranscriptPath = k.h.log.Path
	}
	return k.runner.Run(ctx, HooksFor(k.h.Engine, k.h.Engine.Session(), id, k.h.o.Bare), in)
}

// HooksFor are the hooks that hold for an agent of a session, group after group
// (spec H-7): the global ones, then those of skills and of its type. A bare run
// has none but the administrator's.
func HooksFor(e *knack.Engine, s *session.Session, id session.AgentID, bare bool) [][]hookexec.Entry {
	groups := [][]hookexec.Entry{GlobalHooks(e, bare)}
	if !bare {
		groups = append(groups, ownHooks(e, s, id))
	}
	return groups
}

// ownHooks are the hooks of skills that an agent of a session invoked, and of its
// type. They were held against policy when they were registered; settings may
// have changed.
func ownHooks(engine *knack.Engine, s *session.Session, id session.AgentID) (out []hookexec.Entry) {
	for _, h := range s.Hooks(id) {
		e := hookexec.Entry{Owner: h.Owner, Level: hookexec.Skill, Event: h.Event, Matcher: h.Matcher, Handler: h.Handler,
			Dirs: dirs(engine, h.Origin), Spend: func() bool { return s.Spend(id, h) }, Key: h.Serial}
		if h.Origin.Dir == "" && strings.HasPrefix(h.Owner, "agent ") {
			e.Level = hookexec.Agent
		}
		if ok, _ := Admit(engine, h.Origin); ok {
			out = append(out, e)
		}
	}
	return out
}

func dirs(e *knack.Engine, o skill.Origin) hookexec.Dirs {
	d := hookexec.Dirs{Skill: o.Dir}
	if o.Source == skill.Plugin {
		d.PluginRoot, d.PluginData = o.OwnerDir, e.Env().PluginDir(o.Owner)
	}
	return d
}

// Begin runs what is to run when the session begins (spec H-2).
func (h *Host) Begin(ctx context.Context) error {
	source := "startup"
	if len(h.Talk.History()) > 0 {
		source = "resume"
	}
	h.watch(ctx)
	return h.Talk.Begin(ctx, source)
}

// EndHooks lets finish run what is to run when a session ends, told why it does,
// and returns what hooks in the background still had to say.
func EndHooks(r *hookexec.Runner, finish func(ctx context.Context, why string)) []string {
	ctx, stop := context.WithTimeout(context.Background(), endGrace)
	defer stop()
	finish(ctx, "other")
	return r.Close(ctx)
}
