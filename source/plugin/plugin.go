// Package plugin reads one plugin's directory (spec C-1, C-6, X-1): its skills
// as a [Source], and what else it brings as a [Manifest]. Installing, enabling
// and updating plugins is not its business, and neither is running anything.
//
// A [Source] is a plain value and safe for concurrent use.
package plugin

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
)

// A Source is one enabled plugin directory. It implements catalog.Source.
type Source struct {
	Name  string       // namespace; empty means the manifest's name, else the directory's
	Dir   string       // the plugin's directory
	Scope skill.Source // whose it is, see skill.Origin; may be empty
	Entry *Entry       // what its marketplace says of it; nil without one
	Files *dir.Cache   // remembers skill files, see dir.Root; nil reads all of them each time
}

// Load reads skills/, commands/ and a root SKILL.md; ids are "plugin:skill".
// What the manifest names is read as well: "skills" adds to skills/, "commands"
// replaces commands/ (spec X-1). A plugin whose manifest is wrong has no
// skills, and one problem that says why. The error is only that of ctx.
func (s Source) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if abs, err := filepath.Abs(s.Dir); err == nil {
		s.Dir = abs
	}
	// Hooks and servers are read for what is wrong with them: who uses them later
	// has nobody to tell.
	m, problems := Read(s.Dir, s.Entry)
	if m == nil {
		return nil, problems, nil
	}
	l := &load{Source: s, problems: problems, seen: make(map[string]bool)}
	if l.Name == "" {
		l.Name = m.Name
	}
	standard := []string{"skills"}
	if m.parts.only {
		standard = nil
	}
	if !m.parts.only || slices.Contains(m.parts.skills, ".") {
		l.rootSkill()
	}
	for _, p := range slices.Concat(standard, m.parts.skills) {
		if err := l.skills(ctx, filepath.Join(s.Dir, p)); err != nil {
			return nil, nil, err
		}
	}
	commands := m.parts.commands
	if commands == nil {
		commands = []string{"commands"}
	}
	for _, p := range commands {
		if err := l.commands(ctx, filepath.Join(s.Dir, p)); err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(l.problems, skill.CompareProblems)
	return l.found, l.problems, nil
}

// A load is one run of [Source.Load].
type load struct {
	Source
	found    []*skill.Skill
	problems []skill.Problem
	seen     map[string]bool // files, so that naming a directory twice does no harm
}

// root is a directory or file of the plugin; links may not leave the plugin
// (spec C-7).
func (l *load) root(kind skill.Source, path string) dir.Root {
	return dir.Root{Path: path, Source: kind, Scope: l.Scope, Boundary: l.Dir, Cache: l.Files}
}

// rootSkill reads the SKILL.md of a single-skill plugin. The directory's name
// is often a version, so the skill is called by its display name, or like the
// plugin.
func (l *load) rootSkill() {
	path := filepath.Join(l.Dir, "SKILL.md")
	if _, err := os.Lstat(path); err != nil {
		return
	}
	sk, problems := l.root(skill.Plugin, l.Dir).File(path)
	l.problems = append(l.problems, problems...)
	if sk == nil {
		return
	}
	sk.ID = l.Name
	if bare := strings.TrimPrefix(sk.Name, l.Name+":"); PlainName(bare) {
		sk.ID = bare
	}
	l.add(sk)
}

// skills reads a directory of skill folders, or one skill folder.
func (l *load) skills(ctx context.Context, path string) error {
	if _, err := os.Lstat(filepath.Join(path, "SKILL.md")); err == nil {
		if path == l.Dir {
			return nil // rootSkill has it
		}
		sk, problems := l.root(skill.Plugin, path).File(path)
		l.problems = append(l.problems, problems...)
		if sk != nil {
			l.add(sk)
		}
		return nil
	}
	skills, problems, err := l.root(skill.Plugin, path).Load(ctx)
	l.problems = append(l.problems, problems...)
	for _, sk := range skills {
		l.add(sk)
	}
	return err
}

// commands reads a directory of command files, or one command file.
func (l *load) commands(ctx context.Context, path string) error {
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		sk, problems := l.root(skill.Legacy, filepath.Dir(path)).File(path)
		l.problems = append(l.problems, problems...)
		if sk != nil {
			l.add(sk)
		}
		return nil
	}
	skills, problems, err := l.root(skill.Legacy, path).Load(ctx)
	l.problems = append(l.problems, problems...)
	for _, sk := range skills {
		l.add(sk)
	}
	return err
}

// add takes a skill in under its namespace. A name that carries the namespace
// already does not get it twice (spec C-6).
func (l *load) add(sk *skill.Skill) {
	if l.seen[sk.Origin.Path] {
		return
	}
	l.seen[sk.Origin.Path] = true
	own := *sk // the cache has the other one
	sk = &own
	if !strings.HasPrefix(sk.ID, l.Name+":") {
		sk.ID = l.Name + ":" + sk.ID
	}
	sk.Origin.Source, sk.Origin.Owner, sk.Origin.OwnerDir = skill.Plugin, l.Name, l.Dir
	sk.Content.Body = body{sk.Content.Body}
	l.found = append(l.found, sk)
}

// A body is that of a stranger: what only a model would see is taken out of it.
type body struct{ written skill.Body }

// Load reads the file.
func (b body) Load(ctx context.Context) (skill.Instructions, error) {
	in, err := b.written.Load(ctx)
	return frontmatter.Visible(in), err
}
