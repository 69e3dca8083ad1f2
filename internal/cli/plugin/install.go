package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/plugin"
)

func newInstall(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "install NAME[@MARKETPLACE]|PATH|URL",
		Short: "Install a plugin and switch it on",
		Long: `Install a plugin from a marketplace that was added, a directory, an archive
(.zip, .tar, .tar.gz, .mcpb, .dxt; a file or an https URL), a repository
(OWNER/NAME, or a URL, with #REF) or an npm package (npm:NAME[@VERSION]).

What it brings is shown first, and nothing of it runs. Exit 3 without consent,
or when a policy forbids it.`,
		Example: `  knack plugin install formatter@team
  knack plugin install ./my-plugin --yes
  knack plugin install owner/repository --ref v1.2.0 --path plugins/x
  knack plugin install npm:@team/plugin@^2 --scope project
  knack plugin install https://example.org/p.zip --sha256 HEX`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.offers,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.install(cmd, args[0]) },
	}
	o.scopeFlag(cmd, "user")
	o.sourceFlags(cmd)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "agree to what it brings")
	cmd.Flags().StringArrayVar(&o.values, "config", nil, "set an option of the plugin (`KEY=VALUE`, repeatable)")
	return cmd
}

// A result is what --json prints of one plugin.
type result struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Scope   plugin.Scope   `json:"scope"`
	Path    string         `json:"path"`
	From    string         `json:"from"`
	Hash    string         `json:"hash"`
	Commit  string         `json:"commit"`
	Enabled bool           `json:"enabled"`
	Outcome string         `json:"outcome"` // installed, updated, current, removed, enabled or disabled
	Brings  *plugin.Brings `json:"brings,omitempty"`
	Needs   []string       `json:"needs"` // plugins that were installed with it
	Unset   []string       `json:"unset"` // required options without a value
}

func (o *options) install(cmd *cobra.Command, arg string) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	where, err := p.where(o.scope)
	if err != nil {
		return err
	}
	name, market, from, err := p.target(arg)
	if err != nil {
		return denied(err)
	}
	return p.bring(name, market, from, where)
}

// bring prepares a plugin with all that it needs, asks, and installs.
func (p place) bring(name, market string, from plugin.Origin, where plugin.Where) error {
	what := from.String()
	if market != "" {
		what = plugin.ID(name, market)
	}
	in, stop := p.installer(what)
	all, err := in.PrepareAll(p.cmd.Context(), name, market, from)
	stop()
	defer discard(all)
	if err != nil {
		return denied(err)
	}
	return p.finish(all, where)
}

// discard removes what was prepared and not committed. What stays is swept later.
func discard(all []*plugin.Prepared) {
	for _, x := range all {
		_ = x.Discard()
	}
}

// finish asks for consent and installs; the last one is what was asked for.
func (p place) finish(all []*plugin.Prepared, where plugin.Where) error {
	main := all[len(all)-1]
	values, err := readValues(p.o.values, main.Brings.Options)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, x := range all {
		text.WriteString(summary(x))
	}
	if err := p.consent(text.String(), "Install it?"); err != nil {
		return err
	}
	if values, err = p.askValues(main.Record.ID, values, main.Brings.Options); err != nil {
		return err
	}
	out := result{Needs: []string{}, Outcome: "installed", Brings: &main.Brings}
	if main.Before != nil {
		out.Outcome = "updated"
	}
	for _, x := range all {
		r, err := x.Commit(where)
		if err != nil {
			return err
		}
		if x != main {
			out.Needs = append(out.Needs, r.ID)
		}
		out.Enabled = !x.Brings.Off
		w, err := p.writer(where)
		if err == nil {
			err = w.Enable(r.ID, out.Enabled)
		}
		if err != nil {
			return fmt.Errorf("%s is installed and not switched on: %w", r.ID, err)
		}
		out.fill(p, r, where.Scope)
	}
	if out.Unset, err = p.keep(out.ID, values, main.Brings.Options); err != nil {
		return err
	}
	return p.report(out, main.Brings.Skills, where)
}

func (out *result) fill(p place, r plugin.Record, scope plugin.Scope) {
	out.ID, out.Name, out.Version, out.Scope = r.ID, r.Name, r.Version, scope
	out.Path, out.From, out.Hash, out.Commit = p.PluginStore().Path(r), r.From(), r.Hash, r.Commit
}

func (p place) report(out result, skills []string, where plugin.Where) error {
	if len(out.Unset) > 0 {
		p.say("notice: these options need a value: %s (`knack plugin config %s KEY=VALUE`)", strings.Join(out.Unset, ", "), out.ID)
	}
	if where.Scope != plugin.User && !p.Trusted() {
		p.say("notice: the settings of this workspace switch it on, and they wait until you trust it: `knack doctor --trust`")
	}
	if !out.Enabled {
		p.say("notice: it is off until you switch it on: `knack plugin enable %s`", out.ID)
	}
	if p.o.flags.JSON {
		return output.JSON(p.cmd.OutOrStdout(), out)
	}
	fmt.Fprintf(p.cmd.OutOrStdout(), "%s %s %s\n", out.Outcome, show(out.ID), show(out.Version))
	if len(skills) > 0 && out.Enabled {
		p.say("Try /%s, or `knack list`.", skills[0])
	}
	return nil
}

// target finds out what was meant: a plugin of a marketplace, or a place.
func (p place) target(arg string) (name, market string, from plugin.Origin, err error) {
	store := p.PluginStore()
	if name, market, err := plugin.ParseID(arg); err == nil && market != "" && !strings.HasPrefix(arg, "npm:") {
		_, err := store.Market(market)
		return name, market, from, err
	} else if err == nil && !p.hasFlags() {
		markets, err := p.marketsWith(name)
		switch {
		case err != nil:
			return "", "", from, err
		case len(markets) == 1:
			return name, markets[0], from, nil
		case len(markets) > 1:
			return "", "", from, fmt.Errorf("several marketplaces have %s: write one of %s", name, strings.Join(ids(name, markets), ", "))
		}
	}
	from, ok, err := p.o.origin(arg)
	if err == nil && !ok {
		err = fmt.Errorf("there is no %s: no file or directory of that name, and no marketplace that is known has it (see `knack plugin marketplace list`)", arg)
	}
	return "", "", from, err
}

func (p place) hasFlags() bool { return p.o.ref != "" || p.o.path != "" || p.o.sha256 != "" }

func ids(name string, markets []string) (out []string) {
	for _, m := range markets {
		out = append(out, plugin.ID(name, m))
	}
	return out
}

// marketsWith returns the marketplaces that have a plugin of that name.
func (p place) marketsWith(name string) ([]string, error) {
	known, err := p.PluginStore().Markets()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, k := range known {
		if m, _ := plugin.ReadMarket(p.PluginStore().MarketPath(k)); m != nil {
			if _, ok := m.Find(name); ok {
				out = append(out, k.Name)
			}
		}
	}
	return out, nil
}

// offers completes the plugins of known marketplaces.
func (o *options) offers(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	e, err := o.flags.Quiet(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	known, err := e.PluginStore().Markets()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []string
	for _, k := range known {
		m, _ := plugin.ReadMarket(e.PluginStore().MarketPath(k))
		if m == nil {
			continue
		}
		for _, offer := range m.Plugins {
			if id := plugin.ID(offer.Name, k.Name); offer.Why == "" && strings.HasPrefix(id, typed) {
				out = append(out, cobra.CompletionWithDesc(id, output.Brief(offer.Description)))
			}
		}
	}
	return out, cobra.ShellCompDirectiveDefault
}
