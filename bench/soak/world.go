package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
)

// A world is a machine in one directory: a home and a repository, whose files
// somebody changes.
type world struct {
	top string
	r   *rand.Rand
	git bool
}

// roots are the directories of skills, below the top. The last one is found when
// a file near it is touched.
var roots = []string{
	"home/.claude/skills", "home/.agents/skills", "repo/.claude/skills", "repo/.agents/skills", "repo/apps/web/.claude/skills",
}

const (
	commands = "repo/.claude/commands"
	settings = "repo/.claude/settings.json"
	names    = 40 // skills have few names, so that they collide
)

// newWorld makes it, with a repository that has three branches when there is git.
func newWorld(top string, seed uint64) (*world, error) {
	w := &world{top: top, r: rand.New(rand.NewPCG(seed, 2))}
	for _, d := range append(roots, commands, "lib/a", "lib/b", "home", "repo/apps/web") {
		if err := os.MkdirAll(w.at(d), 0o755); err != nil {
			return nil, err
		}
	}
	for i := range 30 {
		if err := w.put(filepath.Join(roots[i%len(roots)], w.name(), "SKILL.md"), w.skill()); err != nil {
			return nil, err
		}
	}
	return w, w.branches()
}

// branches makes three branches whose skills differ.
func (w *world) branches() error {
	if _, err := exec.LookPath("git"); err != nil {
		return os.MkdirAll(w.at("repo/.git"), 0o755)
	}
	w.git = true
	steps := [][]string{{"init", "-q", "-b", "branch-0"}, {"config", "user.email", "a@example.com"}, {"config", "user.name", "A"}}
	for _, s := range steps {
		if err := w.run(s...); err != nil {
			return err
		}
	}
	for b := range 3 {
		if b > 0 {
			if err := w.run("checkout", "-q", "-b", fmt.Sprint("branch-", b)); err != nil {
				return err
			}
		}
		for i := range 40 {
			dir := fmt.Sprintf("repo/.claude/skills/vcs-%d", i)
			if w.r.IntN(3) == 0 {
				if err := os.RemoveAll(w.at(dir)); err != nil {
					return err
				}
			} else if err := w.put(dir+"/SKILL.md", w.skill()); err != nil {
				return err
			}
		}
		if err := w.run("add", "-A", ".claude/skills/vcs-*"); err != nil {
			return err
		}
		if err := w.run("commit", "-q", "-m", "skills"); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) run(args ...string) error {
	cmd := exec.Command("git", append([]string{"-C", w.at("repo")}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+w.top, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}

func (w *world) at(path string) string { return filepath.Join(w.top, filepath.FromSlash(path)) }

func (w *world) name() string { return fmt.Sprintf("s%02d", w.r.IntN(names)) }

func (w *world) root() string { return roots[w.r.IntN(len(roots))] }

// skill is the text of a skill file.
func (w *world) skill() string {
	extra := ""
	switch w.r.IntN(8) {
	case 0:
		extra = "paths: \"*.never\"\n"
	case 1:
		extra = "user-invocable: false\n"
	case 2:
		extra = "disable-model-invocation: true\n"
	case 3:
		extra = "unknown-field: 1\n"
	}
	return fmt.Sprintf("---\ndescription: Does the job number %d.\n%s---\nHow to do it: %d.\n", w.r.IntN(1000), extra, w.r.IntN(1_000_000))
}

func (w *world) put(path, text string) error {
	path = w.at(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// A kind is one way to change the world.
type kind struct {
	name   string
	weight int
	do     func(*world) error
}

var kinds = []kind{
	{"create", 6, func(w *world) error {
		return w.put(filepath.Join(w.root(), w.name(), "SKILL.md"), w.skill())
	}},
	{"create in a category", 2, func(w *world) error {
		return w.put(filepath.Join(w.root(), "group", w.name(), "SKILL.md"), w.skill())
	}},
	{"command", 2, func(w *world) error { return w.put(filepath.Join(commands, w.name()+".md"), w.skill()) }},
	{"edit in steps", 4, (*world).inSteps},
	{"save by renaming", 4, func(w *world) error {
		dir := filepath.Join(w.root(), w.name())
		if err := w.put(filepath.Join(dir, ".SKILL.md.tmp"), w.skill()); err != nil {
			return err
		}
		return os.Rename(w.at(filepath.Join(dir, ".SKILL.md.tmp")), w.at(filepath.Join(dir, "SKILL.md")))
	}},
	{"the same bytes", 2, (*world).sameBytes},
	{"rename", 3, func(w *world) error {
		from, to := w.at(filepath.Join(w.root(), w.name())), w.at(filepath.Join(w.root(), w.name()))
		return missing(os.Rename(from, to))
	}},
	{"remove", 4, func(w *world) error { return os.RemoveAll(w.at(filepath.Join(w.root(), w.name()))) }},
	{"remove the file", 2, func(w *world) error {
		return missing(os.Remove(w.at(filepath.Join(w.root(), w.name(), "SKILL.md"))))
	}},
	{"remove a command", 1, func(w *world) error { return missing(os.Remove(w.at(filepath.Join(commands, w.name()+".md")))) }},
	{"flip a link", 3, (*world).flip},
	{"behind a link", 2, func(w *world) error {
		return w.put(filepath.Join("lib", []string{"a", "b"}[w.r.IntN(2)], "SKILL.md"), w.skill())
	}},
	{"a root goes", 1, func(w *world) error {
		root := w.root()
		if root == "repo/.claude/skills" && w.git {
			return nil // git's files are in it
		}
		return os.RemoveAll(w.at(root))
	}},
	{"a root is replaced", 1, func(w *world) error {
		root := w.at(w.root())
		if err := os.Rename(root, root+".old"); err != nil {
			return missing(err)
		}
		if err := os.Rename(root+".old", root); err != nil {
			return err
		}
		return nil
	}},
	{"checkout", 2, func(w *world) error {
		if !w.git {
			return nil
		}
		return w.run("checkout", "-q", "-f", fmt.Sprint("branch-", w.r.IntN(3)))
	}},
	{"settings", 2, func(w *world) error {
		if w.r.IntN(4) == 0 {
			return missing(os.Remove(w.at(settings)))
		}
		return w.put(settings, fmt.Sprintf(`{"permissions": {"deny": ["Skill(%s)"]}, "skillOverrides": {%q: "off"}}`, w.name(), w.name()))
	}},
}

// missing forgives that there is nothing to change, or something in the way.
func missing(err error) error {
	var le *os.LinkError
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.As(err, &le) {
		return nil
	}
	return err
}

// inSteps writes a file as a slow editor does: empty, half, whole.
func (w *world) inSteps() error {
	path, text := filepath.Join(w.root(), w.name(), "SKILL.md"), w.skill()
	for _, n := range []int{0, len(text) / 3, len(text) - 1, len(text)} {
		if err := w.put(path, text[:n]); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) sameBytes() error {
	path := w.at(filepath.Join(w.root(), w.name(), "SKILL.md"))
	data, err := os.ReadFile(path)
	if err != nil {
		return missing(err)
	}
	return os.WriteFile(path, data, 0o644)
}

// flip makes a link in the person's skills lead elsewhere, or to nothing.
func (w *world) flip() error {
	link := w.at(filepath.Join("home/.claude/skills", fmt.Sprint("link-", w.r.IntN(3))))
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(w.top, "lib", []string{"a", "b", "none"}[w.r.IntN(3)]), link)
}

// change does one thing, and says what.
func (w *world) change() (string, error) {
	all := 0
	for _, k := range kinds {
		all += k.weight
	}
	n := w.r.IntN(all)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			return k.name, k.do(w)
		}
	}
	return "", nil
}
