package run

import (
	"context"
	"fmt"

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

// offlineServers starts what a message names: the offline model calls no tools.
// Of messages that are still to come nobody knows what they name.
func (o *Options) offlineServers(ctx context.Context, e *knack.Engine, message string, out *writer) (*servers.Set, error) {
	if o.streamed() {
		return o.servers(ctx, e, out, nil)
	}
	return o.servers(ctx, e, out, servers.Mentions(message))
}

// allowServer asks about a server that the repository brings.
func (p *person) allowServer(ctx context.Context, s mcpconfig.Server) (yes, known bool, err error) {
	what := "It starts a program on this machine, with your rights:"
	if s.Transport != mcpconfig.Stdio {
		what = "It connects to:"
	}
	text := fmt.Sprintf("\n%s of this repository names the MCP server %q, which is new or has changed.\n%s\n%s",
		output.Tilde(s.Path), s.Name, what, ask.Lines("  ", maxListed, servers.Starts(s)))
	return p.terminal.Confirm(ctx, text, "Let this server start?")
}
