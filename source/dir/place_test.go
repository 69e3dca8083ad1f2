package dir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

func TestManagedDirs(t *testing.T) {
	if got := ManagedDirs("/x"); !slices.Equal(got, []string{"/x"}) {
		t.Errorf("override: %q", got)
	}
	got := ManagedDirs("")
	if len(got) == 0 || !filepath.IsAbs(got[0]) {
		t.Errorf("default: %q", got)
	}
	got[0] = "changed"
	if ManagedDirs("")[0] == "changed" {
		t.Error("the table is shared")
	}
	for system, want := range map[string]string{
		"windows": `C:\Program Files\ClaudeCode`, "darwin": "/Library/Application Support/ClaudeCode", "": "/etc/claude-code /etc/claude",
	} {
		if got := strings.Join(managedDirs[system], " "); got != want {
			t.Errorf("%q: %q, want %q", system, got, want)
		}
	}
}

// TestProjectDirs covers which directories belong to a project (spec C-2).
func TestProjectDirs(t *testing.T) {
	tests := []struct {
		name, tree, work, home, want string
	}{
		{"repository", "-- p/.git/ --\n-- p/a/b/ --\n", "p/a/b", "h", "p/a/b p/a p"},
		{"its root", "-- p/.git/ --\n", "p", "h", "p"},
		{"worktree", "-- p/.git --\ngitdir: x\n-- p/a/ --\n", "p/a", "h", "p/a p"},
		{"inner repository", "-- p/.git/ --\n-- p/q/.git/ --\n-- p/q/a/ --\n", "p/q/a", "h", "p/q/a p/q"},
		{"dangling .git", "-- p/.git -> nowhere --\n-- p/a/ --\n", "p/a", "h", "p/a"},
		{"below home", "-- h/a/b/ --\n", "h/a/b", "h", "h/a/b h/a"},
		{"home", "-- h/ --\n", "h", "h", "h"},
		{"above home", "-- u/h/ --\n", "u", "u/h", "u"},
		{"elsewhere", "-- x/y/ --\n", "x/y", "h", "x/y"},
		{"starts like home", "-- home2/a/ --\n", "home2/a", "home", "home2/a"},
		{"repository at home", "-- h/.git/ --\n-- h/a/ --\n", "h/a", "h", "h/a h"},
		{"link into a repository", "-- p/.git/ --\n-- p/a/ --\n-- l -> p/a --\n", "l", "h", "p/a p"},
		{"home is a link", "-- real/a/b/ --\n-- h -> real --\n", "h/a/b", "h", "real/a/b real/a"},
		{"missing", "-- h/ --\n", "gone/x", "h", "gone/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, tt.tree)
			p := Place{WorkDir: filepath.Join(top, tt.work), Home: filepath.Join(top, tt.home)}
			var got []string
			for _, d := range p.ProjectDirs() {
				rel, _ := filepath.Rel(top, d)
				got = append(got, filepath.ToSlash(rel))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
}

// roots prints roots as "source[/scope] path [^boundary]", relative to top.
func printRoots(top string, list []Root) string {
	var b strings.Builder
	for _, r := range list {
		rel := func(p string) string {
			if s, err := filepath.Rel(top, p); err == nil {
				return filepath.ToSlash(s)
			}
			return p
		}
		kind := string(r.Source)
		if r.Scope != "" {
			kind += "/" + string(r.Scope)
		}
		fmt.Fprintf(&b, "%s %d %s", kind, r.Distance, rel(r.Path))
		if r.Boundary != "" {
			fmt.Fprintf(&b, " ^%s", rel(r.Boundary))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestRoots covers the directories of C-2 in the order of C-5.
func TestRoots(t *testing.T) {
	const repo = "-- p/.git/ --\n-- p/sub/ --\n-- h/x/ --\n"
	tests := []struct {
		name, tree string
		place      Place // paths below the tree, but "~" names stay
		want       string
	}{
		{"everything", repo, Place{WorkDir: "p/sub", Home: "h", Managed: []string{"m"}, AddDirs: []string{"$TOP/other", "~/x", "~joe"}}, `
managed 0 m/.claude/skills
managed 0 m/.agents/skills
user 0 h/.claude/skills
user 0 h/.agents/skills
project 0 p/sub/.claude/skills ^p
project 0 p/sub/.agents/skills ^p
project 1 p/.claude/skills ^p
project 1 p/.agents/skills ^p
additional 0 other/.claude/skills ^other
additional 0 other/.agents/skills ^other
additional 1 h/x/.claude/skills ^h/x
additional 1 h/x/.agents/skills ^h/x
additional 2 p/sub/~joe/.claude/skills ^p
additional 2 p/sub/~joe/.agents/skills ^p
legacy/project 0 p/sub/.claude/commands ^p
legacy/project 1 p/.claude/commands ^p
legacy/user 0 h/.claude/commands
`},
		{"config directory", repo, Place{WorkDir: "p", Home: "h", ConfigDir: "conf", Managed: []string{}}, `
user 0 conf/skills
user 0 h/.agents/skills
project 0 p/.claude/skills ^p
project 0 p/.agents/skills ^p
legacy/project 0 p/.claude/commands ^p
legacy/user 0 conf/commands
`},
		{"without user", repo, Place{WorkDir: "p", Home: "h", NoUser: true, Managed: []string{}}, `
project 0 p/.claude/skills ^p
project 0 p/.agents/skills ^p
legacy/project 0 p/.claude/commands ^p
`},
		{"without project", repo, Place{WorkDir: "p", Home: "h", NoProject: true, Managed: []string{}, AddDirs: []string{"$TOP/o"}}, `
user 0 h/.claude/skills
user 0 h/.agents/skills
additional 0 o/.claude/skills ^o
additional 0 o/.agents/skills ^o
legacy/user 0 h/.claude/commands
`},
		{"home is the project", repo, Place{WorkDir: "h", Home: "h", Managed: []string{}}, `
user 0 h/.claude/skills
user 0 h/.agents/skills
legacy/user 0 h/.claude/commands
`},
		{"home is the project, without user", repo, Place{WorkDir: "h", Home: "h", NoUser: true, Managed: []string{}}, ""},
		{"home by another name", "-- h/ --\n-- l -> h --\n", Place{WorkDir: "l", Home: "h", Managed: []string{}}, `
user 0 h/.claude/skills
user 0 h/.agents/skills
legacy/user 0 h/.claude/commands
`},
		{"added twice", repo, Place{WorkDir: "p", Home: "h", Managed: []string{}, AddDirs: []string{".", "../o", "$TOP/o"}, NoUser: true}, `
project 0 p/.claude/skills ^p
project 0 p/.agents/skills ^p
additional 1 o/.claude/skills ^o
additional 1 o/.agents/skills ^o
legacy/project 0 p/.claude/commands ^p
`},
		{"added inside a repository", repo + "-- q/.git/ --\n", Place{WorkDir: "h/x", Home: "h", Managed: []string{}, AddDirs: []string{"$TOP/q/deep"}, NoUser: true}, `
project 0 h/x/.claude/skills ^h/x
project 0 h/x/.agents/skills ^h/x
additional 0 q/deep/.claude/skills ^q
additional 0 q/deep/.agents/skills ^q
legacy/project 0 h/x/.claude/commands ^h/x
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, tt.tree)
			p := tt.place
			p.WorkDir, p.Home = filepath.Join(top, p.WorkDir), filepath.Join(top, p.Home)
			if p.ConfigDir != "" {
				p.ConfigDir = filepath.Join(top, p.ConfigDir)
			}
			for i, d := range p.Managed {
				p.Managed[i] = filepath.Join(top, d)
			}
			p.AddDirs = slices.Clone(p.AddDirs)
			for i, d := range p.AddDirs {
				p.AddDirs[i] = strings.ReplaceAll(d, "$TOP", top)
			}
			if got := printRoots(top, p.Roots()); got != strings.TrimPrefix(tt.want, "\n") {
				t.Errorf("got:\n%swant:\n%s", got, tt.want)
			}
		})
	}
}

// TestAdditional: the directories that are added count alone, also where they
// are somebody else's in a full run (spec A-7).
func TestAdditional(t *testing.T) {
	top := tree(t, "-- p/.git/ --\n-- h/ --\n-- x/ --\n")
	at := func(name string) string { return filepath.Join(top, name) }
	p := Place{WorkDir: at("p"), Home: at("h"), Managed: []string{at("m")}, AddDirs: []string{at("x"), at("p")}}
	var got []string
	for _, r := range p.Additional() {
		rel, _ := filepath.Rel(top, r.Path)
		got = append(got, fmt.Sprintf("%s:%s:%d", r.Source, filepath.ToSlash(rel), r.Distance))
	}
	want := "additional:x/.claude/skills:0 additional:x/.agents/skills:0 additional:p/.claude/skills:1 additional:p/.agents/skills:1"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %q, want %q", s, want)
	}
}

func TestRootsOfSystem(t *testing.T) {
	t.Setenv("HOME", "/somewhere/home")
	t.Setenv("USERPROFILE", `C:\somewhere\home`)
	home, err := os.UserHomeDir()
	must(t, err)
	list := Place{WorkDir: t.TempDir()}.Roots()
	if list[0].Source != skill.Managed {
		t.Errorf("first root: %+v", list[0])
	}
	if !slices.ContainsFunc(list, func(r Root) bool {
		return r.Source == skill.User && r.Path == filepath.Join(home, ".claude", "skills")
	}) {
		t.Errorf("no user root below %s: %+v", home, list)
	}
}

// TestSameProjectByAnyName finds the same roots by the logical and by the
// physical name of a working directory.
func TestSameProjectByAnyName(t *testing.T) {
	top := tree(t, "-- p/.git/ --\n-- p/a/.agents/skills/x/SKILL.md --\ntext\n-- l -> p/a --\n")
	home := filepath.Join(top, "h")
	a := Place{WorkDir: filepath.Join(top, "p/a"), Home: home}.Roots()
	b := Place{WorkDir: filepath.Join(top, "l"), Home: home}.Roots()
	if !slices.Equal(a, b) {
		t.Errorf("%s\n%s", printRoots(top, a), printRoots(top, b))
	}
	found := 0
	for _, r := range b {
		skills, _ := load(t, r)
		found += len(skills)
	}
	if found != 1 {
		t.Errorf("%d skills", found)
	}
}

func TestHints(t *testing.T) {
	tests := []struct{ name, tree, want string }{
		{"plugins", "-- p/.git/ --\n-- p/plugins/x/skills/s/SKILL.md --\n-- p/w/ --\n", "plugin-layout p/plugins/x/skills"},
		{"marketplace", "-- p/.git/ --\n-- p/.claude-plugin/marketplace.json --\n{}\n-- p/w/ --\n", "plugin-layout p/.claude-plugin/marketplace.json"},
		{"plugin", "-- p/.git/ --\n-- p/.claude-plugin/plugin.json --\n{}\n-- p/w/ --\n", "plugin-layout p/.claude-plugin/plugin.json"},
		{"with skills of its own", "-- p/.git/ --\n-- p/.agents/skills/ --\n-- p/plugins/x/skills/s/SKILL.md --\n-- p/w/ --\n", ""},
		{"other plugins", "-- p/.git/ --\n-- p/plugins/x/main.c --\n-- p/w/ --\n", ""},
		{"nothing", "-- p/.git/ --\n-- p/w/ --\n", ""},
	}
	for _, tt := range tests {
		top := tree(t, tt.tree)
		p := Place{WorkDir: filepath.Join(top, "p/w"), Home: top}
		if got := codes(top, Hints(p)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		p.NoProject = true
		if got := Hints(p); got != nil {
			t.Errorf("%s: without project %v", tt.name, got)
		}
	}
}
