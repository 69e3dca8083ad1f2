// Package dir reads skill folders and legacy command files below one root
// directory (spec C-2 to C-4, C-7, C-11). It knows which directories are roots,
// finds the files in them, and reads as much of each file as loading needs.
// What a file says is the business of package frontmatter; which of two equal
// skills counts is the business of the catalog.
//
// Directories and files belong to other people: links, devices, endless trees
// and files that disappear are ordinary input here. Each costs one
// [skill.Problem] and leaves the other skills alone.
//
// All types are plain values and safe for concurrent use.
package dir

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/index"
)

// MaxDirectories is how many directories of one root are looked at (spec C-3).
const MaxDirectories = 20_000

// maxDepth is how far below its root a skill may lie; the skill's own
// directory counts (spec C-3).
const maxDepth = 3

// A Root is one directory that holds skills. It implements catalog.Source. The
// zero Origin fields below Root are filled in for every skill found.
type Root struct {
	Path     string       // directory, as found
	Source   skill.Source // Managed, User, Project, Additional, Legacy or Plugin
	Scope    skill.Source // Legacy and Plugin: whose it is, see skill.Origin
	Distance int          // see skill.Origin
	Below    string       // see skill.Origin
	// Boundary is the directory that links may not leave (spec C-7): the
	// repository root. Empty follows links anywhere (managed and user roots).
	Boundary string
	// Cache remembers what files said, so that the next Load reads only those
	// that changed; nil remembers nothing. With one, two loads may return the
	// same skill: whoever changes skills copies them before.
	Cache *Cache
}

// Load reads all skills of the root. A root that does not exist is empty.
// Whatever is wrong becomes a problem; the error is only that of ctx.
//
// The result is the same for the same tree, whatever the order in which the
// file system lists it (spec C-11): skills in real directories before skills
// behind links, then shallower before deeper, then by byte order.
func (r Root) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if abs, err := filepath.Abs(r.Path); err == nil {
		r.Path = abs
	}
	s := &scan{root: r, only: r.Cache.limit(), copies: r.Cache.copies()}
	top, ok := s.open()
	if !ok {
		return s.absent(ctx), s.sorted(), nil
	}
	s.recall()
	load := s.folders
	if r.Source == skill.Legacy {
		load = s.commands
	}
	skills, err := load(ctx, top)
	if err != nil {
		return nil, nil, err
	}
	r.Cache.remember(ctx, s)
	return skills, s.sorted(), nil
}

// A scan is one run of [Root.Load].
type scan struct {
	root     Root
	fence    *fence
	looked   int  // directories looked at so far
	full     bool // the limit of them was reached
	gone     bool // something disappeared while it was looked at
	skills   []*skill.Skill
	problems []skill.Problem

	before *known      // what the last load found; nil without one
	index  *index.File // of an earlier process; nil without one
	now    []*entry    // what this load found

	copies  *copies                // what this load and its neighbours read
	only    func(path string) bool // see Cache.Limit; nil is no limit
	refused map[string]finding     // see known
}

// open resolves the root and its boundary. It reports false when there is
// nothing to scan, having noted why unless the root is simply absent.
func (s *scan) open() (*group, bool) {
	s.problems = append(s.problems, wrongCase(s.root.Path)...)
	real, err := resolveDir(s.root.Path)
	if err != nil {
		if !absent(s.root.Path, err) {
			s.note(problemOf(s.root.Path, err))
		}
		return nil, false
	}
	s.fence = &fence{root: real}
	if s.root.Boundary != "" {
		// A boundary that cannot be resolved is kept as it is: then nothing
		// that a link leads to counts as being inside.
		s.fence.boundary = s.root.Boundary
		if b, err := filepath.EvalSymlinks(s.root.Boundary); err == nil {
			s.fence.boundary = b
		}
		if !inside(s.fence.boundary, real) { // spec C-7: the root itself is a link that leads out
			s.note(problem(leavesRoot, s.root.Path, "the directory leads to "+real+", outside "+s.fence.boundary))
			return nil, false
		}
	}
	return &group{dir: s.root.Path, real: real}, true
}

func (s *scan) note(p skill.Problem) { s.problems = append(s.problems, p) }

func (s *scan) sorted() []skill.Problem {
	slices.SortFunc(s.problems, skill.CompareProblems)
	return s.problems
}

// LoadFile reads one SKILL.md or command file outside any root (for tools such
// as "knack check PATH"). Links may lead anywhere: the caller chose the path.
// The skill's Origin has no Source. See [Root.File].
func LoadFile(path string) (*skill.Skill, []skill.Problem) { return Root{}.File(path) }

// File reads one skill that lies below r without being found by [Root.Load].
// path is a SKILL.md or a directory with one; any other file is read as a
// command file. The skill is nil when the file is refused.
func (r Root) File(path string) (*skill.Skill, []skill.Problem) {
	if isDir(path) {
		name, err := skillFileIn(path)
		if err != nil {
			return nil, []skill.Problem{problemOf(path, err)}
		}
		path = filepath.Join(path, name)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, []skill.Problem{problemOf(path, err)}
	}
	s := &scan{root: r, fence: new(fence)}
	dir, base := filepath.Split(abs)
	dir = filepath.Clean(dir)
	if r.Path == "" {
		s.root.Path = dir
	} else if _, ok := s.open(); !ok {
		return nil, s.sorted()
	}
	real, err := s.fence.file(abs)
	if err != nil {
		return nil, []skill.Problem{problemOf(path, err)}
	}
	p := place{
		path: path, real: real,
		linked: real != filepath.Join(physical(dir), base),
		legacy: !strings.EqualFold(base, skillFile),
	}
	rd := new(reader).parse(p, nil)
	sk, problems := rd.skill, rd.problems
	if sk == nil {
		return nil, problems
	}
	if p.legacy {
		sk.ID = identity(strings.TrimSuffix(base, filepath.Ext(base)))
		sk.Content.Positional = true
	} else {
		sk.ID = identity(filepath.Base(dir))
		sk.Origin.Dir = dir
		if base != skillFile {
			problems = append(problems, wrongFileName(path))
		}
	}
	s.complete(sk)
	sk.Content.Body = &body{path: abs, dir: sk.Origin.Dir, fence: s.fence}
	return sk, problems
}

// skillFileIn returns the name of the file that makes dir a skill (spec F-1).
func skillFileIn(dir string) (string, error) {
	entries, err := list(dir)
	if err != nil {
		return "", err
	}
	name := ""
	for _, e := range entries {
		if e.Name() == skillFile || name == "" && strings.EqualFold(e.Name(), skillFile) {
			name = e.Name()
		}
	}
	if name == "" {
		return "", refuse(noSkillFile, "the directory has no SKILL.md")
	}
	return name, nil
}
