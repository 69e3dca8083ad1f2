package plugin

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/skill"
	source "github.com/knack-skills/knack/source/plugin"
	"github.com/knack-skills/knack/state"
)

// A Store is the directory in which plugins are kept. It is a value, and safe for
// concurrent use, also by several processes: what counts is the record, which
// changes as a whole after everything that it names is in place.
type Store struct {
	Dir string           // "plugins" in the state directory
	Now func() time.Time // nil means time.Now
}

// A Record is what is known of one installed plugin. The version at Path counts,
// whatever else lies in the cache.
type Record struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Market  string  `json:"market,omitempty"` // empty: from none
	Version string  `json:"version"`
	Path    string  `json:"path"` // below the store, with slashes
	Hash    string  `json:"hash"` // of the content
	Commit  string  `json:"commit,omitempty"`
	Origin  Origin  `json:"origin"`
	Entry   *entry  `json:"entry,omitempty"` // what the marketplace said of it
	Where   []Where `json:"where"`           // for whom it was installed
	// Needed says that it came as a dependency, and of which plugins.
	Needed []string `json:"needed,omitempty"`
}

// A Where is one installation: a scope, and the workspace of a project or local one.
type Where struct {
	Scope Scope  `json:"scope"`
	Dir   string `json:"dir,omitempty"`
}

// An entry is a [source.Entry] as it is stored.
type entry struct {
	Path   string          `json:"path"`
	Fields json.RawMessage `json:"fields"`
	Loose  bool            `json:"loose,omitempty"`
}

func (r Record) entry() *source.Entry {
	if r.Entry == nil {
		return nil
	}
	return &source.Entry{Path: r.Entry.Path, Fields: r.Entry.Fields, Loose: r.Entry.Loose}
}

// From says for a person what exactly is installed.
func (r Record) From() string {
	if r.Commit != "" {
		return r.Origin.String() + " (commit " + r.Commit[:min(len(r.Commit), 12)] + ")"
	}
	return r.Origin.String() + " (content " + r.Hash[:min(len(r.Hash), 12)] + ")"
}

// installed is the record file.
type installed struct {
	Plugins map[string]Record `json:"plugins"`
	// Retired are versions that were replaced, by path: a session that began
	// before still has them.
	Retired map[string]time.Time `json:"retired,omitempty"`
}

// keepRetired is how long a version stays after it was replaced.
const keepRetired = 14 * 24 * time.Hour

// keepStaged is after which time what is being unpacked was left behind by a
// process that died.
const keepStaged = 24 * time.Hour

func (s Store) file() state.File[installed] {
	path := ""
	if s.Dir != "" {
		path = filepath.Join(s.Dir, "installed.json")
	}
	return state.File[installed]{Path: path, Check: func(v installed) error {
		for id, r := range v.Plugins {
			if r.ID != id || !filepath.IsLocal(filepath.FromSlash(r.Path)) || !strings.HasPrefix(r.Path, "cache/") {
				return fmt.Errorf("the record of %q is not one of ours", id)
			}
		}
		return nil
	}}
}

// List returns what is installed, by id. Without a state directory nothing is.
func (s Store) List() ([]Record, error) {
	if s.Dir == "" {
		return nil, nil
	}
	v, err := s.file().Read()
	if err != nil {
		return nil, err
	}
	out := make([]Record, 0, len(v.Plugins))
	for _, id := range slices.Sorted(maps.Keys(v.Plugins)) {
		out = append(out, v.Plugins[id])
	}
	return out, nil
}

// ErrNotInstalled reports that there is no such plugin.
var ErrNotInstalled = errors.New("it is not installed")

// Find returns the plugin with that id, or the only one with that name.
func (s Store) Find(id string) (Record, error) {
	all, err := s.List()
	if err != nil {
		return Record{}, err
	}
	var like []string
	var found Record
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
		if r.Name == id {
			like, found = append(like, r.ID), r
		}
	}
	switch len(like) {
	case 0:
		return Record{}, fmt.Errorf("plugin %s: %w (see `knack plugin list`)", id, ErrNotInstalled)
	case 1:
		return found, nil
	}
	return Record{}, fmt.Errorf("%s can be any of %s; write one of these", id, strings.Join(like, ", "))
}

// Path returns the directory of an installed plugin.
func (s Store) Path(r Record) string { return filepath.Join(s.Dir, filepath.FromSlash(r.Path)) }

// Read reads the manifest of an installed plugin; see [source.Read].
func (s Store) Read(r Record) (*source.Manifest, []skill.Problem) {
	m, problems := source.Read(s.Path(r), r.entry())
	if m != nil {
		m.Name = r.Name
	}
	return m, problems
}

// DataDir is where plugins keep their own files, each in a directory named after it.
func (s Store) DataDir(name string) string { return filepath.Join(s.Dir, "data", plainName(name)) }

// plainName makes one harmless directory name of a name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
}

// Stage makes a new directory for files that are on their way into the store.
// Whoever asked for it removes it.
func (s Store) Stage() (string, error) {
	if s.Dir == "" {
		return "", state.ErrNoDirectory
	}
	dir := filepath.Join(s.Dir, "staging", rand.Text())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", state.ErrNoDirectory, err)
	}
	return dir, nil
}

// place is where a version lies. Its name holds a part of the content's hash: a
// version number that stays the same must not hide a change.
func place(r Record) string {
	market := r.Market
	if market == "" {
		market = Direct
	}
	version := strings.Trim(strings.Map(func(c rune) rune {
		if c == '.' || c == '+' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			return c
		}
		return '-'
	}, r.Version), ".-")
	version = version[:min(len(version), 64)]
	if version != "" {
		version += "-"
	}
	return "cache/" + plainName(market) + "/" + plainName(r.Name) + "/" + version + r.Hash[:12]
}

// Commit moves what was unpacked into staged to its place and makes it the
// version that counts. The record r needs no Path. A process that ends anywhere
// in here leaves the version before in force.
func (s Store) Commit(staged string, r Record) (Record, error) {
	err := s.file().Update(func(v *installed) error {
		if v.Plugins == nil {
			v.Plugins = map[string]Record{}
		}
		if v.Retired == nil {
			v.Retired = map[string]time.Time{}
		}
		old, had := v.Plugins[r.ID]
		r.Path = place(r)
		final := s.Path(r)
		if _, err := os.Stat(final); errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
				return err
			}
			if err := os.Rename(staged, final); err != nil {
				return fmt.Errorf("putting the plugin in its place: %w", err)
			}
		} else if err != nil {
			return err
		}
		if err := os.MkdirAll(s.DataDir(r.Name), 0o700); err != nil {
			return err
		}
		delete(v.Retired, r.Path)
		if had && old.Path != r.Path {
			v.Retired[old.Path] = s.now()
		}
		r.Where = merge(old.Where, r.Where)
		r.Needed = merge(old.Needed, r.Needed)
		v.Plugins[r.ID] = r
		s.sweep(v)
		return nil
	})
	return r, err
}

func merge[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// Remove takes one installation of a plugin away, and with the last one its files
// and, unless keepData, its data. gone reports that it was the last one.
func (s Store) Remove(id string, where Where, keepData bool) (gone bool, err error) {
	err = s.file().Update(func(v *installed) error {
		r, ok := v.Plugins[id]
		if !ok {
			return fmt.Errorf("plugin %s: %w", id, ErrNotInstalled)
		}
		r.Where = slices.DeleteFunc(slices.Clone(r.Where), func(w Where) bool { return w == where })
		if len(r.Where) > 0 {
			v.Plugins[id] = r
			return nil
		}
		gone = true
		delete(v.Plugins, id)
		delete(v.Retired, r.Path)
		if err := os.RemoveAll(s.Path(r)); err != nil {
			return err
		}
		others := slices.ContainsFunc(slices.Collect(maps.Values(v.Plugins)), func(o Record) bool { return plainName(o.Name) == plainName(r.Name) })
		if !keepData && !others {
			if err := os.RemoveAll(s.DataDir(r.Name)); err != nil {
				return err
			}
		}
		s.sweep(v)
		return nil
	})
	return gone, err
}

// sweep removes versions that were replaced long ago, and what processes that
// died left behind. What cannot be removed stays for the next time.
func (s Store) sweep(v *installed) {
	for path, since := range v.Retired {
		if s.now().Sub(since) < keepRetired {
			continue
		}
		if filepath.IsLocal(filepath.FromSlash(path)) && strings.HasPrefix(path, "cache/") {
			_ = os.RemoveAll(filepath.Join(s.Dir, filepath.FromSlash(path)))
		}
		delete(v.Retired, path)
	}
	staging := filepath.Join(s.Dir, "staging")
	entries, err := os.ReadDir(staging)
	if err != nil {
		return
	}
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && s.now().Sub(fi.ModTime()) > keepStaged {
			_ = os.RemoveAll(filepath.Join(staging, e.Name()))
		}
	}
}

func (s Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}
