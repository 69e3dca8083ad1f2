package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/plugin"
)

func names(servers map[string]json.RawMessage) []string {
	return slices.Sorted(maps.Keys(servers))
}

// usual is the installation that a command means when --scope is not given: the
// nearest one that holds in this workspace.
func (p place) usual(r plugin.Record) (plugin.Where, error) {
	if p.o.scope != "" {
		return p.where(p.o.scope)
	}
	for _, scope := range []plugin.Scope{plugin.Local, plugin.Project, plugin.User} {
		w, err := p.where(string(scope))
		if err != nil {
			return w, err
		}
		if slices.Contains(r.Where, w) {
			return w, nil
		}
	}
	return plugin.Where{Scope: plugin.User}, nil
}

func newSwitch(f *workspace.Flags, on bool) *cobra.Command {
	o := &options{flags: f}
	verb, short := "disable", "Switch a plugin off without removing it"
	if on {
		verb, short = "enable", "Switch an installed plugin on"
	}
	cmd := &cobra.Command{
		Use:     verb + " NAME[@MARKETPLACE]",
		Short:   short,
		Example: "  knack plugin " + verb + " formatter@team\n  knack plugin " + verb + " formatter --scope local",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: o.installedNames,
		RunE: func(cmd *cobra.Command, args []string) error { return o.turn(cmd, args[0], on) },
	}
	o.scopeFlag(cmd, "")
	return cmd
}

func (o *options) turn(cmd *cobra.Command, id string, on bool) error {
	p, r, err := o.find(cmd, id)
	if err != nil {
		return err
	}
	where, err := p.usual(r)
	if err != nil {
		return err
	}
	w, err := p.writer(where)
	if err != nil {
		return err
	}
	if err := w.Enable(r.ID, on); err != nil {
		return err
	}
	out := result{Enabled: on, Outcome: "disabled", Needs: []string{}, Unset: []string{}}
	if on {
		out.Outcome = "enabled"
	}
	out.fill(p, r, where.Scope)
	if now, level, file := p.Settings().Plugin(r.ID, r.Name); level != "" && now != on && file != w.Path {
		p.say("notice: %s says otherwise; where it is stronger, it decides", file)
	}
	return p.report(out, nil, where)
}

func newUpdate(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "update [NAME[@MARKETPLACE]]...",
		Short: "Get the newest version of plugins, all without a name",
		Long: `Get the newest version of plugins. What a new version brings is shown first.
The version before stays in force until the new one is complete, and sessions
that run keep it until they end.`,
		Example: `  knack plugin update
  knack plugin update formatter@team --yes`,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: o.installedNames,
		RunE: func(cmd *cobra.Command, args []string) error { return o.update(cmd, args) },
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "agree to what the new versions bring")
	return cmd
}

func (o *options) update(cmd *cobra.Command, args []string) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	var records []plugin.Record
	for _, id := range args {
		r, err := p.PluginStore().Find(id)
		if err != nil {
			return err
		}
		records = append(records, r)
	}
	if len(args) == 0 {
		if records, err = p.PluginStore().List(); err != nil {
			return err
		}
	}
	out := []result{}
	var failed []error
	markets := map[string]bool{}
	for _, r := range records {
		if r.Market != "" && !markets[r.Market] {
			markets[r.Market] = true
			if err := p.refresh(r.Market); err != nil {
				failed = append(failed, err)
			}
		}
		x, err := p.renew(r)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.ID, denied(err)))
			continue
		}
		out = append(out, x)
		if !o.flags.JSON {
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s %s\n", x.Outcome, show(x.ID), show(x.Version))
		}
	}
	if o.flags.JSON {
		failed = append(failed, output.JSON(cmd.OutOrStdout(), out))
	}
	return errors.Join(failed...)
}

// renew brings the newest version of one plugin.
func (p place) renew(r plugin.Record) (result, error) {
	out := result{Needs: []string{}, Unset: []string{}, Outcome: "current"}
	in, stop := p.installer(r.ID)
	from := r.Origin
	all, err := in.PrepareAll(p.cmd.Context(), r.Name, r.Market, from)
	stop()
	defer discard(all)
	if err != nil {
		return out, err
	}
	main := all[len(all)-1]
	if main.Same && len(all) == 1 {
		out.fill(p, r, "")
		_, err := main.Commit() // its files may have been gone
		return out, err
	}
	text := ""
	for _, x := range all {
		text += summary(x)
	}
	if err := p.consent(text, "Update it?"); err != nil {
		return out, err
	}
	for _, x := range all {
		where := r.Where
		if x == main {
			where = nil
		}
		now, err := x.Commit(where...)
		if err != nil {
			return out, err
		}
		if x != main {
			out.Needs = append(out.Needs, now.ID)
		}
		out.fill(p, now, "")
	}
	out.Outcome, out.Brings = "updated", &main.Brings
	return out, nil
}

func newRemove(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use: "remove NAME[@MARKETPLACE]", Aliases: []string{"uninstall", "rm"},
		Short: "Remove a plugin, and its data with the last installation",
		Example: `  knack plugin remove formatter@team
  knack plugin remove formatter --scope project --keep-data`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: o.installedNames,
		RunE: func(cmd *cobra.Command, args []string) error { return o.remove(cmd, args[0]) },
	}
	o.scopeFlag(cmd, "")
	cmd.Flags().BoolVar(&o.keep, "keep-data", false, "keep the plugin's own files and the values of its options")
	return cmd
}

func (o *options) remove(cmd *cobra.Command, id string) error {
	p, r, err := o.find(cmd, id)
	if err != nil {
		return err
	}
	where, err := p.usual(r)
	if err != nil {
		return err
	}
	if !slices.Contains(r.Where, where) {
		return fmt.Errorf("%s is not installed for the scope %s here, but for %s", r.ID, where.Scope, scopes(r.Where))
	}
	w, err := p.writer(where)
	if err != nil {
		return err
	}
	// Off first: if what follows fails, nothing names files that are gone.
	if err := w.Forget(r.ID); err != nil {
		return err
	}
	gone, err := p.PluginStore().Remove(r.ID, where, o.keep)
	if err != nil {
		return err
	}
	if gone && !o.keep {
		if err := p.PluginValues().Forget(r.ID); err != nil {
			return err
		}
	}
	out := result{Outcome: "removed", Needs: []string{}, Unset: []string{}}
	out.fill(p, r, where.Scope)
	if o.flags.JSON {
		return output.JSON(cmd.OutOrStdout(), out)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", show(r.ID))
	if !gone {
		p.say("It stays installed for: %s", scopes(slices.DeleteFunc(slices.Clone(r.Where), func(w plugin.Where) bool { return w == where })))
	}
	return nil
}

func newConfig(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	return &cobra.Command{
		Use:   "config NAME[@MARKETPLACE] [KEY=VALUE]...",
		Short: "Show the options of a plugin, or give them values",
		Long: `Show the options of a plugin, or give them values. Secrets are kept in the
keyring of the operating system or, where none answers or KNACK_KEYRING is off,
in a file of the state directory that only you can read; they are never shown.`,
		Example: `  knack plugin config formatter
  knack plugin config formatter style=wide`,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: o.installedNames,
		RunE: func(cmd *cobra.Command, args []string) error { return o.config(cmd, args[0], args[1:]) },
	}
}

// An option is what config prints of one.
type option struct {
	Key         string  `json:"key"`
	Type        string  `json:"type"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Required    bool    `json:"required"`
	Sensitive   bool    `json:"sensitive"`
	Set         bool    `json:"set"`
	Value       *string `json:"value"` // null for secrets and for what is not set
}

func (o *options) config(cmd *cobra.Command, id string, given []string) error {
	p, r, err := o.find(cmd, id)
	if err != nil {
		return err
	}
	m, problems := p.PluginStore().Read(r)
	if m == nil {
		return errors.New(problems[0].Message)
	}
	values, err := readValues(given, m.Options)
	if err != nil {
		return err
	}
	if _, err := p.keep(r.ID, values, m.Options); err != nil {
		return err
	}
	now, _, err := p.PluginValues().Get(r.ID, m.Options, true)
	if err != nil {
		return err
	}
	rows := []option{}
	var cells [][]string
	for _, x := range m.Options {
		v, set := now[x.Key]
		row := option{Key: x.Key, Type: x.Type, Title: x.Title, Description: x.Description, Required: x.Required, Sensitive: x.Sensitive, Set: set}
		shown := ""
		if set && x.Sensitive {
			shown = "(secret)"
		} else if set {
			row.Value, shown = &v, show(v)
		}
		rows = append(rows, row)
		cells = append(cells, []string{x.Key, x.Type, shown, show(x.Title)})
	}
	w := cmd.OutOrStdout()
	if o.flags.JSON {
		return output.JSON(w, rows)
	}
	if len(cells) == 0 {
		_, err := fmt.Fprintf(w, "%s has no options.\n", show(r.ID))
		return err
	}
	return o.flags.Style(w).Table(w, []string{"OPTION", "TYPE", "VALUE", "TITLE"}, cells)
}
