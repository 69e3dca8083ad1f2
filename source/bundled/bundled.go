// Package bundled turns skills that are compiled into a program into catalog
// entries, and extracts their resource files on first use (spec B-1, B-2, S-15).
//
// A [Source] is safe for concurrent use.
package bundled

import (
	"context"
	"fmt"
	"io/fs"
	"sync"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// A Skill is one compiled-in skill: a plain value, registered by putting it in
// a [Source] (spec B-1).
type Skill struct {
	// ID is the skill's identity.
	ID string
	// File is a complete SKILL.md, frontmatter included.
	File string
	// Files holds optional resource files; nil has none.
	Files fs.FS
	// Enabled is asked each time a list is built; nil means always.
	Enabled func() bool
	// Feature is the part of the program without which the skill makes no
	// sense; nil needs none.
	Feature *Feature
}

// A Feature is a part of the program that not every build and not every run
// has. Both of its switches have to be on (spec B-1).
type Feature struct {
	Name string // for people, such as "schedules"
	// Built is the compiled-in switch. A skill whose feature is not built in is
	// no entry at all, so that it takes its name from nobody (spec C-5).
	Built bool
	// On is the run-time switch, asked each time a list is built. A host that
	// has the feature sets it; nil means off.
	On func() bool
}

// enabled returns what is asked each time a list is built; nil means always.
func (s Skill) enabled() func() bool {
	f, own := s.Feature, s.Enabled
	if f == nil {
		return own
	}
	return func() bool { return f.On != nil && f.On() && (own == nil || own()) }
}

// A Source supplies compiled-in skills. It implements catalog.Source.
type Source struct {
	bodies []*body
	cache  cache
}

// New returns a source of skills whose resource files are extracted below
// cacheDir (empty: a directory in os.UserCacheDir). No file is touched here.
// Skills whose feature is not built in are left out.
func New(cacheDir string, skills ...Skill) *Source {
	s := &Source{cache: cache{parent: cacheDir}}
	for _, sk := range skills {
		if sk.Feature != nil && !sk.Feature.Built {
			continue
		}
		b := &body{skill: sk}
		if sk.Files != nil {
			b.dir = sync.OnceValues(func() (string, error) { return s.cache.extract(sk) })
		}
		s.bodies = append(s.bodies, b)
	}
	return s
}

// Load returns the skills. It does no file I/O. The error is only that of ctx.
func (s *Source) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var skills []*skill.Skill
	var problems []skill.Problem
	for _, b := range s.bodies {
		// There is no file; the name only says which skill a problem is in.
		doc, found := frontmatter.Parse("bundled/"+b.skill.ID+"/SKILL.md", []byte(b.skill.File))
		sk := new(skill.Skill)
		found = append(found, doc.Fill(sk, false)...)
		problems = append(problems, found...)
		sk.ID = b.skill.ID
		sk.Trigger.Enabled = b.skill.enabled()
		sk.Origin = skill.Origin{Source: skill.Bundled}
		sk.Content.Bytes = int64(len(doc.Body))
		sk.Content.Body = b
		skills = append(skills, sk)
	}
	return skills, problems, nil
}

// Close removes everything that was extracted. Instructions that were loaded
// before name directories that no longer exist.
func (s *Source) Close() error { return s.cache.remove() }

// A body is the text of one skill.
type body struct {
	skill Skill
	dir   func() (string, error) // extracts once; nil without files
}

// Source returns the whole SKILL.md. There is no file that could be read.
func (b *body) Source() string { return b.skill.File }

// Load returns the text. The first call extracts the skill's files. If that
// fails, the skill runs without its base directory and a note tells why
// (spec B-2).
func (b *body) Load(ctx context.Context) (skill.Instructions, error) {
	if err := ctx.Err(); err != nil {
		return skill.Instructions{}, err
	}
	text, line, err := frontmatter.SplitBody([]byte(b.skill.File))
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("bundled skill %s: %w", b.skill.ID, err)
	}
	in := skill.Instructions{Text: text, Line: line, Source: b.skill.File}
	if b.dir == nil {
		return in, nil
	}
	if in.Dir, err = b.dir(); err != nil {
		in.Note = fmt.Sprintf("the files of the bundled skill %s could not be extracted, so it runs without them: %v", b.skill.ID, err)
	}
	return in, nil
}
