package workspace

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// Connect starts the MCP servers of the workspace for a command that shows what
// they offer, and waits a moment for them. [Flags.Close] ends them.
func (f *Flags) Connect(cmd *cobra.Command, e *knack.Engine) (*servers.Set, error) {
	s, err := f.connect(cmd, e, nil)
	if err == nil {
		s.WaitForSkills(cmd.Context())
	}
	return s, err
}

// ConnectFor starts the servers that a name means, as "server:prompt", and waits
// for them. Any other name starts nothing.
func (f *Flags) ConnectFor(cmd *cobra.Command, e *knack.Engine, name string) error {
	name = "/" + strings.TrimPrefix(strings.TrimSpace(name), "/")
	if !strings.ContainsRune(name, ':') && !strings.HasPrefix(name, "/mcp__") {
		return nil
	}
	s, err := f.connect(cmd, e, servers.Mentions(name))
	if err == nil {
		s.WaitFor(cmd.Context(), name)
	}
	return err
}

func (f *Flags) connect(cmd *cobra.Command, e *knack.Engine, only func(string) bool) (*servers.Set, error) {
	s, err := servers.Open(cmd.Context(), servers.Options{
		Engine: e, Flags: f.MCPConfig, Version: f.Version, Only: only,
		Notice: func(n string) { fmt.Fprintln(cmd.ErrOrStderr(), "notice: "+text.Terminal(n)) },
		Report: func(p skill.Problem) { f.ReportServer(cmd, p) },
	})
	if s != nil {
		f.closers = append(f.closers, s.Close)
	}
	return s, err
}

// ReportServer tells what is wrong with the configuration of MCP servers. Hints
// are for -v.
func (f *Flags) ReportServer(cmd *cobra.Command, p skill.Problem) {
	if p.Severity == skill.Info && !f.Verbose || f.Waits(p) {
		return
	}
	fmt.Fprintln(cmd.ErrOrStderr(), output.Problem(p))
}
