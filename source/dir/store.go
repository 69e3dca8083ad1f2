package dir

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/index"
)

// open returns the index of a root, nil if there is none that may be used:
// then the files are read, and the index is written anew.
func (c *Cache) open(r Root) *index.File {
	if c.dir == "" {
		return nil
	}
	path := c.path(r)
	if _, err := os.Lstat(path); err != nil {
		return nil // as for most roots; without asking who we are
	}
	id := r.identity(build())
	if id.Build == "" {
		return nil
	}
	f, err := index.Open(path, id)
	if err != nil {
		return nil
	}
	return f
}

func (c *Cache) path(r Root) string {
	id := r.identity("")
	return index.Path(c.dir, id.Root, id.Kind)
}

// identity says which index is that of r.
func (r Root) identity(build string) index.Identity {
	kind := "folders"
	if r.Source == skill.Legacy {
		kind = "commands"
	}
	return index.Identity{Build: build, Root: r.Path, Kind: kind}
}

// build names this program, or is empty when that is not known. An executable
// that was built in between reads files in its own way, even at one version.
func build() string {
	path, err := os.Executable()
	if runtime.GOOS == "linux" {
		path, err = "/proc/self/exe", nil // leads there also after an update
	}
	if err != nil {
		return ""
	}
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	name := strconv.FormatInt(st.Size(), 36) + " " + strconv.FormatInt(st.ModTime().UnixNano(), 36)
	if b, ok := debug.ReadBuildInfo(); ok {
		name += " " + b.String()
	}
	return name
}

// read takes what the file at p says from the index, if it is as it was, or
// from the file.
func (s *scan) read(r *reader, p place) reading {
	if s.index == nil {
		return r.parse(p, s.copies)
	}
	rec, ok := s.index.Find(below(s.root.Path, p.path))
	if real := rec.Real; !ok || real != p.real && !(real == "" && p.real == p.path) {
		return r.parse(p, s.copies)
	}
	var in info
	if err := lstat(p.real, &in); err != nil || !in.regular || in.Stamp != rec.Stamp {
		return r.parse(p, s.copies)
	}
	for i := range rec.Problems {
		rec.Problems[i].Path = p.path
	}
	rec.Skill.Origin = p.origin(in.Stamp)
	return reading{skill: rec.Skill, fields: rec.Fields, problems: rec.Problems, stamp: rec.Stamp, stored: true}
}

// below is how the index of a root calls the file at path.
func below(root, path string) string {
	return strings.TrimPrefix(path[min(len(root), len(path)):], string(filepath.Separator))
}

// Save writes the indexes of roots with many files of which many were read.
// What is not written is only read again; so callers need not do more about an
// error than tell those who want to know.
func (c *Cache) Save() error {
	if c == nil || c.dir == "" {
		return nil
	}
	c.mu.Lock()
	roots := maps.Clone(c.roots)
	c.mu.Unlock()
	name := ""
	var all error
	for r, k := range roots {
		if !k.unsaved() {
			continue
		}
		if name == "" {
			if name = build(); name == "" {
				return nil
			}
			if err := index.Writable(c.dir); err != nil {
				return err
			}
			all = index.Clean(c.dir, time.Now().Add(-indexAge))
		}
		all = errors.Join(all, k.save(r, c.path(r), name))
	}
	return all
}

// unsaved reports whether it is worth while to write the index again.
func (k *known) unsaved() bool {
	if len(k.entries) < indexFrom {
		return false
	}
	n := 0
	for _, e := range k.entries {
		if e.storable() && !e.stored.Load() {
			n++
		}
	}
	return n > 0 && n >= len(k.entries)/indexAfter
}

// storable reports whether a later process may rely on e. A version that is
// kept ends with its process (spec D-8).
func (e *entry) storable() bool { return e.settled && e.good == nil }

func (k *known) save(r Root, path, build string) error {
	w := index.NewWriter(r.identity(build))
	for _, e := range k.entries {
		if !e.storable() {
			continue
		}
		rec := index.Record{
			Path: below(r.Path, e.path), Stamp: e.stamp, Skill: e.skill,
			Fields: e.fields, Problems: e.problems,
		}
		if e.real != e.path {
			rec.Real = e.real
		}
		if !slices.ContainsFunc(e.problems, func(p skill.Problem) bool { return p.Path != e.path }) {
			w.Add(&rec) // what it does not take is read each time
		}
		e.stored.Store(true)
	}
	return w.Write(path)
}
