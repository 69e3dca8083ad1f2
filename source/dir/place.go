package dir

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/knack-skills/knack/skill"
)

// twins are the directories that hold skills, the first one first (spec C-2).
var twins = []string{".claude", ".agents"}

// managedDirs are the managed directories by operating system; the empty key
// stands for all others (spec C-2).
var managedDirs = map[string][]string{
	"darwin":  {"/Library/Application Support/ClaudeCode"},
	"windows": {`C:\Program Files\ClaudeCode`},
	"":        {"/etc/claude-code", "/etc/claude"},
}

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
func ManagedDirs(override string) []string {
	if override != "" {
		return []string{override}
	}
	if dirs, ok := managedDirs[runtime.GOOS]; ok {
		return slices.Clone(dirs)
	}
	return slices.Clone(managedDirs[""])
}

// RepositoryRoot returns the nearest directory at or above dir with a .git file
// or directory, or "".
func RepositoryRoot(dir string) string {
	for d := range upward(dir) {
		st, err := os.Stat(filepath.Join(d, ".git"))
		if err == nil && (st.IsDir() || st.Mode().IsRegular()) {
			return d
		}
	}
	return ""
}

// upward yields dir and the directories above it.
func upward(dir string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for dir = filepath.Clean(dir); yield(dir); dir = filepath.Dir(dir) {
			if dir == filepath.Dir(dir) {
				return
			}
		}
	}
}

// physical returns dir without links, or cleaned if it cannot be resolved.
func physical(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// home returns the home directory, or "" if there is none.
func (p Place) home() string {
	if p.Home != "" {
		return p.Home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// absolute expands a leading ~ and makes dir absolute, relative to the working
// directory.
func (p Place) absolute(dir string) string {
	if rest, ok := skill.CutHome(dir); ok {
		if home := p.home(); home != "" {
			dir = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.WorkDir, dir)
	}
	return filepath.Clean(dir)
}

// ProjectDirs returns the directories whose .claude belongs to the project,
// nearest first (spec C-2). They are physical, so that the result does not
// depend on the links by which the working directory was reached.
func (p Place) ProjectDirs() []string {
	work := physical(p.WorkDir)
	if top := RepositoryRoot(work); top != "" {
		return between(work, top)
	}
	if home := p.home(); home != "" {
		home = physical(home)
		if home != work && inside(home, work) {
			dirs := between(work, home)
			return dirs[:len(dirs)-1]
		}
	}
	return []string{work}
}

// between returns the directories from low up to high, both included.
func between(low, high string) []string {
	var dirs []string
	for d := range upward(low) {
		dirs = append(dirs, d)
		if d == high {
			break
		}
	}
	return dirs
}

// Roots returns every root to load, existing or not, in default order.
//
// Distance numbers the directories of each source in that order; .claude and
// .agents of one directory have the same. A directory that is both the user's
// and the project's is the user's alone.
func (p Place) Roots() []Root {
	var l roots
	managed := p.Managed
	if managed == nil {
		managed = ManagedDirs("")
	}
	for i, d := range managed {
		l.skills(Root{Source: skill.Managed, Distance: i}, d)
	}
	home, config := p.home(), p.ConfigDir
	if config != "" {
		config = p.absolute(config)
	} else if home != "" {
		config = filepath.Join(home, ".claude")
	}
	l.reserve = p.NoUser
	if config != "" {
		l.add(Root{Path: filepath.Join(config, "skills"), Source: skill.User})
	}
	if home != "" {
		l.add(Root{Path: filepath.Join(home, ".agents", "skills"), Source: skill.User})
	}
	l.reserve = false

	var project []string
	if !p.NoProject {
		project = p.ProjectDirs()
	}
	for i, d := range project {
		l.skills(Root{Source: skill.Project, Distance: i, Boundary: boundary(d)}, d)
	}
	l.additional(p)
	l.legacy(p, project, config)
	return l.list
}

// Additional returns the roots of AddDirs alone, for a run that has no other
// skills (spec A-7). A directory that is the user's or the project's as well
// counts too.
func (p Place) Additional() []Root {
	var l roots
	l.additional(p)
	return l.list
}

func (l *roots) additional(p Place) {
	for i, d := range p.AddDirs {
		d = p.absolute(d)
		l.skills(Root{Source: skill.Additional, Distance: i, Boundary: boundary(d)}, d)
	}
}

// legacy adds the directories of command files. The user's is looked up first
// so that it never counts as the project's, but comes last (spec C-5).
func (l *roots) legacy(p Place, project []string, config string) {
	var user []Root
	if config != "" {
		n := len(l.list)
		l.reserve = p.NoUser
		l.add(Root{Path: filepath.Join(config, "commands"), Source: skill.Legacy, Scope: skill.User})
		l.reserve = false
		user = slices.Clone(l.list[n:])
		l.list = l.list[:n]
	}
	for i, d := range project {
		l.add(Root{
			Path:   filepath.Join(d, ".claude", "commands"),
			Source: skill.Legacy, Scope: skill.Project, Distance: i, Boundary: boundary(d),
		})
	}
	l.list = append(l.list, user...)
}

// boundary is where links of the directory dir may lead (spec C-7): into its
// repository or, without one, into dir.
func boundary(dir string) string {
	if top := RepositoryRoot(physical(dir)); top != "" {
		return top
	}
	return dir
}

// A roots list collects roots and leaves out directories that it has already.
type roots struct {
	list    []Root
	seen    []string // physical
	reserve bool     // remember directories, but do not list them
}

// skills adds both twins of dir, as r says.
func (l *roots) skills(r Root, dir string) {
	for _, twin := range twins {
		r.Path = filepath.Join(dir, twin, "skills")
		l.add(r)
	}
}

func (l *roots) add(r Root) {
	// Only what lies above .claude is resolved here: skills that two roots
	// share through links below are the catalog's to recognize (spec C-7).
	base := filepath.Dir(filepath.Dir(r.Path))
	key := filepath.Join(physical(base), r.Path[len(base):])
	if slices.Contains(l.seen, key) {
		return
	}
	l.seen = append(l.seen, key)
	if !l.reserve {
		l.list = append(l.list, r)
	}
}
