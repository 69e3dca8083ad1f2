// Package plugin is `knack plugin` and `knack add` (spec ): installing,
// switching, updating and removing plugins, their marketplaces, and single skills.
package plugin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/plugin/fetch"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/text"
)

// options are the flags of one command.
type options struct {
	flags  *workspace.Flags
	scope  string
	yes    bool
	values []string // KEY=VALUE
	ref    string
	sha256 string
	path   string
	keep   bool
	strict bool
	all    bool
}

// New returns the command plugin.
func New(f *workspace.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Install, switch, update and remove plugins",
		Long: `Plugins bring skills, commands, agents, hooks and MCP servers. Installing one
shows what it brings and asks; it runs nothing. Files are kept in the state
directory, one copy for each version, and a settings file says which are on.`,
		Example: `  knack plugin install ./my-plugin
  knack plugin marketplace add owner/repository
  knack plugin install formatter@team --scope project
  knack plugin list`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newInstall(f), newList(f), newSwitch(f, true), newSwitch(f, false), newUpdate(f), newRemove(f),
		newConfig(f), newValidate(f), newMarket(f))
	return cmd
}

// scopeFlag adds --scope.
func (o *options) scopeFlag(cmd *cobra.Command, fallback string) {
	cmd.Flags().StringVar(&o.scope, "scope", fallback, "`SCOPE` user, project or local")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{"user", "project", "local"}, cobra.ShellCompDirectiveNoFileComp))
}

// sourceFlags add what says more of where files come from.
func (o *options) sourceFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.ref, "ref", "", "branch, tag or commit of a repository (`REF`)")
	cmd.Flags().StringVar(&o.path, "path", "", "directory in the repository (`PATH`)")
	cmd.Flags().StringVar(&o.sha256, "sha256", "", "what the archive must have (`HEX`)")
}

// A place is a workspace with what commands do in it.
type place struct {
	*knack.Engine
	cmd *cobra.Command
	o   *options
}

func (o *options) open(cmd *cobra.Command) (place, error) {
	e, err := o.flags.Open(cmd)
	return place{e, cmd, o}, err
}

// find is open, with a plugin that is installed.
func (o *options) find(cmd *cobra.Command, id string) (place, plugin.Record, error) {
	p, err := o.open(cmd)
	if err != nil {
		return p, plugin.Record{}, err
	}
	r, err := p.PluginStore().Find(id)
	return p, r, err
}

// where is the installation that --scope means.
func (p place) where(scope string) (plugin.Where, error) {
	s := plugin.Scope(scope)
	if !slices.Contains(plugin.Scopes(), s) {
		return plugin.Where{}, output.Usagef("--scope: %q is none of user, project, local", scope)
	}
	if s == plugin.User {
		return plugin.Where{Scope: s}, nil
	}
	return plugin.Where{Scope: s, Dir: p.ProjectDir()}, nil
}

// writer is the settings file of an installation.
func (p place) writer(w plugin.Where) (settings.Writer, error) {
	lock := filepath.Join(filepath.Dir(p.PluginStore().Dir), "settings.lock")
	switch w.Scope {
	case plugin.Project:
		return settings.Writer{Path: filepath.Join(w.Dir, ".claude", "settings.json"), Lock: lock}, nil
	case plugin.Local:
		return settings.Writer{Path: filepath.Join(w.Dir, ".claude", "settings.local.json"), Lock: lock}, nil
	}
	if p.UserDir() == "" {
		return settings.Writer{}, errors.New("there is no home directory to write to; set HOME or CLAUDE_CONFIG_DIR")
	}
	return settings.Writer{Path: filepath.Join(p.UserDir(), "settings.json"), Lock: lock}, nil
}

// installer gets files with progress on standard error.
func (p place) installer(what string) (plugin.Installer, func()) {
	policy, _ := plugin.PolicyOf(p.Settings()) // its problems are told with those of the settings
	stop := output.Waiting(p.cmd.ErrOrStderr(), "getting "+text.Terminal(what))
	return plugin.Installer{Store: p.PluginStore(), Fetch: p.fetcher(), Policy: policy}, stop
}

func (p place) fetcher() fetch.Fetcher { return fetch.Fetcher{Home: p.Place().Home} }

// origin reads what was typed for something that has no name here yet.
func (o *options) origin(arg string) (plugin.Origin, bool, error) {
	from, ok := plugin.Guess(arg, kindOf)
	if !ok {
		return from, false, nil
	}
	if from.Path != "" {
		abs, err := filepath.Abs(workspace.ExpandHome(from.Path))
		if err != nil {
			return from, true, err
		}
		from.Path = abs
	}
	if o.ref != "" || o.path != "" {
		if from.Kind != plugin.Git && from.Kind != plugin.GitHub {
			return from, true, output.Usagef("--ref and --path are for repositories, and this is %s", from.Kind)
		}
		from.Path = o.path
		if from.Ref = o.ref; len(o.ref) == 40 {
			from.Ref, from.SHA = "", o.ref
		}
	}
	if o.sha256 != "" {
		if from.Kind != plugin.Archive {
			return from, true, output.Usagef("--sha256 is for archives, and this is %s", from.Kind)
		}
		from.SHA256 = o.sha256
	}
	if err := from.Check(); err != nil {
		return from, true, output.Usagef("%v", err)
	}
	return from, true, nil
}

// kindOf tells files from directories.
func kindOf(path string) string {
	fi, err := os.Stat(workspace.ExpandHome(path))
	switch {
	case err != nil:
		return ""
	case fi.IsDir():
		return "dir"
	}
	return "file"
}

// denied gives what policy refuses its exit code.
func denied(err error) error {
	if policy, ok := errors.AsType[*plugin.PolicyError](err); ok {
		return &output.DeniedError{Text: policy.Error()}
	}
	return err
}

// say writes a line for the person.
func (p place) say(format string, args ...any) {
	fmt.Fprintln(p.cmd.ErrOrStderr(), output.Tilde(text.Terminal(fmt.Sprintf(format, args...))))
}

// installedNames completes the ids of installed plugins.
func (o *options) installedNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	e, err := o.flags.Quiet(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, err := e.PluginStore().List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, r := range all {
		if strings.HasPrefix(r.ID, typed) && !slices.Contains(args, r.ID) {
			out = append(out, cobra.CompletionWithDesc(r.ID, r.Version))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
