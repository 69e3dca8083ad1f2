package knack

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/agentdef"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
	source "github.com/knack-skills/knack/source/plugin"
)

// A Plugin is one that is on, with what it brings besides skills.
type Plugin struct {
	plugin.Active
	// Manifest is read-only; nil when the plugin cannot be loaded.
	Manifest *source.Manifest
	Problems []skill.Problem // of the manifest and what it names
}

// PluginStore returns where installed plugins are.
func (e *Engine) PluginStore() plugin.Store { return plugin.Store{Dir: e.stateDir("plugins")} }

// PluginValues returns where the values of plugins' options are.
func (e *Engine) PluginValues() plugin.Values {
	return plugin.Values{Store: e.PluginStore(), Keyring: e.opts.Keyring}
}

// findPlugins notes which plugins are on (spec C-9, X-3): those of this run, then
// what is installed and the settings switch on. None is read here.
func (e *Engine) findPlugins() []skill.Problem {
	if e.opts.Bare {
		return nil
	}
	installed, problems := e.PluginStore().Active(e.conf().settings)
	e.active = append(e.active, e.givenPlugins(&problems)...)
	for _, a := range installed {
		if i := slices.IndexFunc(e.active, func(b plugin.Active) bool { return b.Name == a.Name }); i >= 0 {
			problems = append(problems, skill.Problem{Code: "plugin-duplicate", Severity: skill.Info, Path: a.Dir,
				Message: fmt.Sprintf("the plugin %s is not loaded: the one in %s, which is given for this run, has the same name", a.ID, e.active[i].Dir)})
			continue
		}
		e.active = append(e.active, a)
	}
	return problems
}

// givenPlugins are those of directories that are named for this run. Where plugins
// may come from is the administrator's word for them as well (spec S-11).
func (e *Engine) givenPlugins(problems *[]skill.Problem) (out []plugin.Active) {
	if len(e.opts.PluginDirs) == 0 {
		return nil
	}
	policy, unread := plugin.PolicyOf(e.conf().settings)
	*problems = append(*problems, unread...)
	for _, d := range e.opts.PluginDirs {
		dir := e.absolute(d)
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir // it is not there, which loading says
		}
		if err := policy.Allows("", plugin.Origin{Kind: plugin.Directory, Path: real}); err != nil {
			*problems = append(*problems, skill.Problem{Code: "plugin-blocked", Severity: skill.Warning, Path: dir,
				Message: "the plugin is not loaded: " + err.Error(), Fix: "ask your administrator"})
			continue
		}
		out = append(out, plugin.Inline(dir))
	}
	return out
}

// Plugins returns the plugins that are on. Their files are read at the first call
// and again after [Engine.Refresh]; callers change nothing.
func (e *Engine) Plugins() []Plugin {
	e.pluginMu.Lock()
	defer e.pluginMu.Unlock()
	if e.plugins == nil {
		e.plugins = []Plugin{}
		for _, a := range e.active {
			m, problems := a.Read()
			e.plugins = append(e.plugins, Plugin{Active: a, Manifest: m, Problems: problems})
		}
	}
	return e.plugins
}

func (e *Engine) forgetPlugins() {
	e.pluginMu.Lock()
	defer e.pluginMu.Unlock()
	e.plugins, e.hooks = nil, nil
	e.forgot++
}

// AgentRoots returns where definitions of agents are looked for, existing or not.
// Under strictPluginOnlyCustomization those of the person and of the project are
// not among them (spec S-11).
func (e *Engine) AgentRoots() []agentdef.Root {
	p := e.place
	place := agentdef.Place{Managed: p.Managed, Project: p.ProjectDirs(), Additional: p.AddDirs, UserDir: e.UserDir(), Repository: e.ProjectDir()}
	if _, strict := e.conf().settings.PluginOnly("agents"); strict {
		place.Project, place.Additional, place.UserDir = nil, nil, ""
	}
	roots := place.Roots()
	for _, p := range e.Plugins() {
		if p.Manifest != nil {
			roots = append(roots, plugin.AgentRoots(p.Manifest)...)
		}
	}
	return roots
}

// skillRoots are the directories of skills, those of the administrator alone under
// strictPluginOnlyCustomization (spec S-11). It is the loader that knows where a
// skill is from; what a skill calls itself counts for nothing.
func (e *Engine) skillRoots(all []dir.Root) []dir.Root {
	if _, strict := e.conf().settings.PluginOnly("skills"); !strict {
		return all
	}
	return slices.DeleteFunc(all, func(r dir.Root) bool { return r.Source != skill.Managed })
}

// leftOut tells once what strictPluginOnlyCustomization keeps from loading.
func (e *Engine) leftOut() (out []skill.Problem) {
	var kinds []string
	file := ""
	for _, kind := range []string{"skills", "agents", "hooks", "mcp"} {
		if f, strict := e.conf().settings.PluginOnly(kind); strict {
			kinds, file = append(kinds, kind), f
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return []skill.Problem{{Code: "plugin-only", Severity: skill.Info, Path: file,
		Message: "of you and of the workspace these are not loaded, because the administrator wants them from plugins alone: " + strings.Join(kinds, ", "),
		Fix:     "put them into a plugin that is allowed, or ask your administrator"}}
}

// PluginOptions returns the values of a plugin's options that are no secrets, as
// texts, for ${user_config.KEY} in its skills.
func (e *Engine) PluginOptions(name string) map[string]string {
	for _, p := range e.Plugins() {
		if p.Name == name && p.Manifest != nil {
			values, _, _ := e.PluginValues().Get(p.ID, p.Manifest.Options, false) // unset ones stay as they are written
			return values
		}
	}
	return nil
}

// A PluginHook is the hooks of one plugin, with what the programs of the plugin
// find in their environment.
type PluginHook struct {
	Plugin Plugin
	Config hook.Config
	Env    []string
	Data   string // the plugin's directory for its own files
}

// PluginHooks returns the hooks of the plugins that are on, by plugin. Values of
// options stand in the words of hooks that no shell reads. They are read at the
// first call and again after [Engine.Refresh], since hooks are asked for at every
// event and a keyring may ask the person; callers change nothing.
func (e *Engine) PluginHooks() []PluginHook {
	e.pluginMu.Lock()
	known, forgot := e.hooks, e.forgot
	e.pluginMu.Unlock()
	if known != nil {
		return known
	}
	known = e.readPluginHooks()
	e.pluginMu.Lock()
	defer e.pluginMu.Unlock()
	if e.forgot == forgot { // else it is old by now
		e.hooks = known
	}
	return known
}

func (e *Engine) readPluginHooks() []PluginHook {
	out := []PluginHook{}
	for _, p := range e.Plugins() {
		if p.Manifest == nil || len(p.Manifest.Hooks) == 0 {
			continue
		}
		values, _, _ := e.PluginValues().Get(p.ID, p.Manifest.Options, true) // unset ones are not in the environment
		h := PluginHook{Plugin: p, Env: plugin.Environ(values), Data: e.Env().PluginDir(p.Name)}
		for _, g := range p.Manifest.Hooks {
			handlers := slices.Clone(g.Handlers)
			for i := range handlers {
				if handlers[i].Args == nil {
					continue
				}
				handlers[i].Command = plugin.Expand(handlers[i].Command, values)
				handlers[i].Args = slices.Clone(handlers[i].Args)
				for j, a := range handlers[i].Args {
					handlers[i].Args[j] = plugin.Expand(a, values)
				}
			}
			g.Handlers = handlers
			h.Config = append(h.Config, g)
		}
		out = append(out, h)
	}
	return out
}

// Agents reads every definition of an agent that holds in this workspace, with
// those given for this run.
func (e *Engine) Agents(ctx context.Context, given []*agentdef.Definition) (*agentdef.Set, error) {
	return agentdef.Load(ctx, agentdef.Options{Roots: e.AgentRoots(), Given: given, Trusted: e.trusted})
}
