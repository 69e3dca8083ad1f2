package plugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/knack-skills/knack/extract"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
	source "github.com/knack-skills/knack/source/plugin"
)

// A Lone skill is one skill folder that was unpacked and is not installed yet. It
// is discarded like a [Prepared].
type Lone struct {
	Name     string
	Skill    *skill.Skill
	Problems []skill.Problem
	Dir      string // where it is unpacked
	From     Origin
	Files    int
	Bytes    int64
	Skipped  []string

	staged string
}

// Discard removes what was unpacked.
func (l *Lone) Discard() error { return os.RemoveAll(l.staged) }

// Add gets what is at o and says what it is: a lone skill (spec X-5), or a plugin,
// a bundle included. One of both is not nil unless there is an error.
func (in Installer) Add(ctx context.Context, o Origin) (*Lone, []*Prepared, error) {
	if err := in.Policy.Allows("", o); err != nil {
		return nil, nil, err
	}
	staged, err := in.Store.Stage()
	if err != nil {
		return nil, nil, err
	}
	into := filepath.Join(staged, "files")
	var got Fetched
	if err = os.Mkdir(into, 0o700); err == nil {
		got, err = in.Fetch.Fetch(ctx, o, into)
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(staged))
	}
	if !lone(got.Dir) {
		all, err := Installer{in.Store, arrived{got}, in.Policy}.PrepareAll(ctx, "", "", o)
		return nil, all, errors.Join(err, os.RemoveAll(staged))
	}
	l := &Lone{Dir: got.Dir, From: o, Files: got.Summary.Files, Bytes: got.Summary.Bytes, Skipped: got.Summary.Skipped, staged: staged}
	l.Skill, l.Problems = dir.LoadFile(filepath.Join(got.Dir, "SKILL.md"))
	if l.Skill == nil {
		return nil, nil, errors.Join(errors.New(l.Problems[0].Message), l.Discard())
	}
	if got.Dir != into {
		l.Name = filepath.Base(got.Dir)
	} else if l.Name = l.Skill.Name; !source.PlainName(l.Name) {
		l.Name = nameOf(o)
	}
	if l.Name = cmp.Or(l.Name, nameOf(o)); !source.PlainName(l.Name) || l.Name[0] == '.' {
		return nil, nil, errors.Join(fmt.Errorf("%q cannot be the name of a skill", l.Name), l.Discard())
	}
	return l, nil, nil
}

// lone reports whether a directory is one skill and nothing else.
func lone(dir string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil
	}
	return has("SKILL.md") && !has(source.ManifestFile) && !has("skills") && !has("hooks/hooks.json") && !has(".mcp.json")
}

// arrived gives what was fetched before to whoever asks for it.
type arrived struct{ got Fetched }

// Fetch moves the files.
func (a arrived) Fetch(_ context.Context, _ Origin, into string) (Fetched, error) {
	if err := os.Remove(into); err != nil {
		return Fetched{}, err
	}
	got := a.got
	if err := os.Rename(got.Dir, into); err != nil {
		return Fetched{}, err
	}
	got.Dir = into
	return got, nil
}

// Install puts the skill into a directory of skills. One of the name that is there
// is replaced as a whole, or stays when anything fails.
func (l *Lone) Install(ctx context.Context, skills string) (path string, err error) {
	if err := os.MkdirAll(skills, 0o755); err != nil {
		return "", err
	}
	// A dot directory is no skill to anybody who looks meanwhile.
	next := filepath.Join(skills, ".knack-"+rand.Text())
	if err := os.Mkdir(next, 0o700); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(next)) }()
	from, err := os.OpenRoot(l.Dir)
	if err != nil {
		return "", err
	}
	defer from.Close()
	fresh := filepath.Join(next, "new")
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return "", err
	}
	w, err := extract.New(fresh, extract.Limits{})
	if err != nil {
		return "", err
	}
	defer w.Close()
	if err := w.Tree(ctx, from, "."); err != nil {
		return "", err
	}
	path = filepath.Join(skills, l.Name)
	if fi, err := os.Lstat(path); err == nil {
		if !fi.IsDir() {
			return "", fmt.Errorf("%s is a link or a file, and is not replaced", path)
		}
		if err := os.Rename(path, filepath.Join(next, "old")); err != nil {
			return "", err
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", errors.Join(err, os.Rename(filepath.Join(next, "old"), path))
	}
	return path, nil
}
