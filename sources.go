package knack

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
)

// Join adds sources that were not there when the engine was made, such as
// servers that have just answered, and reads them.
func (e *Engine) Join(ctx context.Context, sources ...catalog.Source) (*catalog.Snapshot, error) {
	return e.catalog.Add(ctx, sources...)
}

// Reread reads these sources again, and no others. Each is one of those that were
// given to [Engine.Join], as a pointer.
func (e *Engine) Reread(ctx context.Context, sources ...catalog.Source) (*catalog.Snapshot, error) {
	return e.catalog.Reload(ctx, sources...)
}

// MCPServers returns which MCP servers this workspace has (spec X-6), read anew
// at each call; flags are the values of --mcp-config.
func (e *Engine) MCPServers(flags []string) mcpconfig.Set {
	if e.opts.Bare {
		return mcpconfig.Set{}
	}
	s := e.Settings()
	verdicts, err := e.MCPApprovals().Verdicts(e.project)
	src := mcpconfig.Sources{
		Managed: e.place.Managed, Flags: flags, UserFile: e.userFile(), ProjectDir: e.project, WorkDir: e.opts.Dir,
		NoUser:    !wants(e.opts.SettingSources, settings.UserLevel),
		NoLocal:   !wants(e.opts.SettingSources, settings.LocalLevel),
		NoProject: !wants(e.opts.SettingSources, settings.ProjectLevel),
		Trusted:   e.Trusted(),
		Getenv: func(name string) string {
			if name == "CLAUDE_PROJECT_DIR" || name == "KNACK_PROJECT_DIR" {
				return e.project
			}
			return e.opts.Getenv(name)
		},
		Verdict: func(name, hash string) mcpconfig.Verdict {
			switch {
			case slices.Contains(s.DisabledMcpjsonServers, name):
				return mcpconfig.Refused
			case slices.Contains(s.EnabledMcpjsonServers, name):
				return mcpconfig.Allowed
			}
			return verdicts(name, hash)
		},
	}
	_, src.PluginOnly = s.PluginOnly("mcp")
	for _, p := range e.Plugins() {
		if p.Manifest == nil || len(p.Manifest.Servers) == 0 {
			continue
		}
		src.Plugins = append(src.Plugins, e.pluginServers(p))
	}
	set := mcpconfig.Load(src)
	if err != nil {
		set.Problems = append(set.Problems, skill.Problem{Code: "mcp-approvals", Severity: skill.Warning, Path: e.opts.StateDir,
			Message: err.Error(), Fix: "approve the servers again: `knack mcp approve NAME`"})
	}
	return set
}

// pluginServers is what one plugin brings, with the values of its options.
func (e *Engine) pluginServers(p Plugin) mcpconfig.PluginServers {
	// A file of values that cannot be read leaves every option unset.
	values, unset, err := e.PluginValues().Get(p.ID, p.Manifest.Options, true)
	data := e.Env().PluginDir(p.Name)
	out := mcpconfig.PluginServers{
		Plugin: p.Name, Path: p.Dir, Dir: p.Dir, Data: data, Servers: p.Manifest.Servers, Unset: unset,
		Vars: map[string]string{"CLAUDE_PLUGIN_ROOT": p.Dir, "KNACK_PLUGIN_ROOT": p.Dir, "CLAUDE_PLUGIN_DATA": data, "KNACK_PLUGIN_DATA": data},
		Env:  map[string]string{}, Options: map[string][]string{},
	}
	maps.Copy(out.Env, out.Vars)
	for _, pair := range plugin.Environ(values) {
		name, value, _ := strings.Cut(pair, "=")
		out.Env[name] = value
	}
	for _, o := range p.Manifest.Options {
		value, set := values[o.Key]
		switch {
		case !set:
			out.Options[o.Key] = nil
		case o.Multiple:
			out.Options[o.Key] = strings.Split(value, "\n")
		default:
			out.Options[o.Key] = []string{value}
		}
		if err != nil {
			out.Unset = append(out.Unset, o.Key)
		}
	}
	return out
}

// MCPApprovals returns where the answers about servers of repositories are kept.
func (e *Engine) MCPApprovals() mcpconfig.Store { return mcpconfig.Store{Dir: e.opts.StateDir} }

// MCPMemory is the directory that keeps which tools MCP servers offer, for
// [github.com/knack-skills/knack/mcpclient.Memory]; empty without a state
// directory.
func (e *Engine) MCPMemory() string { return e.stateDir("mcp-tools") }

// MCPLogins is the directory that keeps at which MCP servers the person is signed
// in, for [github.com/knack-skills/knack/mcpclient/oauth.Files]; empty without a
// state directory.
func (e *Engine) MCPLogins() string { return e.stateDir("mcp-logins") }

// userFile is ~/.claude.json, or the file that CLAUDE_CONFIG_DIR puts in its place.
func (e *Engine) userFile() string {
	if e.place.ConfigDir != "" {
		return filepath.Join(e.absolute(e.place.ConfigDir), ".claude.json")
	}
	if e.opts.Home == "" {
		return ""
	}
	return filepath.Join(e.opts.Home, ".claude.json")
}
