package plugin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/text"
)

func newMarket(f *workspace.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "marketplace",
		Short: "Add, list, update and remove marketplaces of plugins",
		Long: `A marketplace is a list of plugins: a directory, a repository or a URL with a
` + plugin.MarketFile + `. Adding one installs nothing.`,
		Example: `  knack plugin marketplace add owner/repository
  knack plugin marketplace list`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	add := &options{flags: f}
	c := &cobra.Command{
		Use: "add PATH|OWNER/NAME|URL", Short: "Add a marketplace, or read it again",
		Example: "  knack plugin marketplace add owner/repository\n  knack plugin marketplace add ./plugins\n  knack plugin marketplace add https://example.org/marketplace.json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return add.addMarket(cmd, args[0]) },
	}
	add.sourceFlags(c)
	list := &options{flags: f}
	update := &options{flags: f}
	remove := &options{flags: f}
	cmd.AddCommand(c,
		&cobra.Command{Use: "list", Short: "List the marketplaces that are known", Example: "  knack plugin marketplace list --json", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return list.listMarkets(cmd) }},
		&cobra.Command{Use: "update [NAME]...", Short: "Read marketplaces again, all without a name", Example: "  knack plugin marketplace update",
			Args: cobra.ArbitraryArgs, ValidArgsFunction: update.marketNames,
			RunE: func(cmd *cobra.Command, args []string) error { return update.updateMarkets(cmd, args) }},
		&cobra.Command{Use: "remove NAME", Short: "Forget a marketplace; its plugins stay installed", Example: "  knack plugin marketplace remove team",
			Aliases: []string{"rm"}, Args: cobra.ExactArgs(1), ValidArgsFunction: remove.marketNames,
			RunE: func(cmd *cobra.Command, args []string) error { return remove.removeMarket(cmd, args[0]) }})
	return cmd
}

// A market is what --json prints of one marketplace.
type market struct {
	Name        string `json:"name"`
	Owner       string `json:"owner"`
	Description string `json:"description"`
	From        string `json:"from"`
	Path        string `json:"path"`
	Commit      string `json:"commit"`
	Plugins     int    `json:"plugins"`
	Why         string `json:"why"` // why it cannot be used
}

func (p place) marketRow(k plugin.Known) market {
	out := market{Name: k.Name, From: k.Origin.String(), Path: p.PluginStore().MarketPath(k), Commit: k.Commit}
	policy, _ := plugin.PolicyOf(p.Settings()) // its problems are told with those of the settings
	m, problems := plugin.ReadMarket(out.Path)
	if m == nil {
		out.Why = problems[0].Message
		return out
	}
	if err := policy.Allows(k.Name, k.Origin); err != nil {
		out.Why = err.Error()
	}
	out.Owner, out.Description, out.Plugins = m.Owner, m.Description, len(m.Plugins)
	return out
}

func (o *options) addMarket(cmd *cobra.Command, arg string) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	from, ok, err := o.origin(arg)
	if err != nil {
		return err
	}
	if !ok {
		return output.Usagef("%q is no directory, OWNER/NAME or URL", arg)
	}
	k, err := p.getMarket(from, "")
	if err != nil {
		return denied(err)
	}
	row := p.marketRow(k)
	if o.flags.JSON {
		return output.JSON(cmd.OutOrStdout(), row)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "added %s with %d plugins\n", show(k.Name), row.Plugins)
	p.say("See them with `knack plugin list --available`, install one with `knack plugin install NAME@%s`.", k.Name)
	return nil
}

// getMarket reads a marketplace where it is and makes it known. name is what it
// has to be called; empty takes any.
func (p place) getMarket(from plugin.Origin, name string) (plugin.Known, error) {
	k := plugin.Known{Origin: from, Path: from.Path}
	policy, _ := plugin.PolicyOf(p.Settings()) // its problems are told with those of the settings
	staged, hash := "", ""
	if from.Kind != plugin.Directory && from.Kind != plugin.File {
		top, err := p.PluginStore().Stage()
		if err != nil {
			return k, err
		}
		defer os.RemoveAll(top)
		into := filepath.Join(top, "files")
		if err := os.Mkdir(into, 0o700); err != nil {
			return k, err
		}
		stop := output.Waiting(p.cmd.ErrOrStderr(), "getting "+text.Terminal(from.String()))
		got, err := p.fetcher().Fetch(p.cmd.Context(), from, into)
		stop()
		if err != nil {
			return k, err
		}
		staged, hash, k.Commit, k.Path = got.Dir, got.Summary.Hash, got.Commit, got.Dir
	}
	m, problems := plugin.ReadMarket(k.Path)
	if m == nil {
		return k, errors.New(problems[0].Message)
	}
	for _, problem := range problems {
		fmt.Fprintln(p.cmd.ErrOrStderr(), output.Problem(problem))
	}
	if name != "" && m.Name != name {
		return k, fmt.Errorf("the marketplace %s calls itself %s now; add that one", name, m.Name)
	}
	k.Name = m.Name
	if err := policy.Allows(k.Name, from); err != nil {
		return k, err
	}
	return p.PluginStore().KeepMarket(staged, k, hash)
}

// refresh reads a marketplace that is known again.
func (p place) refresh(name string) error {
	k, err := p.PluginStore().Market(name)
	if err != nil {
		return err
	}
	_, err = p.getMarket(k.Origin, name)
	if err != nil {
		return fmt.Errorf("marketplace %s: %w", name, denied(err))
	}
	return nil
}

func (o *options) listMarkets(cmd *cobra.Command) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	known, err := p.PluginStore().Markets()
	if err != nil {
		return err
	}
	rows := []market{}
	var cells [][]string
	for _, k := range known {
		r := p.marketRow(k)
		rows = append(rows, r)
		what := r.From
		if r.Why != "" {
			what = r.Why
		}
		cells = append(cells, []string{text.Terminal(r.Name), fmt.Sprint(r.Plugins), text.Terminal(output.Tilde(what))})
	}
	w := cmd.OutOrStdout()
	if o.flags.JSON {
		return output.JSON(w, rows)
	}
	if len(cells) == 0 {
		_, err := fmt.Fprintln(w, "No marketplace is known.")
		return err
	}
	return o.flags.Style(w).Table(w, []string{"MARKETPLACE", "PLUGINS", "FROM"}, cells)
}

func (o *options) updateMarkets(cmd *cobra.Command, args []string) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		known, err := p.PluginStore().Markets()
		if err != nil {
			return err
		}
		for _, k := range known {
			args = append(args, k.Name)
		}
	}
	rows := []market{}
	var failed []error
	for _, name := range args {
		if err := p.refresh(name); err != nil {
			failed = append(failed, err)
			continue
		}
		k, err := p.PluginStore().Market(name)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		r := p.marketRow(k)
		rows = append(rows, r)
		if !o.flags.JSON {
			fmt.Fprintf(cmd.OutOrStdout(), "updated %s: %d plugins\n", show(name), r.Plugins)
		}
	}
	if o.flags.JSON {
		failed = append(failed, output.JSON(cmd.OutOrStdout(), rows))
	}
	return errors.Join(failed...)
}

func (o *options) removeMarket(cmd *cobra.Command, name string) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	k, err := p.PluginStore().Market(name)
	if err != nil {
		return err
	}
	row := p.marketRow(k)
	if err := p.PluginStore().ForgetMarket(name); err != nil {
		return err
	}
	if records, err := p.PluginStore().List(); err == nil {
		for _, r := range records {
			if r.Market == name {
				p.say("notice: %s stays installed; remove it with `knack plugin remove %s`", r.ID, r.ID)
			}
		}
	}
	if o.flags.JSON {
		return output.JSON(cmd.OutOrStdout(), row)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", show(name))
	return nil
}

func (o *options) marketNames(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	e, err := o.flags.Quiet(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	known, err := e.PluginStore().Markets()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, k := range known {
		if strings.HasPrefix(k.Name, typed) {
			out = append(out, cobra.CompletionWithDesc(k.Name, k.Origin.String()))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
