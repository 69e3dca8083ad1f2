package check

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
	"github.com/knack-skills/knack/source/plugin"
)

// A target is one file to check, with what loading it had to say.
type target struct {
	path     string
	skill    *skill.Skill // nil when nothing could be loaded
	problems []skill.Problem
}

// inCatalog returns every file of the catalog, shadowed ones included.
func inCatalog(e *knack.Engine) (targets []target, rest []skill.Problem) {
	snap := e.Snapshot()
	seen := map[string]bool{}
	add := func(path string, s *skill.Skill) {
		if path == "" || seen[path] {
			return
		}
		seen[path] = true
		targets = append(targets, target{path: path, skill: s, problems: snap.ProblemsOf(path)})
	}
	for entry := range snap.All() {
		add(entry.Origin.Path, entry.Skill)
	}
	for entry := range snap.Shadowed() {
		add(entry.Origin.Path, entry.Skill)
	}
	for _, p := range snap.Problems {
		if !seen[p.Path] {
			rest = append(rest, p)
		}
	}
	return targets, rest
}

// below returns the files that one PATH argument stands for: a skill, a plugin,
// or every skill and command file anywhere below a directory.
func below(ctx context.Context, e *knack.Engine, path string) (targets []target, rest []skill.Problem, err error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, nil, output.Usagef("cannot check %s: %v", path, err)
	}
	if !fi.IsDir() {
		return []target{load(rootOf(e, filepath.Dir(path)), path)}, nil, nil
	}
	if hasSkillFile(path) {
		return []target{load(rootOf(e, path), path)}, nil, nil
	}
	if _, err := os.Stat(filepath.Join(path, ".claude-plugin", "plugin.json")); err == nil {
		return inPlugin(ctx, path)
	}
	return walk(ctx, rootOf(e, path))
}

// rootOf returns how the files below path are read: links may not leave the
// repository (spec C-7), or path itself outside of any, except where the person
// or the administrator keeps skills. A stranger's repository that is checked
// must not show, or with --fix rewrite, what lies elsewhere.
func rootOf(e *knack.Engine, path string) dir.Root {
	for _, r := range e.Place().Roots() {
		if rel, err := filepath.Rel(r.Path, path); r.Boundary == "" && err == nil && filepath.IsLocal(rel) {
			return dir.Root{Path: path}
		}
	}
	return dir.Root{Path: path, Boundary: cmp.Or(dir.RepositoryRoot(path), path)}
}

func hasSkillFile(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.EqualFold(e.Name(), "SKILL.md")
	})
}

func load(root dir.Root, path string) target {
	s, problems := root.File(path)
	t := target{path: path, skill: s, problems: problems}
	if s != nil && s.Origin.Path != "" {
		t.path = s.Origin.Path
	}
	return t
}

func inPlugin(ctx context.Context, path string) (targets []target, rest []skill.Problem, err error) {
	skills, problems, err := plugin.Source{Dir: path}.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	by := map[string][]skill.Problem{}
	for _, p := range problems {
		by[p.Path] = append(by[p.Path], p)
	}
	for _, s := range skills {
		targets = append(targets, target{path: s.Origin.Path, skill: s, problems: by[s.Origin.Path]})
		delete(by, s.Origin.Path)
	}
	for _, ps := range by {
		rest = append(rest, ps...)
	}
	return targets, rest, nil
}

// walk finds skills at any depth, since a repository of skills is not a skills
// root. Links to directories are not followed; version control and packages are
// left out.
func walk(ctx context.Context, root dir.Root) (targets []target, rest []skill.Problem, err error) {
	err = filepath.WalkDir(root.Path, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			rest = append(rest, skill.Problem{Code: "unreadable", Severity: skill.Error, Path: p,
				Message: err.Error(), Fix: "make it readable, or leave it out"})
			return nil
		}
		switch {
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
		case strings.EqualFold(d.Name(), "SKILL.md"), isCommand(root.Path, p):
			targets = append(targets, load(root, p))
		}
		return nil
	})
	return targets, rest, err
}

// isCommand reports whether p is a legacy command file: Markdown below a
// directory called commands (spec C-4).
func isCommand(root, p string) bool {
	rel, err := filepath.Rel(root, p)
	if err != nil || filepath.Ext(p) != ".md" {
		return false
	}
	switch filepath.Base(p) {
	case "README.md", "LICENSE.md", "CHANGELOG.md":
		return false
	}
	return slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(rel)), "/"), "commands") ||
		filepath.Base(root) == "commands"
}
