package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
	source "github.com/knack-skills/knack/source/plugin"
)

// An Active is a plugin that is on.
type Active struct {
	ID, Name string
	Version  string
	Dir      string
	Level    settings.Level // of the settings that switched it on; empty for --plugin-dir
	Entry    *source.Entry
}

// Managed reports whether the administrator switched it on.
func (a Active) Managed() bool { return a.Level == settings.ManagedLevel }

// Source returns the skills of the plugin. Whoever installs a plugin is who
// trusts it, so its skills are a person's own choice.
func (a Active) Source() source.Source {
	s := source.Source{Name: a.Name, Dir: a.Dir, Entry: a.Entry}
	if a.Managed() {
		s.Scope = skill.Managed
	}
	return s
}

// Read returns what it brings besides skills, or nil when it must not load.
func (a Active) Read() (*source.Manifest, []skill.Problem) {
	m, problems := source.Read(a.Dir, a.Entry)
	if m != nil && a.Name != "" {
		m.Name = a.Name
	}
	return m, problems
}

// Active returns the plugins that are installed, that the settings switch on, and
// that policy allows, by id. Settings alone never bring a plugin into being: what
// a repository switches on and its reader has not installed is a problem of
// severity info. Problems name all that is on and does not load.
func (s Store) Active(set *settings.Settings) ([]Active, []skill.Problem) {
	records, err := s.List()
	if err != nil {
		return nil, []skill.Problem{{Code: "plugin-store", Severity: skill.Error, Path: s.file().Path,
			Message: "no plugin is loaded: " + err.Error(), Fix: "install the plugins again; a damaged file makes way, as *.broken"}}
	}
	if len(records) == 0 && len(set.EnabledPlugins) == 0 {
		return nil, nil
	}
	policy, problems := PolicyOf(set)
	var out []Active
	for _, r := range records {
		on, level, file := set.Plugin(r.ID, r.Name)
		if !on {
			continue
		}
		if p, bad := s.unfit(r, policy, out); bad {
			if p.Path == "" {
				p.Path = file
			}
			problems = append(problems, p)
			continue
		}
		out = append(out, Active{ID: r.ID, Name: r.Name, Version: r.Version, Dir: s.Path(r), Level: level, Entry: r.entry()})
	}
	return out, append(problems, missing(set, records)...)
}

// unfit says why a plugin that is switched on does not load.
func (s Store) unfit(r Record, policy Policy, before []Active) (skill.Problem, bool) {
	if err := policy.Allows(r.Market, s.marketOrigin(r)); err != nil {
		return skill.Problem{Code: "plugin-blocked", Severity: skill.Warning,
			Message: fmt.Sprintf("the plugin %s is not loaded: %v", r.ID, err), Fix: "ask your administrator, or remove it: knack plugin remove " + r.ID}, true
	}
	if i := slices.IndexFunc(before, func(a Active) bool { return a.Name == r.Name }); i >= 0 {
		return skill.Problem{Code: "plugin-duplicate", Severity: skill.Warning,
			Message: fmt.Sprintf("the plugin %s is not loaded: %s is on and has the same name", r.ID, before[i].ID), Fix: "disable one of them"}, true
	}
	if fi, err := os.Stat(s.Path(r)); err != nil || !fi.IsDir() {
		return skill.Problem{Code: "plugin-missing", Severity: skill.Error, Path: s.Path(r),
			Message: fmt.Sprintf("the files of the plugin %s are gone", r.ID), Fix: "install it again: knack plugin update " + r.ID}, true
	}
	return skill.Problem{}, false
}

// marketOrigin is what policy judges: where the marketplace is from or, without
// one, the plugin.
func (s Store) marketOrigin(r Record) Origin {
	if r.Market == "" {
		return r.Origin
	}
	k, err := s.Market(r.Market)
	if err != nil {
		return Origin{Kind: "unknown"} // matched by its name alone
	}
	return k.Origin
}

// missing tells of plugins that are switched on and not installed.
func missing(set *settings.Settings, records []Record) (out []skill.Problem) {
	for id, on := range set.EnabledPlugins {
		if !on || slices.ContainsFunc(records, func(r Record) bool { return r.ID == id || r.Name == id }) {
			continue
		}
		out = append(out, skill.Problem{Code: "plugin-missing", Severity: skill.Info, Path: set.From("enabledPlugins." + id),
			Message: fmt.Sprintf("enabledPlugins switches %q on, and it is not installed", id), Fix: "if you want it: knack plugin install " + id})
	}
	slices.SortFunc(out, skill.CompareProblems)
	return out
}

// Inline returns the plugin in a directory that is on for one run.
func Inline(dir string) Active {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	a := Active{Dir: dir}
	if m, _ := source.Read(dir, nil); m != nil {
		a.Name, a.Version = m.Name, m.Version
		a.ID = m.Name + "@inline"
	}
	return a
}
