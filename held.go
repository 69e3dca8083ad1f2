package knack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
)

// holding is what somebody did not let count (spec D-8). It is kept by file, so
// that what is let through later brings in nothing else, and lasts until a
// change of the same file is let through or the change is undone.
type holding struct {
	mu    sync.Mutex
	files map[string]*held // absolute
}

// A held file is one whose change does not count.
type held struct {
	why   string
	known bool   // text is what it said before
	text  string // of a skill file
	fresh bool   // it was no skill before
}

// add holds files. What they said is found out at most once: the change of
// today must not pass for the text of yesterday.
func (h *holding) add(files []string, why string, before func(path string) *held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files == nil {
		h.files = map[string]*held{}
	}
	for _, f := range files {
		was := h.files[f]
		if was == nil {
			was = before(f)
		}
		now := *was // somebody may be reading the other one
		now.why = why
		h.files[f] = &now
	}
}

func (h *holding) drop(files []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range files {
		delete(h.files, f)
	}
}

// is returns what is held of a file; nil for nothing.
func (h *holding) is(path string) *held {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.files[path]
}

// below returns the files below a directory that are held.
func (h *holding) below(dir string) map[string]*held {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out map[string]*held
	for path, f := range h.files {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			if out == nil {
				out = map[string]*held{}
			}
			out[path] = f
		}
	}
	return out
}

// undone reports whether a skill file says again what it said before.
func (f *held) undone(path string) bool {
	data, err := os.ReadFile(path)
	if f.fresh {
		return errors.Is(err, os.ErrNotExist)
	}
	return f.known && err == nil && string(data) == f.text
}

// A gate is a source of files without what policy keeps out, and with files that
// are held as they were.
type gate struct {
	e    *Engine
	src  catalog.Source
	dir  string     // absolute; where all its files lie
	root []dir.Root // the one that policy may keep out; none for plugins

	mu       sync.Mutex
	skills   []*skill.Skill // as the last load gave them
	problems []skill.Problem
}

func (e *Engine) gate(src catalog.Source, dir string, root ...dir.Root) *gate {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return &gate{e: e, src: src, dir: dir, root: root}
}

// open makes a root a source of this engine.
func (e *Engine) open(r dir.Root) *gate {
	r.Cache = e.files
	return e.gate(r, r.Path, r)
}

// Load implements [catalog.Source].
func (g *gate) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	if len(g.root) > 0 && len(g.e.skillRoots(slices.Clone(g.root))) == 0 {
		return nil, nil, ctx.Err()
	}
	held := g.e.held.below(g.dir)
	skills, problems, err := g.src.Load(ctx)
	if err != nil {
		return skills, problems, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(held) > 0 {
		skills, problems = g.hold(held, skills, problems)
	}
	g.skills, g.problems = skills, problems
	return skills, problems, nil
}

// hold puts what held files said before in the place of what they say now.
func (g *gate) hold(held map[string]*held, skills []*skill.Skill, problems []skill.Problem) ([]*skill.Skill, []skill.Problem) {
	isHeld := func(path string) bool { return held[path] != nil }
	skills = slices.DeleteFunc(slices.Clone(skills), func(s *skill.Skill) bool { return isHeld(s.Origin.Path) })
	problems = slices.DeleteFunc(slices.Clone(problems), func(p skill.Problem) bool { return isHeld(p.Path) })
	for _, s := range g.skills {
		h := held[s.Origin.Path]
		if h == nil {
			continue
		}
		if _, already := s.Content.Body.(*heldBody); !already {
			version := *s
			version.Content.Body = &heldBody{file: h, skill: s}
			s = &version
		}
		skills = append(skills, s)
	}
	for _, p := range g.problems {
		if isHeld(p.Path) && p.Code != changeHeld {
			problems = append(problems, p)
		}
	}
	for path, h := range held {
		problems = append(problems, skill.Problem{Code: changeHeld, Severity: skill.Warning, Path: path,
			Message: "a change of this file does not count: " + h.why,
			Fix:     "undo it, or save it again once it may count; a new session reads the file as it is"})
	}
	slices.SortFunc(problems, skill.CompareProblems)
	return skills, problems
}

const changeHeld = "change-held"

// A heldBody is the text that a file had before.
type heldBody struct {
	file  *held
	skill *skill.Skill // as it was
}

// Load returns that text, or says that nobody remembers it. What the file holds
// now is never taken for it.
func (b *heldBody) Load(ctx context.Context) (skill.Instructions, error) {
	if err := ctx.Err(); err != nil {
		return skill.Instructions{}, err
	}
	o := &b.skill.Origin
	if !b.file.known {
		return skill.Instructions{}, fmt.Errorf("read %s: a change of it does not count (%s), and its text from before was not kept", o.Path, b.file.why)
	}
	text, line, err := frontmatter.SplitBody([]byte(b.file.text))
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("read %s as it was: %w", o.Path, err)
	}
	in := skill.Instructions{Text: text, Line: line, Dir: o.Dir, Source: b.file.text}
	if o.Source == skill.Plugin {
		in = frontmatter.Visible(in) // as package source/plugin does
	}
	return in, nil
}
