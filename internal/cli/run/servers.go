package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/ask"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/skill"
)

// servers starts the MCP servers of a workspace, those that only knows.
func (o *Options) servers(ctx context.Context, e *knack.Engine, out *writer, only func(string) bool) (*servers.Set, error) {
	so := servers.Options{Engine: e, Flags: o.Flags.MCPConfig, Version: o.Flags.Version, Only: only, Notice: out.notice,
		Report: func(p skill.Problem) {
			if (p.Severity != skill.Info || o.Flags.Verbose) && !o.Flags.Waits(p) {
				out.notice(p.String())
			}
		}}
	if p := o.person; p != nil && !p.silent {
		so.Ask = p.allowServer
	}
	return servers.Open(ctx, so)
}

// offlineServers starts what a message or a hook names: the offline model calls no
// tools. Of messages that are still to come nobody knows what they name.
func (o *Options) offlineServers(ctx context.Context, e *knack.Engine, message string, out *writer) (*servers.Set, error) {
	if o.streamed() {
		return o.servers(ctx, e, out, nil)
	}
	return o.servers(ctx, e, out, servers.Mentions(message, hookServers(e, o.Bare)...))
}

// allowServer asks about a server that the repository brings.
func (p *person) allowServer(ctx context.Context, s mcpconfig.Server) (yes, known bool, err error) {
	what := "It starts a program on this machine, with your rights:"
	if s.Transport != mcpconfig.Stdio {
		what = "It connects to:"
	}
	text := fmt.Sprintf("\n%s of this repository names the MCP server %q, which is new or has changed.\n%s\n%s%s",
		output.Tilde(s.Path), s.Name, what, ask.Lines("  ", maxListed, servers.Starts(s)), given(s))
	return p.terminal.Confirm(ctx, text, "Let this server start?")
}

// given shows what an entry gives to its server besides: the name of a library to
// load, or a key of the person for somebody else. Variables stay as they are
// written, since their values may be secrets.
func given(s mcpconfig.Server) string {
	var w struct{ Env, Headers map[string]string }
	if json.Unmarshal(s.Entry, &w) != nil {
		return "" // such an entry is not started
	}
	var b strings.Builder
	for _, part := range []struct {
		title, between string
		values         map[string]string
	}{{"with these variables:", "=", w.Env}, {"and sends:", ": ", w.Headers}} {
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(part.values)) {
			lines = append(lines, name+part.between+part.values[name])
		}
		if len(lines) > 0 {
			b.WriteString(part.title + "\n" + ask.Lines("  ", maxListed, lines...))
		}
	}
	return b.String()
}
