package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/extract"
	"github.com/knack-skills/knack/skill"
	source "github.com/knack-skills/knack/source/plugin"
)

// A Fetcher brings the files of an origin into an empty directory.
type Fetcher interface {
	Fetch(ctx context.Context, o Origin, into string) (Fetched, error)
}

// Fetched is what arrived.
type Fetched struct {
	Dir     string // the directory that was asked for, or one below it
	Summary extract.Summary
	Commit  string // of git
	Version string // of npm
}

// Below returns f with what lies in one of its directories alone.
func (f Fetched) Below(dir string) Fetched {
	rel, err := filepath.Rel(f.Dir, dir)
	if err != nil || rel == "." {
		return f
	}
	prefix := filepath.ToSlash(rel) + "/"
	var programs []string
	for _, p := range f.Summary.Programs {
		if rest, ok := strings.CutPrefix(p, prefix); ok {
			programs = append(programs, rest)
		}
	}
	f.Dir, f.Summary.Programs = dir, programs
	return f
}

// IsRoot reports whether a directory looks like the top of a plugin, a bundle, a
// skill or a marketplace, so that no folder around it was packed.
func IsRoot(dir string) bool {
	return slices.ContainsFunc([]string{source.ManifestFile, MarketFile, "SKILL.md", "skills", "commands", "agents", "hooks", ".mcp.json", BundleFile}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil
	})
}

// An Installer brings plugins into a store.
type Installer struct {
	Store  Store
	Fetch  Fetcher
	Policy Policy
}

// A Prepared plugin is unpacked and was looked at. It is not installed before
// [Prepared.Commit], and whoever has it calls [Prepared.Discard].
type Prepared struct {
	Record  Record
	Brings  Brings
	Before  *Record // what is installed now; nil for nothing
	Same    bool    // that is the same content
	Depends []source.Dependency

	store  Store
	staged string // for Discard
	dir    string // what becomes the version
	starts []string
}

// Prepare gets a plugin and looks at it: one of a marketplace when market is not
// empty, else the one at o. The error is a [*PolicyError] when it is not allowed.
func (in Installer) Prepare(ctx context.Context, name, market string, o Origin) (*Prepared, error) {
	r := Record{Name: name, Market: market, Origin: o}
	if market != "" {
		offer, err := in.offer(name, market)
		if err != nil {
			return nil, err
		}
		r.Origin, r.Version = offer.Origin, offer.Version
		r.Entry = &entry{Path: offer.Entry.Path, Fields: offer.Entry.Fields, Loose: offer.Entry.Loose}
	} else if err := in.Policy.Allows("", o); err != nil {
		return nil, err
	}
	staged, err := in.Store.Stage()
	if err != nil {
		return nil, err
	}
	p := &Prepared{Record: r, store: in.Store, staged: staged}
	into := filepath.Join(staged, "files")
	if err = os.Mkdir(into, 0o700); err == nil {
		err = p.get(ctx, in.Fetch, into)
	}
	if err != nil {
		return nil, errors.Join(err, p.Discard())
	}
	return p, nil
}

// offer finds a plugin in a marketplace that is known and allowed.
func (in Installer) offer(name, market string) (Offer, error) {
	known, err := in.Store.Market(market)
	if err != nil {
		return Offer{}, err
	}
	if err := in.Policy.Allows(market, known.Origin); err != nil {
		return Offer{}, err
	}
	m, problems := ReadMarket(in.Store.MarketPath(known))
	if m == nil {
		return Offer{}, errors.New(problems[0].Message)
	}
	offer, ok := m.Find(name)
	if !ok {
		return Offer{}, fmt.Errorf("the marketplace %s has no plugin %s (try `knack plugin marketplace update %s`)", market, name, market)
	}
	if offer.Why != "" {
		return Offer{}, fmt.Errorf("%s of the marketplace %s cannot be installed: %s", name, market, offer.Why)
	}
	return offer, nil
}

// get fetches the files and reads them.
func (p *Prepared) get(ctx context.Context, f Fetcher, into string) error {
	got, err := f.Fetch(ctx, p.Record.Origin, into)
	if err != nil {
		return err
	}
	if err := unbundle(got.Dir); err != nil {
		return err
	}
	r := &p.Record
	p.dir, r.Hash, r.Commit = got.Dir, got.Summary.Hash, got.Commit
	m, problems := source.Read(got.Dir, r.entry())
	if m == nil {
		return errors.New(problems[0].Message)
	}
	switch {
	case r.Name != "":
	case m.Nameless && got.Dir == into:
		r.Name = nameOf(r.Origin)
	default:
		r.Name = m.Name
	}
	if !source.PlainName(r.Name) || strings.Contains(r.Name, "@") {
		return fmt.Errorf("%q cannot be the name of a plugin", r.Name)
	}
	r.ID = ID(r.Name, r.Market)
	r.Version = cmp.Or(m.Version, r.Version, got.Version, short(got.Commit), short(strings.ToLower(r.Origin.SHA256)), short(r.Hash))
	m.Name = r.Name
	p.Depends = m.Dependencies
	if p.Brings, err = survey(ctx, m, r.entry(), problems); err != nil {
		return err
	}
	p.Brings.Off = m.DefaultOff
	p.Brings.Files, p.Brings.Bytes, p.Brings.Skipped = got.Summary.Files, got.Summary.Bytes, append(p.Brings.Skipped, got.Summary.Skipped...)
	if p.Brings.Empty() {
		return fmt.Errorf("it brings nothing: no skill, command, agent, hook or server was found in it%s", list(": ", p.Brings.Skipped))
	}
	p.starts = started(m, got.Summary.Programs)
	if old, err := p.store.Find(r.ID); err == nil && old.ID == r.ID {
		p.Before, p.Same = &old, old.Hash == r.Hash && sameEntry(old, *r)
	}
	return nil
}

// nameOf names a plugin that does not name itself like the place that it is from,
// since it lies in a directory of ours now.
func nameOf(o Origin) string {
	from := cmp.Or(o.Path, o.Repo, o.Package, o.URL)
	base := filepath.Base(strings.TrimSuffix(filepath.FromSlash(from), ".git"))
	for _, end := range []string{".zip", ".tar.gz", ".tgz", ".tar", ".mcpb", ".dxt", ".skill"} {
		base = strings.TrimSuffix(base, end)
	}
	return base
}

func sameEntry(a, b Record) bool {
	x, y := a.Entry, b.Entry
	return x == nil && y == nil || x != nil && y != nil && string(x.Fields) == string(y.Fields) && x.Loose == y.Loose
}

func short(s string) string { return s[:min(len(s), 12)] }

func list(before string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return before + strings.Join(items, "; ")
}

// started are the programs of the plugin that its hooks and servers start by
// their path. They alone become executable: everything else is only read.
func started(m *source.Manifest, programs []string) (out []string) {
	var text strings.Builder
	for _, g := range m.Hooks {
		for _, h := range g.Handlers {
			text.WriteString(h.Command + "\n" + strings.Join(h.Args, "\n") + "\n")
		}
	}
	for _, s := range m.Servers {
		text.Write(s)
	}
	all := strings.ReplaceAll(text.String(), `\"`, `"`)
	for _, p := range programs {
		for _, prefix := range []string{"PLUGIN_ROOT}/", `PLUGIN_ROOT}"/`, "PLUGIN_ROOT/", `PLUGIN_ROOT"/`} {
			if i := strings.Index(all, prefix+p); i >= 0 && ends(all[i+len(prefix)+len(p):]) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// ends reports whether a path ends before rest.
func ends(rest string) bool { return rest == "" || strings.ContainsAny(rest[:1], " \t\n\"';&|<>)\\") }

// Commit installs what was prepared, for one more scope.
func (p *Prepared) Commit(where ...Where) (Record, error) {
	if err := extract.Executable(p.dir, p.starts...); err != nil {
		return Record{}, err
	}
	r := p.Record
	r.Where = where
	return p.store.Commit(p.dir, r)
}

// Discard removes what was unpacked and not installed.
func (p *Prepared) Discard() error { return os.RemoveAll(p.staged) }

// Brings is what a person is shown before they agree.
type Brings struct {
	Description string          `json:"description"`
	Skills      []string        `json:"skills"` // ids
	Commands    []string        `json:"commands"`
	Agents      []string        `json:"agents"`
	Hooks       []string        `json:"hooks"`   // event, matcher and what runs
	Servers     []string        `json:"servers"` // names of MCP servers and what starts
	Options     []source.Option `json:"-"`
	Off         bool            `json:"off"` // it asks to be installed and not switched on
	Files       int             `json:"files"`
	Bytes       int64           `json:"bytes"`
	Skipped     []string        `json:"skipped"` // links that were left out
	Problems    []skill.Problem `json:"-"`
}

// Empty reports whether there is nothing in it.
func (b Brings) Empty() bool {
	return len(b.Skills)+len(b.Commands)+len(b.Agents)+len(b.Hooks)+len(b.Servers) == 0
}
