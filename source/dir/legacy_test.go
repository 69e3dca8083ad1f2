package dir

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestCommands covers legacy command files (spec C-4). The root is "r" in the
// repository ".".
func TestCommands(t *testing.T) {
	tests := []struct {
		name     string
		tree     string
		ids      string
		problems string
	}{
		{"missing", ``, "", ""},
		{"files and directories", `
-- r/deploy.md --
-- r/frontend/component.md --
-- r/git/hooks/push.md --
-- r/notes.txt --
`, "deploy frontend:component git:hooks:push", ""},
		{"a directory with SKILL.md", `
-- r/x/SKILL.md --
-- r/x/reference.md --
-- r/x/scripts/y.md --
-- r/a/b/SKILL.md --
`, "x a:b", ""},
		{"skill.md is a command", `
-- r/skill.md --
-- r/video.md --
-- r/x/skill.md --
`, "skill video x:skill", ""},
		{"SKILL.md in the root", `
-- r/SKILL.md --
-- r/a.md --
`, "a", "loose-file r/SKILL.md"},
		{"skipped directories", `
-- r/ship.md --
-- r/node_modules/typescript/README.md --
-- r/node_modules/typescript/x.md --
-- r/.git/x.md --
-- r/dist/x.md --
-- r/venv/x.md --
-- r/.hidden/x.md --
-- r/.hidden.md --
`, "ship", ""},
		{"notices", `
-- r/README.md --
About these commands.
-- r/a/License.md --
MIT
-- r/CHANGELOG.md --
---
description: Write the changelog
---
text
`, "CHANGELOG", ""},
		{"upper-case extension", "-- r/a.MD --\n", "a", ""},
		{"colon and slash", "-- r/a:b.md --\n-- r/a/b.md --\n", "a:b a:b", ""},
		{"twice in one directory", "-- r/f/a.md --\n-- r/f/a/SKILL.md --\n", "f:a f:a", ""},
		{"links", `
-- shared/a.md --
-- r/a.md -> ../shared/a.md --
-- r/team -> ../shared --
-- r/out.md -> /etc/passwd --
-- r/gone.md -> nowhere.md --
-- r/up -> .. --
-- r/etc -> /etc --
`, "a team:a", "dangling-link r/gone.md\nlink-leaves-root r/etc\nlink-leaves-root r/out.md\nlink-loop r/up"},
		{"links to each other", `
-- r/a/x.md --
-- r/a/b -> ../b --
-- r/b/y.md --
-- r/b/a -> ../a --
`, "a:x b:y a:b:y b:a:x", "link-loop r/a/b/a\nlink-loop r/b/a/b"},
		{"bad files", `
-- r/dir.md/x --
-- r/path.md --
../x.md
-- r/good.md --
`, "good", "path-only r/path.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, tt.tree)
			skills, problems := load(t, Root{Path: filepath.Join(top, "r"), Source: skill.Legacy, Scope: skill.Project, Boundary: top})
			if got := ids(skills); got != tt.ids {
				t.Errorf("ids = %q, want %q", got, tt.ids)
			}
			if got := codes(top, problems); got != tt.problems {
				t.Errorf("problems:\n%s\nwant:\n%s", got, tt.problems)
			}
			for _, s := range skills {
				if !s.Content.Positional || s.Origin.Source != skill.Legacy || s.Origin.Scope != skill.Project {
					t.Errorf("%s: %+v", s.ID, s.Origin)
				}
			}
		})
	}
}

// TestCommandFields ignores name and paths, and gives a base directory only to
// skills (spec C-4).
func TestCommandFields(t *testing.T) {
	top := tree(t, `
-- r/a/deploy.md --
---
name: other
description: Deploys
paths: "*.go"
---
Deploy it.
-- r/x/SKILL.md --
---
name: other
description: X
---
Do x.
`)
	skills, problems := load(t, Root{Path: filepath.Join(top, "r"), Source: skill.Legacy, Scope: skill.User})
	if len(skills) != 2 {
		t.Fatal(ids(skills), problems)
	}
	for _, p := range problems { // ignoring is not silent
		if p.Code != "ignored-field" {
			t.Errorf("unexpected %v", p)
		}
	}
	for i, want := range []struct{ id, category, dir, text string }{
		{"a:deploy", "a", "", "Deploy it.\n"},
		{"x", "", filepath.Join(top, "r/x"), "Do x.\n"},
	} {
		s := skills[i]
		in, err := s.Content.Body.Load(t.Context())
		if err != nil || in.Text != want.text || in.Dir != want.dir || s.Origin.Dir != want.dir {
			t.Errorf("%s: %+v, %v", s.ID, in, err)
		}
		if s.ID != want.id || s.Origin.Category != want.category {
			t.Errorf("id %q category %q", s.ID, s.Origin.Category)
		}
		if s.Name != "" || s.Trigger.Conditional || len(s.Trigger.Paths) > 0 {
			t.Errorf("%s: name %q, paths %q", s.ID, s.Name, s.Trigger.Paths)
		}
		if strings.Contains(s.ID, "/") {
			t.Errorf("id %q", s.ID)
		}
	}
}
