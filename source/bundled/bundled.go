// Package bundled turns skills that are compiled into a program into catalog
// entries, and extracts their resource files on first use (spec B-1, B-2, S-15).
package bundled

import (
	"context"
	"io/fs"

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
}

// A Source supplies compiled-in skills. It implements catalog.Source.
type Source struct { /* to be written */
}

// New returns a source of skills whose resource files are extracted below
// cacheDir (empty: a directory in os.UserCacheDir). No file is touched here.
func New(cacheDir string, skills ...Skill) *Source { panic("to be written") }

// Load returns the skills. It does no file I/O.
func (s *Source) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	panic("to be written")
}
