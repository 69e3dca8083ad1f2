package dir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// looseFiles hints at files that lie in the root itself (spec C-3).
func (s *scan) looseFiles(g *group, entries []os.DirEntry) {
	for _, e := range entries {
		path := filepath.Join(g.dir, e.Name())
		switch {
		case e.IsDir() || !isMarkdown(e) || isNotice(e.Name()):
		case e.Name() == skillFile:
			s.note(problem(looseFile, path, "SKILL.md lies in the skills directory itself and is not read"))
		case !isDir(path): // a link named x.md may lead to a skill folder
			s.note(problem(looseFile, path, e.Name()+" lies in the skills directory itself and is not read"))
		}
	}
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// tooDeepIn warns of skills among dirs, which lie too deep below the root to be
// looked at (spec C-3). Only so many are tried.
func tooDeepIn(g *group, dirs []candidate) []skill.Problem {
	const tries = 16
	for _, c := range dirs[:min(tries, len(dirs))] {
		path := filepath.Join(g.real, c.name, skillFile)
		if _, err := os.Lstat(path); err == nil {
			path = filepath.Join(g.dir, c.name, skillFile)
			return []skill.Problem{problem(tooDeep, path, fmt.Sprintf("the skill lies more than %d levels below the skills directory and is not read", maxDepth))}
		}
	}
	return nil
}

// wrongCase hints at directories beside root that have its name in another
// case, and are another directory.
func wrongCase(root string) []skill.Problem {
	parent, base := filepath.Split(root)
	entries, err := list(parent)
	if err != nil {
		return nil // the root does not exist either, or its own error tells more
	}
	var problems []skill.Problem
	for _, e := range entries {
		name := e.Name()
		if name == base || !e.IsDir() || !strings.EqualFold(name, base) {
			continue
		}
		path := filepath.Join(parent, name)
		if sameFile(path, root) { // the file system ignores case
			continue
		}
		p := problem(directoryCase, path, fmt.Sprintf("%s is not read: the directory must be named %s", name, base))
		p.Fix = "rename it to " + base
		problems = append(problems, p)
	}
	return problems
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Load makes a place a source of what [Hints] says, without skills of its own.
func (p Place) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	return nil, Hints(p), ctx.Err()
}

// Hints looks for skills of a project that lie where nothing reads them: a
// repository of plugins that is opened as a project. It reads at most one
// directory, and only when the project has no skill folders at all.
func Hints(p Place) []skill.Problem {
	dirs := p.ProjectDirs()
	if p.NoProject || len(dirs) == 0 {
		return nil
	}
	for _, d := range dirs {
		for _, twin := range twins {
			if _, err := os.Lstat(filepath.Join(d, twin, "skills")); err == nil {
				return nil
			}
		}
	}
	top := dirs[len(dirs)-1]
	for _, manifest := range []string{"plugin.json", "marketplace.json"} {
		path := filepath.Join(top, ".claude-plugin", manifest)
		if _, err := os.Lstat(path); err == nil {
			return []skill.Problem{problem(pluginLayout, path, "this repository holds plugins, whose skills are not project skills")}
		}
	}
	plugins := filepath.Join(top, "plugins")
	entries, err := list(plugins)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if path := filepath.Join(plugins, e.Name(), "skills"); e.IsDir() && isDir(path) {
			return []skill.Problem{problem(pluginLayout, path, "this repository holds plugins, whose skills are not project skills")}
		}
	}
	return nil
}
