package dir

import (
	"path/filepath"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestFolders covers which folders become skills, under which ids, and what is
// said about the rest (spec F-1, C-3, C-7). The root is "r".
func TestFolders(t *testing.T) {
	tests := []struct {
		name     string
		tree     string
		ids      string
		problems string
	}{
		{"missing root", ``, "", ""},
		{"empty root", "-- r/ --\n", "", ""},
		{"one level", `
-- r/b/SKILL.md --
B
-- r/a/SKILL.md --
A
-- r/a/scripts/SKILL.md --
not searched
`, "a b", ""},
		{"categories", `
-- r/cat/sub/deploy/SKILL.md --
-- r/cat/check/SKILL.md --
-- r/top/SKILL.md --
`, "top check deploy", ""},
		{"too deep", `
-- r/a/b/c/d/SKILL.md --
`, "", "too-deep r/a/b/c/d/SKILL.md"},
		{"second of one name", `
-- r/a/deploy/SKILL.md --
a
-- r/b/deploy/SKILL.md --
b
-- r/c/d/deploy/SKILL.md --
cd
`, "deploy b:deploy c/d:deploy", ""},
		{"the shallow one keeps its name", `
-- r/a/deploy/SKILL.md --
-- r/deploy/SKILL.md --
`, "deploy a:deploy", ""},
		{"skipped directories", `
-- r/.git/x/SKILL.md --
-- r/.hidden/SKILL.md --
-- r/node_modules/x/SKILL.md --
-- r/cat/node_modules/x/SKILL.md --
-- r/azure/SKILL.md --
-- r/README.md --
-- r/.gitignore --
/azure
`, "azure", ""},
		{"loose files", `
-- r/code-review.md --
-- r/SKILL.md --
-- r/notes.txt --
-- r/a/SKILL.md --
`, "a", "loose-file r/SKILL.md\nloose-file r/code-review.md"},
		{"other case", `
-- r/a/skill.md --
A
-- r/b/Skill.md --
B
-- r/c/SKILL.md --
C
-- r/c/skill.md --
resource
`, "a b c", "skill-file-case r/a/skill.md\nskill-file-case r/b/Skill.md"},
		{"no skill file", `
-- r/a/README.md --
-- r/b/deploy.md --
-- r/c/run.sh --
`, "", "no-skill-file r/b"},
		{"plugin below a root", `
-- r/p/.claude-plugin/plugin.json --
{}
-- r/p/skills/x/SKILL.md --
-- r/a/SKILL.md --
`, "a", "plugin-directory r/p"},
		{"wrong case beside", `
-- R/a/SKILL.md --
-- r/ --
`, "", "wrong-case-directory R"},
		{"wrong case instead", `
-- R/a/SKILL.md --
`, "", "wrong-case-directory R"},
		{"root is a file", "-- r --\n", "", "not-a-directory r"},
		{"git link as text", `
-- r/a/SKILL.md --
../../shared/a/SKILL.md
-- r/b/SKILL.md --
Be brief.
`, "b", "path-only r/a/SKILL.md"},
		{"directory named SKILL.md", `
-- r/a/SKILL.md/x --
-- r/b/SKILL.md --
`, "b", "not-a-regular-file r/a/SKILL.md"},

		{"root is a link", `
-- canon/oracle/SKILL.md --
-- r -> canon --
`, "oracle", ""},
		{"root is a dangling link", "-- r -> nowhere --\n", "", "dangling-link r"},
		{"root is a loop", "-- r -> r --\n", "", "link-loop r"},
		{"linked folder anywhere", `
-- canon/x/SKILL.md --
-- r/l -> ../canon/x --
-- r/a/SKILL.md --
`, "a l", ""},
		{"real before link", `
-- r/a -> z --
-- r/z/SKILL.md --
`, "z a", ""},
		{"a link takes no name", `
-- r/cat/deploy/SKILL.md --
-- r/deploy -> cat/deploy --
`, "deploy deploy", ""},
		{"linked category", `
-- canon/x/SKILL.md --
-- canon/y/SKILL.md --
-- r/team -> ../canon --
`, "x y", ""},
		{"linked SKILL.md", `
-- canon.md --
text
-- r/a/SKILL.md -> ../../canon.md --
`, "a", ""},
		{"link to a loop", `
-- r/a -> b --
-- r/b -> a --
-- r/c -> c --
-- r/d/SKILL.md -> SKILL.md --
-- r/e/SKILL.md --
`, "e", "link-loop r/a\nlink-loop r/b\nlink-loop r/c\nlink-loop r/d/SKILL.md"},
		{"link to what holds it", `
-- r/up -> .. --
-- r/here -> . --
-- r/cat/back -> .. --
-- r/a/SKILL.md --
`, "a", "link-loop r/cat/back\nlink-loop r/here\nlink-loop r/up"},
		{"dangling links", `
-- r/a -> nowhere --
-- r/b/SKILL.md -> nowhere --
-- r/c/SKILL.md --
`, "c", "dangling-link r/a\ndangling-link r/b/SKILL.md"},
		{"link to a device", `
-- r/a/SKILL.md -> /dev/zero --
-- r/b/SKILL.md --
`, "b", "not-a-regular-file r/a/SKILL.md"},
		{"link in another case", `
-- canon.md --
text
-- r/a/skill.md -> ../../canon.md --
`, "a", "skill-file-case r/a/skill.md"},
		{"link to a file", `
-- canon.txt --
-- r/a -> ../canon.txt --
`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, tt.tree)
			skills, problems := load(t, Root{Path: filepath.Join(top, "r"), Source: skill.User})
			if got := ids(skills); got != tt.ids {
				t.Errorf("ids = %q, want %q", got, tt.ids)
			}
			if got := codes(top, problems); got != tt.problems {
				t.Errorf("problems:\n%s\nwant:\n%s", got, tt.problems)
			}
		})
	}
}

// TestBoundary covers roots whose links may not leave the repository (spec C-7).
func TestBoundary(t *testing.T) {
	tests := []struct {
		name     string
		tree     string
		ids      string
		problems string
	}{
		{"inside the root", "-- repo/r/a/SKILL.md --\n-- repo/r/b -> a --\n", "a b", ""},
		{"inside the repository", "-- repo/src/a/SKILL.md --\n-- repo/r/a -> ../src/a --\n", "a", ""},
		{"a name that only starts alike", "-- repo2/a/SKILL.md --\n-- repo/r/a -> ../../repo2/a --\n", "", "link-leaves-root repo/r/a"},
		{"folder outside", "-- out/a/SKILL.md --\n-- repo/r/a -> ../../out/a --\n-- repo/r/b/SKILL.md --\n", "b", "link-leaves-root repo/r/a"},
		{"absolute", "-- out/a/SKILL.md --\n-- repo/r/a -> $TOP/out/a --\n", "", "link-leaves-root repo/r/a"},
		{"secret as SKILL.md", "-- id_rsa --\nkey\n-- repo/r/x/SKILL.md -> ../../../id_rsa --\n", "", "link-leaves-root repo/r/x/SKILL.md"},
		{"secret in another case", "-- id_rsa --\nkey\n-- repo/r/x/skill.md -> ../../../id_rsa --\n", "",
			"link-leaves-root repo/r/x/skill.md\nskill-file-case repo/r/x/skill.md"},
		{"by way of an inner link", "-- out/SKILL.md --\n-- repo/hop -> ../out --\n-- repo/r/x -> ../hop --\n", "", "link-leaves-root repo/r/x"},
		{"category outside", "-- out/a/SKILL.md --\n-- repo/r/team -> ../../out --\n", "", "link-leaves-root repo/r/team"},
		{"root outside", "-- out/a/SKILL.md --\n-- repo/r -> ../out --\n", "", "link-leaves-root repo/r"},
		{"root inside", "-- repo/src/a/SKILL.md --\n-- repo/r -> src --\n", "a", ""},
		{"out and back in", "-- out/back -> ../repo/src --\n-- repo/src/a/SKILL.md --\n-- repo/r/a -> ../../out/back/a --\n", "a", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, tt.tree)
			repo := filepath.Join(top, "repo")
			skills, problems := load(t, Root{Path: filepath.Join(repo, "r"), Source: skill.Project, Boundary: repo})
			if got := ids(skills); got != tt.ids {
				t.Errorf("ids = %q, want %q", got, tt.ids)
			}
			if got := codes(top, problems); got != tt.problems {
				t.Errorf("problems:\n%s\nwant:\n%s", got, tt.problems)
			}
		})
	}
}
