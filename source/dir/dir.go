// Package dir reads skill folders and legacy command files below one root
// directory (spec C-2 to C-4, C-7, C-11).
package dir

import (
	"context"

	"github.com/knack-skills/knack/skill"
)

// MaxDirectories is how many directories of one root are looked at (spec C-3).
const MaxDirectories = 20_000

// A Root is one directory that holds skills. It implements catalog.Source. The
// zero Origin fields below Root are filled in for every skill found.
type Root struct {
	Path     string       // directory, as found
	Source   skill.Source // Managed, User, Project, Additional or Legacy
	Scope    skill.Source // Legacy only: User, Project or Additional
	Distance int          // see skill.Origin
	Below    string       // see skill.Origin
	// Boundary is the directory that links may not leave (spec C-7): the
	// repository root. Empty follows links anywhere (managed and user roots).
	Boundary string
}

// Load reads all skills of the root. A root that does not exist is empty.
// Whatever is wrong becomes a problem; the error is only that of ctx.
func (r Root) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	panic("to be written")
}

// LoadFile reads one SKILL.md or command file outside any root (for tools such
// as "knack check PATH").
func LoadFile(path string) (*skill.Skill, []skill.Problem) { panic("to be written") }

// A Place says where to look for roots (spec C-2).
type Place struct {
	WorkDir           string   // absolute; logical or physical
	Home              string   // home directory; empty means os.UserHomeDir
	ConfigDir         string   // replaces Home/.claude (CLAUDE_CONFIG_DIR)
	Managed           []string // managed directories; nil means [ManagedDirs]
	AddDirs           []string // --add-dir, in flag order
	NoUser, NoProject bool     // --setting-sources without them
}

// ManagedDirs returns the managed directories of this operating system, or the
// one named by override (KNACK_MANAGED_DIR).
func ManagedDirs(override string) []string { panic("to be written") }

// RepositoryRoot returns the nearest directory at or above dir with a .git file
// or directory, or "".
func RepositoryRoot(dir string) string { panic("to be written") }

// ProjectDirs returns the directories whose .claude belongs to the project,
// nearest first (spec C-2).
func (p Place) ProjectDirs() []string { panic("to be written") }

// Roots returns every root to load, existing or not, in default order.
func (p Place) Roots() []Root { panic("to be written") }
