package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/text"
)

// A row is one plugin of the list.
type row struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Marketplace string         `json:"marketplace"`
	Version     string         `json:"version"`
	Description string         `json:"description"`
	Enabled     bool           `json:"enabled"` // it is loaded in this workspace
	EnabledBy   string         `json:"enabled_by"`
	Installed   []plugin.Where `json:"installed"`
	Path        string         `json:"path"`
	From        string         `json:"from"`
	Hash        string         `json:"hash"`
	Commit      string         `json:"commit"`
	Hooks       int            `json:"hooks"`
	Servers     []string       `json:"servers"`
	Why         string         `json:"why"` // why it is not loaded
}

func newList(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List installed plugins, and whether they are on here",
		Example: `  knack plugin list
  knack plugin list --available
  knack plugin list --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.list(cmd) },
	}
	cmd.Flags().BoolVar(&o.all, "available", false, "list what the known marketplaces offer instead")
	return cmd
}

func (o *options) list(cmd *cobra.Command) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	if o.all {
		return p.available()
	}
	rows, err := p.rows()
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if o.flags.JSON {
		return output.JSON(w, rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "No plugin is installed.")
		return err
	}
	var cells [][]string
	for _, r := range rows {
		state := "off"
		if r.Enabled {
			state = "on (" + r.EnabledBy + ")"
		}
		what := r.Description
		if r.Why != "" {
			what = r.Why
		}
		cells = append(cells, []string{text.Terminal(r.ID), text.Terminal(r.shown()), state, scopes(r.Installed), text.Terminal(what)})
	}
	return o.flags.Style(w).Table(w, []string{"PLUGIN", "VERSION", "STATE", "SCOPE", "DESCRIPTION"}, cells)
}

// shown is the version, and the commit where that does not say it: a number may
// stay while the files change.
func (r row) shown() string {
	if r.Commit == "" || strings.HasPrefix(r.Commit, r.Version) {
		return r.Version
	}
	return r.Version + " (" + r.Commit[:min(len(r.Commit), 12)] + ")"
}

func scopes(list []plugin.Where) string {
	var out []string
	for _, w := range list {
		out = append(out, string(w.Scope))
	}
	return strings.Join(out, ",")
}

// rows are the plugins of this run and those that are installed.
func (p place) rows() ([]row, error) {
	records, err := p.PluginStore().List()
	if err != nil {
		return nil, err
	}
	rows := []row{}
	for _, x := range p.Plugins() {
		if x.Level == "" { // --plugin-dir
			r := row{ID: x.ID, Name: x.Name, Version: x.Version, Enabled: x.Manifest != nil, EnabledBy: "--plugin-dir", Path: x.Dir, From: x.Dir, Installed: []plugin.Where{}, Servers: []string{}}
			rows = append(rows, p.detail(r))
		}
	}
	for _, r := range records {
		x := row{ID: r.ID, Name: r.Name, Marketplace: r.Market, Version: r.Version, Installed: append([]plugin.Where{}, r.Where...), Servers: []string{},
			Path: p.PluginStore().Path(r), From: r.From(), Hash: r.Hash, Commit: r.Commit}
		for _, a := range p.Plugins() {
			if a.ID == r.ID {
				x.Enabled, x.EnabledBy = a.Manifest != nil, string(a.Level)
			}
		}
		if x = p.detail(x); !x.Enabled {
			x.Why = p.whyOff(r)
		}
		rows = append(rows, x)
	}
	return rows, nil
}

// detail adds what the files say.
func (p place) detail(r row) row {
	for _, a := range p.Plugins() {
		if a.ID != r.ID {
			continue
		}
		if a.Manifest == nil {
			r.Enabled, r.Why = false, a.Problems[0].Message
			continue
		}
		r.Description = a.Manifest.Description
		for _, g := range a.Manifest.Hooks {
			r.Hooks += len(g.Handlers)
		}
		r.Servers = append(r.Servers, names(a.Manifest.Servers)...)
	}
	return r
}

// whyOff says why an installed plugin is not loaded here.
func (p place) whyOff(r plugin.Record) string {
	for _, problem := range p.SettingsProblems() {
		if strings.HasPrefix(problem.Code, "plugin-") && strings.Contains(problem.Message, r.ID) {
			return problem.Message
		}
	}
	on, level, file := p.Settings().Plugin(r.ID, r.Name)
	switch {
	case level == "":
		return "no settings file that is read here switches it on"
	case !on:
		return "switched off in " + output.Tilde(file)
	}
	for _, a := range p.Plugins() {
		if a.ID == r.ID && a.Manifest == nil {
			return a.Problems[0].Message
		}
	}
	return ""
}

// An offered plugin is one that a known marketplace has.
type offered struct {
	ID          string `json:"id"`
	Version     string `json:"version"`
	Description string `json:"description"`
	From        string `json:"from"`
	Installed   bool   `json:"installed"`
	Why         string `json:"why"` // why it cannot be installed
}

func (p place) available() error {
	known, err := p.PluginStore().Markets()
	if err != nil {
		return err
	}
	out := []offered{}
	var cells [][]string
	for _, k := range known {
		m, problems := plugin.ReadMarket(p.PluginStore().MarketPath(k))
		if m == nil {
			p.say("%s", problems[0].Message)
			continue
		}
		for _, x := range m.Plugins {
			id := plugin.ID(x.Name, k.Name)
			r, err := p.PluginStore().Find(id)
			o := offered{ID: id, Version: x.Version, Description: x.Description, From: x.Origin.String(), Installed: err == nil && r.ID == id, Why: x.Why}
			out = append(out, o)
			what := x.Description
			if x.Why != "" {
				what = "cannot be installed: " + x.Why
			}
			cells = append(cells, []string{text.Terminal(id), text.Terminal(x.Version), text.Terminal(what)})
		}
	}
	w := p.cmd.OutOrStdout()
	if p.o.flags.JSON {
		return output.JSON(w, out)
	}
	if len(cells) == 0 {
		_, err := fmt.Fprintln(w, "No marketplace is known, or none offers anything (`knack plugin marketplace add`).")
		return err
	}
	return p.o.flags.Style(w).Table(w, []string{"PLUGIN", "VERSION", "DESCRIPTION"}, cells)
}
