package agentdef

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// Limits of one root.
const (
	maxFiles = 1000
	maxDepth = 8
)

func sameDir(a, b string) bool { return a == b || physical(a) == physical(b) }

// physical resolves the links of path, or of the directories above it.
func physical(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(physical(dir), filepath.Base(path))
	}
	return path
}

// Options is what [Load] reads. The zero value is the built-in kinds.
type Options struct {
	Roots   []Root
	Given   []*Definition // of --agents, see [Parse]
	Trusted bool          // the workspace is trusted (spec S-9)
	// NoBuiltin leaves the built-in kinds out.
	NoBuiltin bool
}

// Load reads all roots and merges the levels. One bad file costs only itself,
// a missing directory nothing; the error is that of ctx.
func Load(ctx context.Context, o Options) (*Set, error) {
	var defs []*Definition
	var problems []skill.Problem
	for _, r := range o.Roots {
		s := scan{root: r, trusted: o.Trusted, top: physical(r.Path)}
		if info, err := os.Stat(r.Path); err == nil && info.Mode().IsRegular() {
			s.file(r.Path) // a plugin may name files one by one
		} else {
			s.directory(ctx, r.Path, 1)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		defs = append(defs, s.defs...)
		problems = append(problems, s.problems...)
	}
	defs = append(defs, o.Given...)
	if !o.NoBuiltin {
		defs = append(defs, Builtin()...)
	}
	return merge(defs, problems, o.Trusted), nil
}

// A scan reads one root.
type scan struct {
	root     Root
	top      string // root without links
	trusted  bool
	files    int
	seen     []string // physical directories
	defs     []*Definition
	problems []skill.Problem
}

func (s *scan) note(sev skill.Severity, code, path, message, fix string) {
	s.problems = append(s.problems, problem(sev, code, path, message, fix))
}

// directory reads a directory in the order of names, and what is below it.
func (s *scan) directory(ctx context.Context, dir string, depth int) {
	real := physical(dir)
	if slices.Contains(s.seen, real) || ctx.Err() != nil {
		return
	}
	s.seen = append(s.seen, real)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) && depth == 1 {
		return
	}
	if err != nil {
		s.note(skill.Warning, "unreadable", dir, "the directory cannot be read: "+reason(err), "make it a readable directory")
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules":
		case e.Type()&fs.ModeSymlink != 0:
			s.link(ctx, path, depth)
		case e.IsDir():
			s.below(ctx, path, depth)
		case isMarkdown(path):
			s.file(path)
		}
	}
}

func isMarkdown(path string) bool { return strings.EqualFold(filepath.Ext(path), ".md") }

func (s *scan) below(ctx context.Context, dir string, depth int) {
	if depth >= maxDepth {
		s.note(skill.Warning, "too-deep", dir, fmt.Sprintf("the directory lies more than %d levels deep and is not read", maxDepth), "move its files up")
		return
	}
	s.directory(ctx, dir, depth+1)
}

// link follows a link that stays inside (spec C-7).
func (s *scan) link(ctx context.Context, path string, depth int) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		if isMarkdown(path) {
			s.note(skill.Warning, "dangling-link", path, "the link leads to nothing: "+reason(err), "correct or remove it")
		}
		return
	}
	info, err := os.Stat(target)
	if err != nil || !info.IsDir() && !isMarkdown(path) {
		return
	}
	if s.root.Boundary != "" && !within(target, s.top) && !within(target, physical(s.root.Boundary)) {
		s.note(skill.Warning, "link-leaves-root", path, "the link leads to "+target+", out of the repository, and was not followed", "put a copy here")
		return
	}
	if info.IsDir() {
		s.below(ctx, path, depth)
		return
	}
	s.file(path)
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

func (s *scan) file(path string) {
	if s.files++; s.files > maxFiles {
		if s.files == maxFiles+1 {
			s.note(skill.Error, "too-many-agents", s.root.Path, fmt.Sprintf("only the first %d files were read", maxFiles), "move what is no agent definition elsewhere")
		}
		return
	}
	data, p, ok := contents(path)
	if !ok {
		s.problems = append(s.problems, p)
		return
	}
	doc, parsed := frontmatter.Parse(path, data)
	o := Origin{Source: s.root.Source, Distance: s.root.Distance, Owner: s.root.Owner, Path: path}
	def, problems := read(doc, parsed, o, stemOf(path), s.trusted)
	s.problems = append(s.problems, problems...)
	if def == nil {
		return
	}
	if s.root.Source == skill.Plugin && s.root.Owner != "" {
		def.Name = s.root.Owner + ":" + s.folders(path) + def.Name
	}
	s.defs = append(s.defs, def)
}

// folders are those between the root of a plugin and the file, as the part of
// the agent's name that they are.
func (s *scan) folders(path string) string {
	rel, err := filepath.Rel(s.root.Path, filepath.Dir(path))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return strings.ReplaceAll(filepath.ToSlash(rel), "/", ":") + ":"
}

// contents reads a regular file of at most 4 MiB (spec F-7).
func contents(path string) (data []byte, p skill.Problem, ok bool) {
	// Looked at before opening: opening a pipe would wait for ever.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, problem(skill.Warning, "not-a-regular-file", path, "it is not a regular file and was not read", "replace it by a file"), false
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err == nil {
		defer f.Close()
		// One byte more, so that the parser sees what is too large.
		data, err = io.ReadAll(io.LimitReader(f, frontmatter.MaxFile+1))
	}
	if err != nil {
		return nil, problem(skill.Error, "unreadable", path, "the file cannot be read: "+reason(err), "make it readable"), false
	}
	return data, skill.Problem{}, true
}

// reason is an error without the path, which the problem has already.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
