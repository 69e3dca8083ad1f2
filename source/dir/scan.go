package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/knack-skills/knack/skill"
)

// A group is one directory whose entries are looked at: the root, a category,
// or a directory of command files.
type group struct {
	dir      string // as found
	real     string // without links
	category string // slash-separated, below the root
	depth    int    // of its entries; the root's have 1
	linked   bool   // reached through a link below the root
	parent   *group
}

// A candidate is a directory, or a link, that may be a skill or a category.
type candidate struct {
	in   *group
	name string
	link bool
}

// A finding is what became of one candidate.
type finding struct {
	skill    *skill.Skill
	problems []skill.Problem
	next     []candidate // category: its directories
	gone     bool        // the candidate disappeared during the scan
	entry    *entry      // of the file, to remember; nil when it was not read to the end
	refused  string      // the file that was not taken, to remember
}

// skipped reports whether a directory is never looked into (spec C-3).
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules"
}

// folders finds and reads the skills of a root of skill folders. It goes
// through the tree level by level: the directories of one level are read in
// parallel, each result stored by index, so that neither timing nor file
// system shows in the result (spec C-11).
func (s *scan) folders(ctx context.Context, top *group) ([]*skill.Skill, error) {
	top.depth = 1
	entries, err := list(top.real)
	if err != nil {
		s.note(problemOf(top.dir, err))
	}
	s.looseFiles(top, entries)
	level := candidates(top, entries)
	for len(level) > 0 {
		level = s.limit(level)
		found := make([]finding, len(level))
		err := each(ctx, len(level), func(r *reader, i int) { found[i] = s.visit(r, level[i]) })
		if err != nil {
			return nil, err
		}
		level = s.gather(found)
	}
	return s.finished(), nil
}

// gather takes what became of candidates, in their order, and returns the
// directories that are to be looked at next.
func (s *scan) gather(found []finding) (next []candidate) {
	for _, f := range found {
		s.problems = append(s.problems, f.problems...)
		s.take(f)
		if f.skill != nil {
			s.skills = append(s.skills, f.skill)
		}
		s.gone = s.gone || f.gone
		next = append(next, f.next...)
	}
	return next
}

// finished returns the skills when everything was looked at.
func (s *scan) finished() []*skill.Skill {
	if s.gone {
		s.rootGone()
	}
	s.skills = append(s.skills, s.stay()...)
	s.identify(s.skills)
	return s.skills
}

// limit cuts a level where the root's budget of directories ends (spec C-3).
func (s *scan) limit(level []candidate) []candidate {
	left := MaxDirectories - s.looked
	if len(level) <= left {
		s.looked += len(level)
		return level
	}
	s.looked = MaxDirectories
	if !s.full {
		s.full = true
		s.note(problem(tooMany, s.root.Path, fmt.Sprintf("only the first %d directories were looked at; the others and what is in them were skipped", MaxDirectories)))
	}
	return level[:left]
}

// rootGone replaces the complaints about single directories by one, when the
// whole root disappeared during the scan.
func (s *scan) rootGone() {
	if _, err := os.Lstat(s.fence.root); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.problems = slices.DeleteFunc(s.problems, func(p skill.Problem) bool {
		return p.Code == unreadable
	})
	s.note(problemOf(s.root.Path, fs.ErrNotExist))
}

// candidates returns what may be a skill or a category among entries.
func candidates(g *group, entries []os.DirEntry) []candidate {
	var out []candidate
	for _, e := range entries {
		link := e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0 // irregular: junctions
		if (e.IsDir() || link) && !skipped(e.Name()) {
			out = append(out, candidate{g, e.Name(), link})
		}
	}
	return out
}

// visit looks at one directory: the skill in it, or what it holds as a category.
func (s *scan) visit(r *reader, c candidate) finding {
	const tail = string(filepath.Separator) + skillFile
	p := place{path: c.in.dir + string(filepath.Separator) + c.name + tail, linked: c.in.linked || c.link}
	found := p.path[:len(p.path)-len(tail)]
	real := found
	switch {
	case c.link:
		target, err := s.fence.directory(c.in, found)
		if err == errNotDir {
			return finding{} // a file, see looseFiles
		}
		if err != nil {
			return finding{problems: []skill.Problem{problemOf(found, err)}}
		}
		real = target
	case c.in.real != c.in.dir:
		real = c.in.real + string(filepath.Separator) + c.name
	}
	p.real = p.path
	if real != found {
		p.real = real + tail
	}
	if e := s.again(p); e != nil {
		return e.finding()
	}
	rd := s.read(r, p)
	if rd.skill == nil && rd.problems[0].Code == unreadable {
		// The usual way is over; find out why, at the price of more calls.
		return s.unusual(r, c, p, found, real, rd)
	}
	return s.finish(c, p, rd)
}

// unusual handles a directory whose SKILL.md could not be opened: it may be a
// link, have its name in another case, or not exist. The reading is what to
// report when it is none of these.
func (s *scan) unusual(r *reader, c candidate, p place, found, real string, rd reading) finding {
	st, err := os.Lstat(p.real)
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return s.linkedFile(r, c, p)
	}
	if err == nil && !st.Mode().IsRegular() { // a socket: it cannot even be opened
		return finding{problems: []skill.Problem{problemOf(p.path, refuse(notRegular, "%s is not a regular file", skillFile))}}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return s.finish(c, p, rd)
	}
	entries, err := list(real)
	if err != nil {
		return finding{problems: []skill.Problem{problemOf(found, err)}, gone: errors.Is(err, fs.ErrNotExist)}
	}
	for _, e := range entries {
		if !e.IsDir() && strings.EqualFold(e.Name(), skillFile) && e.Name() != skillFile {
			f := s.otherCase(r, c, place{
				path: filepath.Join(found, e.Name()), real: filepath.Join(real, e.Name()), linked: p.linked,
			}, e.Type()&fs.ModeSymlink != 0)
			f.problems = append(slices.Clip(f.problems), wrongFileName(filepath.Join(found, e.Name())))
			return f
		}
	}
	return s.category(c, p.linked, found, real, entries)
}

// otherCase reads a skill file whose name is SKILL.md in another case (spec F-1).
func (s *scan) otherCase(r *reader, c candidate, p place, link bool) finding {
	if link {
		return s.linkedFile(r, c, p)
	}
	return s.file(r, c, p)
}

// linkedFile reads a skill whose SKILL.md is itself a link (spec C-7).
func (s *scan) linkedFile(r *reader, c candidate, p place) finding {
	target, err := s.fence.file(p.real)
	if err != nil {
		return finding{problems: []skill.Problem{problemOf(p.path, err)}}
	}
	p.real, p.linked = target, true
	return s.file(r, c, p)
}

// file takes the skill from the file at p.
func (s *scan) file(r *reader, c candidate, p place) finding {
	if e := s.again(p); e != nil {
		return e.finding()
	}
	return s.finish(c, p, s.read(r, p))
}

// category prepares the directories of a directory without SKILL.md.
func (s *scan) category(c candidate, linked bool, found, real string, entries []os.DirEntry) finding {
	for _, e := range entries {
		if e.Name() == ".claude-plugin" {
			manifest := filepath.Join(real, e.Name(), "plugin.json")
			if _, err := os.Lstat(manifest); err == nil { // spec X-1: its skills belong to the plugin
				return finding{problems: []skill.Problem{problem(pluginInRoot, found, "the directory is a plugin, not a skill")}}
			}
		}
	}
	g := &group{dir: found, real: real, category: c.name, depth: c.in.depth + 1, linked: linked, parent: c.in}
	if c.in.category != "" {
		g.category = c.in.category + "/" + c.name
	}
	var f finding
	inner := candidates(g, entries)
	if g.depth > maxDepth {
		f.problems = tooDeepIn(g, inner)
	} else {
		f.next = inner
	}
	if len(inner) == 0 {
		i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return isMarkdown(e) && !isNotice(e.Name()) })
		if i >= 0 {
			f.problems = append(f.problems, problem(noSkillFile, found, "the directory has "+entries[i].Name()+" but no SKILL.md"))
		}
	}
	return f
}

// finish completes what one file became.
func (s *scan) finish(c candidate, p place, rd reading) finding {
	if f, waits := s.waits(p); waits {
		return f
	}
	if e := s.kept(p, rd); e != nil {
		return e.finding()
	}
	sk := rd.skill
	if sk == nil {
		return finding{problems: rd.problems, refused: p.path}
	}
	problems := rd.problems
	if !printable(c.name) {
		problems = append(slices.Clip(problems), problem(unprintableDir, p.path, fmt.Sprintf("the directory name %q cannot be typed", c.name)))
	}
	sk.ID = identity(c.name)
	sk.Origin.Category = c.in.category
	sk.Origin.Dir = filepath.Dir(p.path)
	s.complete(sk)
	return s.entry(p, rd, sk, problems).finding()
}

// complete fills in what all skills of the root share, and the body.
func (s *scan) complete(sk *skill.Skill) {
	o := &sk.Origin
	o.Source, o.Scope = s.root.Source, s.root.Scope
	o.Root, o.Distance, o.Below = s.root.Path, s.root.Distance, s.root.Below
	sk.Content.Body = &body{path: o.Path, dir: o.Dir, fence: s.fence}
}

// identify orders skills (see [Root.Load]) and gives the second skill of one
// name its category (spec C-3). They come in order of depth, then of bytes.
func (s *scan) identify(skills []*skill.Skill) {
	if !slices.ContainsFunc(skills, func(sk *skill.Skill) bool { return sk.Origin.Linked || sk.Origin.Category != "" }) {
		return // one directory's names differ anyway
	}
	physical := make(map[string]bool, len(skills))
	for _, sk := range skills {
		if !sk.Origin.Linked {
			physical[sk.Origin.Real] = true
		}
	}
	taken := make(map[string]bool, len(skills))
	for i, sk := range skills {
		if sk.Origin.Linked && physical[sk.Origin.Real] {
			continue // the same file once more: takes no name from others (spec C-7)
		}
		physical[sk.Origin.Real] = true
		if taken[sk.ID] && sk.Origin.Category != "" && s.root.Source != skill.Legacy {
			renamed := *sk // the cache has the other one
			sk, skills[i] = &renamed, &renamed
			sk.ID = identity(sk.Origin.Category) + ":" + sk.ID
		}
		taken[sk.ID] = true
	}
	slices.SortStableFunc(skills, func(a, b *skill.Skill) int {
		switch {
		case a.Origin.Linked == b.Origin.Linked:
			return 0
		case b.Origin.Linked:
			return -1
		}
		return 1
	})
}

func sortEntries(entries []os.DirEntry) {
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}

// each calls visit for 0 to n-1 from a bounded number of goroutines, each with
// a reader of its own. It stops early, with the error of ctx, when ctx ends.
func each(ctx context.Context, n int, visit func(r *reader, i int)) error {
	const batch = 16
	var next atomic.Int64
	work := func() {
		r := new(reader)
		for ctx.Err() == nil {
			end := int(next.Add(batch))
			for i := end - batch; i < min(end, n); i++ {
				visit(r, i)
			}
			if end >= n {
				return
			}
		}
	}
	workers := min(runtime.GOMAXPROCS(0), (n+batch-1)/batch)
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return ctx.Err()
}
