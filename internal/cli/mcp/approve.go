package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/text"
)

// newApprove is `knack mcp approve`: the person's word about servers that the
// repository brings (spec X-6).
func newApprove(f *workspace.Flags) *cobra.Command {
	var refuse bool
	cmd := &cobra.Command{
		Use:   "approve NAME...",
		Short: "Let MCP servers of the repository's .mcp.json start",
		Long: `Remember that these servers of the repository's .mcp.json may start, exactly
as they are written now: an entry that changes is asked about again. They
start only in a workspace that is trusted. With --refuse they are never
started, and nobody is asked.`,
		Example: `  knack mcp approve github
  knack mcp approve github --refuse`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return approve(cmd, f, args, !refuse) },
	}
	cmd.Flags().BoolVar(&refuse, "refuse", false, "never start them")
	return cmd
}

func approve(cmd *cobra.Command, f *workspace.Flags, names []string, allow bool) error {
	e, err := f.Open(cmd)
	if err != nil {
		return err
	}
	set := e.MCPServers(f.MCPConfig)
	for _, p := range set.Problems {
		f.ReportServer(cmd, p)
	}
	all := slices.Concat(set.Waiting, set.Servers)
	for _, name := range names {
		i := slices.IndexFunc(all, func(s mcpconfig.Server) bool { return s.Name == name })
		switch {
		case i < 0 && !e.Trusted():
			return output.Usagef("the workspace is not trusted, so none of its MCP servers can start: read its files, then `knack doctor --trust`")
		case i < 0:
			return output.Usagef("there is no MCP server %q that waits for approval: those of .mcp.json that do are %s", name, namesOf(set.Waiting))
		case all[i].Scope != mcpconfig.Project:
			return output.Usagef("the MCP server %q is named in %s, which is your own, and needs no approval", name, all[i].Path)
		}
		s := all[i]
		if err := e.MCPApprovals().Answer(e.ProjectDir(), s.Name, s.Hash, allow); err != nil {
			return err
		}
		word := "may start"
		if !allow {
			word = "will not start"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s: %s\n", text.Terminal(s.Name), word, text.Terminal(servers.Starts(s)))
	}
	return nil
}

func namesOf(list []mcpconfig.Server) string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}
