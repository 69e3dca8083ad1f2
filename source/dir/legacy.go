package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// notCommands are directories without command files in them (spec C-4).
var notCommands = []string{"node_modules", ".git", "dist", "venv"}

// notices are the names, without extension, of documents that people put
// beside commands and skills. They count only with frontmatter (spec C-4).
var notices = []string{"README", "LICENSE", "CHANGELOG"}

func isNotice(name string) bool {
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	return slices.ContainsFunc(notices, func(n string) bool { return strings.EqualFold(n, stem) })
}

// isMarkdown reports whether e is a visible Markdown file, or a link named so.
func isMarkdown(e os.DirEntry) bool {
	name := e.Name()
	return !e.IsDir() && !strings.HasPrefix(name, ".") && strings.EqualFold(filepath.Ext(name), ".md")
}

// A commandFile is one file to read in a directory of commands.
type commandFile struct {
	in   *group
	name string
	link bool
}

// commands finds and reads command files (spec C-4), directory by directory
// and level by level like [scan.folders].
func (s *scan) commands(ctx context.Context, top *group) ([]*skill.Skill, error) {
	level := []*group{top}
	var files []commandFile
	for len(level) > 0 {
		listed := make([]listing, len(level))
		err := each(ctx, len(level), func(_ *reader, i int) { listed[i] = s.list(level[i]) })
		if err != nil {
			return nil, err
		}
		var dirs []candidate
		for _, l := range listed {
			s.problems = append(s.problems, l.problems...)
			files = append(files, l.files...)
			dirs = append(dirs, l.dirs...)
		}
		level = s.enter(s.limit(dirs))
	}
	found := make([]finding, len(files))
	err := each(ctx, len(files), func(r *reader, i int) { found[i] = s.command(r, files[i]) })
	if err != nil {
		return nil, err
	}
	s.gather(found)
	return s.finished(), nil
}

// A listing is what one directory of commands holds.
type listing struct {
	files    []commandFile
	dirs     []candidate
	problems []skill.Problem
}

// list sorts the entries of g. A directory with a SKILL.md is a skill, and all
// else in it belongs to that skill. Only the exact name counts here: skill.md
// is the command "skill".
func (s *scan) list(g *group) listing {
	var l listing
	entries, err := list(g.real)
	if err != nil {
		l.problems = append(l.problems, problemOf(g.dir, err))
	}
	for _, e := range entries {
		name, link := e.Name(), e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0
		switch {
		case name == skillFile && g.parent != nil:
			return listing{files: []commandFile{{g, name, link}}, problems: l.problems}
		case name == skillFile:
			l.problems = append(l.problems, problem(looseFile, filepath.Join(g.dir, name), "SKILL.md lies in the commands directory itself"))
		case isMarkdown(e):
			l.files = append(l.files, commandFile{g, name, link})
		case (e.IsDir() || link) && !strings.HasPrefix(name, ".") && !slices.Contains(notCommands, name):
			l.dirs = append(l.dirs, candidate{g, name, link})
		}
	}
	return l
}

// enter turns directories into the groups of the next level.
func (s *scan) enter(dirs []candidate) []*group {
	var level []*group
	for _, c := range dirs {
		g := &group{
			dir:      filepath.Join(c.in.dir, c.name),
			real:     filepath.Join(c.in.real, c.name),
			category: c.name,
			linked:   c.in.linked || c.link,
			parent:   c.in,
		}
		if c.in.category != "" {
			g.category = c.in.category + "/" + c.name
		}
		if c.link {
			target, err := s.fence.directory(c.in, g.dir)
			if err == errNotDir {
				continue
			}
			if err != nil {
				s.note(problemOf(g.dir, err))
				continue
			}
			g.real = target
		}
		level = append(level, g)
	}
	return level
}

// command reads one command file.
func (s *scan) command(r *reader, c commandFile) finding {
	p := place{
		path:   filepath.Join(c.in.dir, c.name),
		real:   filepath.Join(c.in.real, c.name),
		linked: c.in.linked || c.link,
		legacy: true,
	}
	if c.link {
		target, err := s.fence.file(p.path)
		if err != nil {
			return finding{problems: []skill.Problem{problemOf(p.path, err)}}
		}
		p.real = target
	}
	if e := s.again(p); e != nil {
		return e.finding()
	}
	if f, waits := s.waits(p); waits {
		return f
	}
	rd := s.read(r, p)
	if rd.skill == nil {
		if _, err := os.Lstat(p.real); errors.Is(err, fs.ErrNotExist) {
			return finding{problems: rd.problems, gone: true}
		}
	}
	if e := s.kept(p, rd); e != nil {
		return e.finding()
	}
	sk, problems := rd.skill, rd.problems
	if sk == nil {
		return finding{problems: problems, refused: p.path}
	}
	if isNotice(c.name) && rd.fields == 0 {
		return finding{}
	}
	sk.Content.Positional = true // spec P-4
	id, category := c.in.category, ""
	if c.name == skillFile {
		sk.Origin.Dir = c.in.dir
		category = c.in.parent.category
	} else {
		stem := c.name[:len(c.name)-len(".md")]
		id, category = joinSlash(c.in.category, stem), c.in.category
	}
	if !printable(id) {
		problems = append(slices.Clip(problems), problem(unprintableDir, p.path, fmt.Sprintf("the name %q cannot be typed", id)))
	}
	sk.ID = identity(strings.ReplaceAll(id, "/", ":"))
	sk.Origin.Category = category
	s.complete(sk)
	return s.entry(p, rd, sk, problems).finding()
}

func joinSlash(a, b string) string {
	if a == "" {
		return b
	}
	return a + "/" + b
}
