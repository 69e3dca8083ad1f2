// Package mcp is `knack mcp` (spec X-8): the skills of a workspace for other
// agents, over the Model Context Protocol.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/version"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/mcpserver"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// tokenVariable holds the token of the HTTP server.
const tokenVariable = "KNACK_MCP_TOKEN"

type options struct {
	flags     *workspace.Flags
	http      string
	tokenFile string
}

// New returns the command. Other files of this package add commands below it.
func New(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give this workspace's skills to other agents, over MCP",
		Long: `Serve the skills of this workspace to another agent over the Model Context
Protocol: the tools Skill, SkillSearch and SkillRead, a prompt for each skill
that a person may start, skill:// resources and the Skills extension.

Without --http the server speaks on standard input and output, for an agent that
starts it, and ends when its input does. With --http it answers at
http://ADDR/mcp; an address without a host is one of this machine alone. Any
other address needs a token of at least 16 characters, which clients send as
"Authorization: Bearer TOKEN": in a file named by --token-file, or in the
variable KNACK_MCP_TOKEN.

The rules of the workspace hold for clients as for any model. Nobody can be
asked, so what the rules leave open is refused, with the rule that would allow
it. Commands in skills run on this machine, only where rules allow them, and in
a workspace of others only with trust (--trust, or ` + "`knack doctor --trust`" + `).

Hooks stand before each skill that a client is given: PreToolUse with the tool
Skill (for prompts, too), UserPromptExpansion for prompts, PermissionRequest and
SkillInvoked; and before each of its files, PreToolUse with the tool SkillRead.
One that refuses gives the client an error with its reason; what hooks say to
the person goes to standard error.`,
		Example: `  knack mcp -C ~/project
  knack mcp --http 127.0.0.1:8808
  knack mcp --http 0.0.0.0:8808 --token-file ~/.knack-token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	cmd.Flags().StringVar(&o.http, "http", "", "serve over HTTP on `ADDR`, such as 127.0.0.1:8808")
	cmd.AddCommand(newApprove(f), newLogin(f), newLogout(f))
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "read the token of HTTP clients from `FILE`")
	return cmd
}

func (o *options) run(cmd *cobra.Command) error {
	token, err := o.token()
	if err != nil {
		return err
	}
	if o.http == "" && cmd.Flags().Changed("http") {
		return output.Usagef("--http needs an address, such as 127.0.0.1:8808")
	}
	if o.http == "" && o.tokenFile != "" {
		return output.Usagef("--token-file is for --http; on standard input there is nobody to ask for a token")
	}
	l, err := o.listen(cmd.Context(), token)
	if err != nil {
		return err
	}
	engine, err := o.flags.Open(cmd)
	if err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	log := o.log(cmd)
	hooks := newHooks(engine, log)
	server := mcpserver.New(engine, mcpserver.Options{Version: version.Version, Log: log, Hooks: hooks})
	stop, err := watched(cmd.Context(), engine, server, log)
	if err == nil {
		err = o.serve(cmd, server, l, token)
		stop()
	}
	hooks.close()
	if errors.Is(err, context.Canceled) {
		err = nil // being stopped is how a server ends
	}
	return errors.Join(err, engine.Close())
}

// watched keeps the skills up to date while clients use them; they are told that
// the lists have changed (spec X-8), and files that they wait for.
func watched(ctx context.Context, e *knack.Engine, s *mcpserver.Server, log *slog.Logger) (stop func(), err error) {
	o := knack.WatchOptions{Native: fsnotify.Open, Notice: func(text string) { log.Warn(text) }, Files: s.Files, File: s.FileChanged}
	if e.Getenv("KNACK_WATCH") == "poll" {
		o.Native = nil
	}
	return e.Watch(ctx, o)
}

func (o *options) serve(cmd *cobra.Command, s *mcpserver.Server, l net.Listener, token string) error {
	if l == nil {
		return s.ServeStdio(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "serving MCP at http://%s%s\n", l.Addr(), mcpserver.Path)
	return s.ServeHTTP(cmd.Context(), l, mcpserver.HTTPOptions{Token: token})
}

// log writes to standard error: warnings, and with -v everything.
func (o *options) log(cmd *cobra.Command) *slog.Logger {
	level := slog.LevelWarn
	if o.flags.Verbose {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
}

// listen opens the address before the workspace is loaded: what is wrong with it
// is said at once. It is nil without --http.
func (o *options) listen(ctx context.Context, token string) (net.Listener, error) {
	if o.http == "" {
		return nil, nil
	}
	addr := o.http
	if !strings.Contains(addr, ":") {
		addr = ":" + addr // a port alone
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, output.Usagef("--http: %v", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	if err := (mcpserver.HTTPOptions{Token: token}).Allow(l.Addr()); err != nil {
		return nil, errors.Join(output.Usagef("%v (--token-file FILE, or %s)", err, tokenVariable), l.Close())
	}
	return l, nil
}

// token reads the token. Commands that skills run must not find it in their
// environment, so it is taken out of ours.
func (o *options) token() (string, error) {
	token := os.Getenv(tokenVariable)
	if err := os.Unsetenv(tokenVariable); err != nil {
		return "", err
	}
	if o.tokenFile == "" {
		return strings.TrimSpace(token), nil
	}
	data, err := os.ReadFile(o.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	if token = strings.TrimSpace(string(data)); token == "" {
		return "", output.Usagef("--token-file: %s is empty", o.tokenFile)
	}
	return token, nil
}
