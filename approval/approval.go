// Package approval remembers which skills a person allowed for good, bound to
// what the skills consist of (spec S-14): when a file of one changes, the
// approval does not hold any more, and what changed can be shown.
//
// An approval belongs to one workspace and one qualified id, so that a skill of
// the same name in another repository is not covered. Whether there has to be
// one, and who is asked, is decided elsewhere.
package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack/state"
)

// A Store keeps approvals in the state directory, one file for each (spec M-5).
// It is a value, and safe for concurrent use, also by several processes. Without
// a Dir nothing is known, and nothing can be stored.
type Store struct {
	Dir string           // the directory of all approvals
	Now func() time.Time // nil means time.Now
}

// A Key says what an approval is about.
type Key struct {
	Workspace string // the root of the workspace
	Skill     string // qualified id
}

// A Record is one approval, as it is stored.
type Record struct {
	ID        string          `json:"-"` // names it for [Store.Revoke]
	Workspace string          `json:"workspace"`
	Skill     string          `json:"skill"`
	Hash      string          `json:"hash"`
	Terms     string          `json:"terms"`
	Time      time.Time       `json:"time"`
	Files     map[string]File `json:"files"`
}

// A Standing is how a content stands towards what was approved.
type Standing struct {
	Approved bool     // exactly this was approved
	Known    bool     // something was approved for its key
	Changed  []string // Known and not Approved: what differs, in words
	Diff     string   // the differences of text files, unified and cut to a bearable length
}

// errNoStore says what to do without a state directory.
var errNoStore = errors.New("there is no state directory; set KNACK_STATE_DIR to one of your own")

// Look compares c with what was approved. With an error nothing is approved: a
// file that is damaged is no approval.
func (s Store) Look(k Key, c Content) (Standing, error) {
	if s.Dir == "" {
		return Standing{}, nil
	}
	root, err := state.RealPath(k.Workspace)
	if err != nil {
		return Standing{}, fmt.Errorf("approval of %s: %w", k.Skill, err)
	}
	r, err := s.file(idOf(root, k.Skill)).Read()
	switch {
	case err != nil:
		return Standing{}, fmt.Errorf("approval of %s: %w", k.Skill, err)
	case r.Hash == "":
		return Standing{}, nil // there is no file
	case r.Workspace != root || r.Skill != k.Skill:
		return Standing{}, fmt.Errorf("approval of %s: the stored one is about %s in %s", k.Skill, r.Skill, r.Workspace)
	case c.Loose == "" && r.Hash == c.Hash && r.Terms == c.Terms:
		return Standing{Approved: true, Known: true}, nil
	}
	st := Standing{Known: true, Changed: changes(r.Files, c.Files), Diff: diffFiles(r.Files, c.Files)}
	if len(st.Changed) == 0 {
		st.Changed = []string{"what its frontmatter said when it was loaded"}
	}
	return st, nil
}

// Approve remembers that the person allowed c. It takes the place of what was
// approved before.
func (s Store) Approve(k Key, c Content) error {
	switch {
	case s.Dir == "":
		return errNoStore
	case c.Loose != "":
		return fmt.Errorf("an approval of %s cannot be kept: %s", k.Skill, c.Loose)
	case c.Terms == "":
		return fmt.Errorf("an approval of %s cannot be kept: its frontmatter cannot be written down", k.Skill)
	}
	root, err := state.RealPath(k.Workspace)
	if err != nil {
		return fmt.Errorf("approval of %s: %w", k.Skill, err)
	}
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	r := Record{Workspace: root, Skill: k.Skill, Hash: c.Hash, Terms: c.Terms, Time: now().UTC().Truncate(time.Second), Files: c.Files}
	store := func(stored *Record) error { *stored = r; return nil }
	f := s.file(idOf(root, k.Skill))
	err = f.Update(store)
	if errors.Is(err, state.ErrTooLarge) {
		r.Files = bare(c.Files) // a change can be named then, and not shown
		err = f.Update(store)
	}
	if err != nil {
		return fmt.Errorf("approval of %s: %w", k.Skill, err)
	}
	return nil
}

func bare(files map[string]File) map[string]File {
	out := make(map[string]File, len(files))
	for p, f := range files {
		out[p] = File{Sum: f.Sum, Size: f.Size}
	}
	return out
}

// idOf names an approval. The separator is in no path and in no id.
func idOf(root, skill string) string { return sum([]byte(root + "\x00" + skill))[:16] }

func (s Store) file(id string) state.File[Record] {
	return state.File[Record]{Path: filepath.Join(s.Dir, id+".json"), Check: check}
}

// check refuses a record that does not say of itself what was approved.
func check(r Record) error {
	switch {
	case r.Hash == "" || r.Terms == "" || r.Skill == "" || r.Workspace == "":
		return errors.New("it does not say what was approved")
	case r.Hash != sumOf(r.Files):
		return errors.New("its hash is not that of its files")
	}
	for p, f := range r.Files {
		if f.Kept && f.Sum != sum([]byte(f.Text)) {
			return fmt.Errorf("its copy of %q is not what was approved", p)
		}
	}
	return nil
}

// List returns what was approved, by workspace and skill. A file that cannot be
// read is an error beside the others.
func (s Store) List(ctx context.Context) ([]Record, error) {
	if s.Dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Record
	var failed []error
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || e.IsDir() {
			continue
		}
		r, err := s.file(id).Read()
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if r.ID = id; r.Hash != "" { // it may have gone since
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Record) int {
		return cmp.Or(strings.Compare(a.Workspace, b.Workspace), strings.Compare(a.Skill, b.Skill))
	})
	return out, errors.Join(failed...)
}

// ErrUnknown reports an id that names no approval.
var ErrUnknown = errors.New("there is no such approval")

// Revoke forgets an approval. A damaged file can be revoked, too.
func (s Store) Revoke(id string) error {
	if s.Dir == "" || id == "" || strings.ContainsFunc(id, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) {
		return fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	err := os.Remove(filepath.Join(s.Dir, id+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	return err
}

// changes names the files that differ.
func changes(old, now map[string]File) []string {
	var out []string
	for _, p := range allPaths(old, now) {
		was, before := old[p]
		is, after := now[p]
		switch {
		case !before:
			out = append(out, p+" is new")
		case !after:
			out = append(out, p+" is gone")
		case was.Sum != is.Sum:
			out = append(out, p+" has changed")
		}
	}
	return out
}

func allPaths(old, now map[string]File) []string {
	all := maps.Clone(old)
	if all == nil {
		all = map[string]File{}
	}
	maps.Copy(all, now)
	return slices.Sorted(maps.Keys(all))
}
