package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
	source "github.com/knack-skills/knack/source/plugin"
	"github.com/knack-skills/knack/state"
)

// MarketFile is where a marketplace lists its plugins, with slashes.
const MarketFile = ".claude-plugin/marketplace.json"

// maxMarket is the largest marketplace.json that is read, in bytes.
const maxMarket = 8 << 20

// A Market is a marketplace.json that was read.
type Market struct {
	Name, Description string
	Owner             string
	Root              string // directory that relative sources start at; empty for a lone file
	File              string
	Plugins           []Offer
	Others            []string // marketplaces whose plugins may be dependencies
}

// An Offer is one plugin of a marketplace.
type Offer struct {
	Name, Version, Description string
	Origin                     Origin
	Entry                      source.Entry
	// Why says why it cannot be installed; empty for all others.
	Why string
}

// Find returns the offer of that name.
func (m *Market) Find(name string) (Offer, bool) {
	i := slices.IndexFunc(m.Plugins, func(o Offer) bool { return o.Name == name })
	if i < 0 {
		return Offer{}, false
	}
	return m.Plugins[i], true
}

// ReadMarket reads the marketplace in a directory, or a file alone. It is nil
// when it cannot be used; then one problem of the code marketplace says why. A bad
// entry costs only itself.
func ReadMarket(path string) (*Market, []skill.Problem) {
	m := &Market{File: path}
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		m.Root, m.File = path, filepath.Join(path, filepath.FromSlash(MarketFile))
		if err := inside(path, m.File); err != nil {
			return nil, []skill.Problem{badMarket(m.File, err.Error())}
		}
	}
	data, err := state.ReadFile(m.File, maxMarket)
	if err != nil {
		return nil, []skill.Problem{badMarket(m.File, bare(err))}
	}
	return m.parse(bytes.TrimPrefix(data, []byte("\uFEFF")))
}

// inside refuses a file that a link takes out of its directory.
func inside(dir, file string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	rel, err := filepath.Rel(dir, file)
	if err == nil {
		_, err = root.Stat(rel)
	}
	if err != nil {
		return errors.New(bare(err))
	}
	return nil
}

func (m *Market) parse(data []byte) (*Market, []skill.Problem) {
	var raw struct {
		Name        string
		Description string
		Owner       json.RawMessage
		Plugins     []json.RawMessage
		Metadata    struct {
			Description string
			PluginRoot  string
		}
		Others []string `json:"allowCrossMarketplaceDependenciesOn"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, []skill.Problem{badMarket(m.File, "it is no JSON of a marketplace: "+err.Error())}
	}
	switch {
	case !source.PlainName(raw.Name):
		return nil, []skill.Problem{badMarket(m.File, fmt.Sprintf("%q cannot be its name: it is the part of every plugin's id behind the @", raw.Name))}
	case raw.Plugins == nil:
		return nil, []skill.Problem{badMarket(m.File, `it has no list "plugins"`)}
	}
	m.Name, m.Description, m.Others = raw.Name, raw.Description, raw.Others
	if m.Description == "" {
		m.Description = raw.Metadata.Description
	}
	var owner struct{ Name string }
	_ = json.Unmarshal(raw.Owner, &owner) // only shown
	m.Owner = owner.Name
	var problems []skill.Problem
	for i, item := range raw.Plugins {
		o := m.offer(item, raw.Metadata.PluginRoot)
		if _, twice := m.Find(o.Name); twice && o.Name != "" {
			o.Why = "the name is there twice; the first one counts"
		}
		if o.Why != "" {
			problems = append(problems, skill.Problem{Code: "marketplace-entry", Severity: skill.Warning, Path: m.File,
				Message: fmt.Sprintf("plugins[%d] (%.80q) cannot be installed: %s", i, o.Name, o.Why), Fix: "correct the entry, or tell the marketplace's owner"})
		}
		m.Plugins = append(m.Plugins, o)
	}
	return m, problems
}

// offer reads one entry.
func (m *Market) offer(item json.RawMessage, pluginRoot string) (o Offer) {
	var raw struct {
		Name, Version, Description string
		Strict                     *bool
		Source                     json.RawMessage
	}
	if err := json.Unmarshal(item, &raw); err != nil {
		o.Why = "it cannot be read: " + err.Error()
		return o
	}
	o.Name, o.Version, o.Description = raw.Name, raw.Version, raw.Description
	if !source.PlainName(raw.Name) || strings.Contains(raw.Name, "@") {
		o.Why = fmt.Sprintf("%q cannot be its name", raw.Name)
		return o
	}
	o.Entry = source.Entry{Path: m.File, Fields: manifestKeys(item), Loose: raw.Strict != nil && !*raw.Strict}
	var err error
	if o.Origin, err = parseOrigin(raw.Source); err != nil {
		o.Why = err.Error()
		return o
	}
	if o.Origin.Kind != relative {
		return o
	}
	if m.Root == "" {
		o.Why = "its source is a directory of the marketplace, of which only the file is here"
		return o
	}
	path := o.Origin.Path
	if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "/") && pluginRoot != "" {
		path = strings.TrimSuffix(pluginRoot, "/") + "/" + path
	}
	o.Origin = Origin{Kind: Directory, Root: m.Root, Path: filepath.ToSlash(filepath.Clean(filepath.FromSlash(path)))}
	if path == "" {
		o.Why = "its source is empty"
	} else if err := o.Origin.Check(); err != nil {
		o.Why = err.Error()
	}
	return o
}

// manifestKeys are the keys of an entry that a manifest has too.
func manifestKeys(item json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(item, &all) // was read before
	known := source.Fields()
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool { return !slices.Contains(known, key) })
	out, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage("{}") // was read before
	}
	return out
}

func badMarket(path, message string) skill.Problem {
	return skill.Problem{Code: "marketplace", Severity: skill.Error, Path: path,
		Message: "the marketplace cannot be used: " + message, Fix: "correct " + MarketFile + ", or tell the marketplace's owner"}
}

// bare is err without the operation and the path.
func bare(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// reserved are names that only repositories of reservedOwner may have: people
// take them for the maker's own.
var reserved = []string{
	"claude-code-marketplace", "claude-code-plugins", "claude-plugins-official", "claude-plugins-community", "claude-community",
	"anthropic-marketplace", "anthropic-plugins", "agent-skills", "anthropic-agent-skills", "knowledge-work-plugins", "life-sciences",
	"claude-for-legal", "claude-for-financial-services", "financial-services-plugins", "first-party-plugins", "healthcare",
	"inline", "skills-dir", "synced", "builtin",
}

const reservedOwner = "anthropics/"

// A Known is a marketplace that was added.
type Known struct {
	Name   string `json:"name"`
	Origin Origin `json:"origin"`
	Path   string `json:"path"` // absolute for a directory of the person's own, else below the store
	Commit string `json:"commit,omitempty"`
}

type knownFile struct {
	Markets map[string]Known `json:"markets"`
}

func (s Store) markets() state.File[knownFile] {
	path := ""
	if s.Dir != "" {
		path = filepath.Join(s.Dir, "known_marketplaces.json")
	}
	return state.File[knownFile]{Path: path}
}

// Markets returns the marketplaces that are known, by name.
func (s Store) Markets() ([]Known, error) {
	if s.Dir == "" {
		return nil, nil
	}
	v, err := s.markets().Read()
	var out []Known
	for _, name := range slices.Sorted(maps.Keys(v.Markets)) {
		out = append(out, v.Markets[name])
	}
	return out, err
}

// ErrUnknownMarket reports a marketplace that was not added.
var ErrUnknownMarket = errors.New("it is not known; add it with `knack plugin marketplace add`")

// Market returns a marketplace that is known.
func (s Store) Market(name string) (Known, error) {
	all, err := s.Markets()
	if err != nil {
		return Known{}, err
	}
	if i := slices.IndexFunc(all, func(k Known) bool { return k.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Known{}, fmt.Errorf("marketplace %s: %w", name, ErrUnknownMarket)
}

// MarketPath returns where the files of a marketplace are.
func (s Store) MarketPath(k Known) string {
	if filepath.IsAbs(k.Path) {
		return k.Path
	}
	return filepath.Join(s.Dir, filepath.FromSlash(k.Path))
}

// KeepMarket makes what was unpacked into staged, or lies at k.Path already when
// staged is empty, the marketplace of that name. One of another origin is not
// replaced.
func (s Store) KeepMarket(staged string, k Known, hash string) (Known, error) {
	if slices.Contains(reserved, k.Name) && !strings.HasPrefix(k.Origin.same().Repo, reservedOwner) {
		return k, fmt.Errorf("a marketplace may call itself %q only in a repository of %s", k.Name, strings.TrimSuffix(reservedOwner, "/"))
	}
	err := s.markets().Update(func(v *knownFile) error {
		if v.Markets == nil {
			v.Markets = map[string]Known{}
		}
		old, had := v.Markets[k.Name]
		if had && old.Origin.same() != k.Origin.same() {
			return fmt.Errorf("a marketplace called %s is known already, from %s; remove that one first", k.Name, old.Origin)
		}
		if staged != "" {
			k.Path = "marketplaces/" + plainName(k.Name) + "/" + hash[:12]
			final := s.MarketPath(k)
			if _, err := os.Stat(final); errors.Is(err, fs.ErrNotExist) {
				if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
					return err
				}
				if err := os.Rename(staged, final); err != nil {
					return err
				}
			}
			if had && old.Path != k.Path {
				s.dropMarket(old)
			}
		}
		v.Markets[k.Name] = k
		return nil
	})
	return k, err
}

// dropMarket removes the files of a marketplace, unless they are the person's own.
func (s Store) dropMarket(k Known) {
	if strings.HasPrefix(k.Path, "marketplaces/") && filepath.IsLocal(filepath.FromSlash(k.Path)) {
		_ = os.RemoveAll(s.MarketPath(k)) // nobody reads them any more
	}
}

// ForgetMarket removes a marketplace. Plugins that came from it stay.
func (s Store) ForgetMarket(name string) error {
	return s.markets().Update(func(v *knownFile) error {
		k, ok := v.Markets[name]
		if !ok {
			return fmt.Errorf("marketplace %s: %w", name, ErrUnknownMarket)
		}
		s.dropMarket(k)
		delete(v.Markets, name)
		return nil
	})
}
