package mcp

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/mcpclient/oauth"
	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/text"
)

// secretVariable holds the secret of a client that was registered by hand.
const secretVariable = "MCP_CLIENT_SECRET"

type loginOptions struct {
	flags     *workspace.Flags
	noBrowser bool
	scopes    []string
	patience  time.Duration
}

// newLogin is `knack mcp login`: the only place where a browser is opened.
func newLogin(f *workspace.Flags) *cobra.Command {
	o := &loginOptions{flags: f}
	cmd := &cobra.Command{
		Use:   "login NAME",
		Short: "Sign in at an MCP server behind HTTP",
		Long: `Sign in at an MCP server that asks for authorization (OAuth): a browser opens
the page of whoever issues tokens for the server, you say yes there, and the
token is kept in the keyring of the operating system or, where none answers or
KNACK_KEYRING is off, in a file that only you can read. It goes to that server
and to nobody else, and is renewed without asking. Sessions never open a
browser: a server at which nobody is signed in is not available there.

Most servers register this program by themselves. For one that does not, get a
client id from its operator and write it into the entry of the server:
"oauth": {"clientId": "…", "callbackPort": 8080}. The redirect address to
register is http://localhost:8080/callback then. A client's secret is taken from
"clientSecret", which may be "${NAME}", or from the variable ` + secretVariable + `.

The browser is the program that the variable BROWSER names, or that of the
system. With --no-browser the address of the page is printed, and nothing is
opened; where the browser runs on another machine, paste the address that it
ends at, which begins with http://127.0.0.1, and press Enter.`,
		Example: `  knack mcp login github
  knack mcp login github --no-browser
  knack mcp login github --scope "repo read:org"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.login(cmd, args[0]) },
	}
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "print the address of the page, and open nothing")
	cmd.Flags().StringSliceVar(&o.scopes, "scope", nil, "ask for these `SCOPES` as well")
	cmd.Flags().DurationVar(&o.patience, "timeout", 5*time.Minute, "wait this `LONG` for the answer")
	return cmd
}

func (o *loginOptions) login(cmd *cobra.Command, name string) error {
	if o.patience <= 0 {
		return output.Usagef("--timeout: %s is no time to wait", o.patience)
	}
	e, err := o.flags.Open(cmd)
	if err != nil {
		return err
	}
	s, err := remote(cmd, e, o.flags, name, false)
	if err != nil {
		return err
	}
	if s.OAuth.ClientID != "" && s.OAuth.ClientSecret == "" {
		s.OAuth.ClientSecret = os.Getenv(secretVariable)
	}
	person := &visitor{name: s.Name, say: cmd.ErrOrStderr(), getenv: os.Getenv}
	if o.noBrowser {
		person.paste = cmd.InOrStdin()
	}
	c := servers.SignIn(e, person, o.patience)
	var scopes []string
	for _, list := range o.scopes {
		scopes = append(scopes, strings.Fields(list)...)
	}
	err = c.Login(cmd.Context(), s, scopes...)
	if err != nil && !errors.Is(err, oauth.ErrInFile) {
		return fmt.Errorf("%s: %w", text.Terminal(s.Name), err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "signed in at %s: %s\n", text.Terminal(s.Name), text.Terminal(s.URL))
	if err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), err.Error())
	}
	return nil
}

// newLogout is `knack mcp logout`.
func newLogout(f *workspace.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the token of an MCP server",
		Long: `Forget what was given to you when you signed in at an MCP server, and tell
whoever issued it that it is not used any more. Instead of the name of a server
that is not configured any more, give its address.`,
		Example: `  knack mcp logout github
  knack mcp logout https://mcp.example.com/mcp`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return logout(cmd, f, args[0]) },
	}
}

func logout(cmd *cobra.Command, f *workspace.Flags, name string) error {
	e, err := f.Open(cmd)
	if err != nil {
		return err
	}
	url := name
	if !strings.HasPrefix(name, "https://") && !strings.HasPrefix(name, "http://") {
		s, err := remote(cmd, e, f, name, true)
		if err != nil {
			return err
		}
		url = s.URL
	}
	was, err := servers.SignIn(e, nil, 0).Logout(cmd.Context(), url)
	switch {
	case err != nil && !was:
		return err
	case !was:
		fmt.Fprintf(cmd.OutOrStdout(), "you were not signed in at %s\n", text.Terminal(name))
		return nil
	case err != nil:
		fmt.Fprintf(cmd.ErrOrStderr(), "the token is forgotten here, and its issuer does not know that: %v\n", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "signed out at %s\n", text.Terminal(name))
	return nil
}

// remote finds a server behind HTTP. One of the repository is none before the
// person has approved it, unless waiting ones count.
func remote(cmd *cobra.Command, e *knack.Engine, f *workspace.Flags, name string, waits bool) (mcpconfig.Server, error) {
	set := e.MCPServers(f.MCPConfig)
	for _, p := range set.Problems {
		f.ReportServer(cmd, p)
	}
	named := func(s mcpconfig.Server) bool { return s.Name == name }
	i := slices.IndexFunc(set.Servers, named)
	if i < 0 {
		w := slices.IndexFunc(set.Waiting, named)
		switch {
		case w >= 0 && waits:
			return set.Waiting[w], nil
		case w >= 0:
			return mcpconfig.Server{}, output.Usagef("the MCP server %q is named by the repository, and nobody has approved it: read %s, then `knack mcp approve %s`", name, set.Waiting[w].Path, name)
		}
		return mcpconfig.Server{}, output.Usagef("there is no MCP server %q; there are %s", name, namesOf(set.Servers))
	}
	s := set.Servers[i]
	if s.Transport == mcpconfig.Stdio {
		return s, output.Usagef("the MCP server %q is a program on this machine; nobody signs in there", name)
	}
	return s, nil
}
