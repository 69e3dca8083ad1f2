package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// described is a skill without anything to report.
func described(text string) string {
	return "---\ndescription: " + text + "\n---\nBody of " + text + ".\n"
}

// TestCasesDiscovery: which skills are found, and what is said of the others.
func TestCasesDiscovery(t *testing.T) {
	const project, user = "repo/.claude/skills/", "home/.claude/skills/"
	tests := []struct {
		rule  string
		files map[string]string
		args  []string
		ids   string
		says  string // codes, by check
	}{
		{"C-7 the user's root is a link", map[string]string{"dots/oracle/SKILL.md": described("a"), "home/.claude/skills->": "../../dots"}, nil, "oracle", ""},
		{"C-7 one file by two roots", map[string]string{"home/.agents/skills/scan/SKILL.md": described("a"), user + "scan->": "../../.agents/skills/scan"}, nil, "scan", ""},
		{"C-7 two roots are one directory", map[string]string{"canon/research/SKILL.md": described("a"), "home/.claude/skills->": "../../canon", "home/.agents/skills->": "../../canon"}, nil, "research", ""},
		{"C-7 a link out of the repository", map[string]string{"home/.ssh/id": "secret", project + "x/SKILL.md->": "../../../../home/.ssh/id"}, nil, "", "link-leaves-root"},
		{"C-2 parents up to the repository", map[string]string{"repo/sub/deep/.keep": "", "repo/sub/.claude/skills/near/SKILL.md": described("a"), project + "far/SKILL.md": described("b")},
			[]string{"-C", "repo/sub/deep"}, "far near", ""},
		{"C-2 the nearest wins", map[string]string{"repo/sub/.claude/skills/x/SKILL.md": described("near"), project + "x/SKILL.md": described("far")}, []string{"-C", "repo/sub"}, "x", "shadowed"},
		{"C-2 the user's skills do not depend on the directory", map[string]string{user + "m/SKILL.md": described("a"), "else/.keep": ""}, []string{"-C", "else"}, "m", ""},
		{"C-2 .agents", map[string]string{"repo/.agents/skills/x/SKILL.md": described("a")}, nil, "x", ""},
		{"C-2 the directory is a link", map[string]string{"repo/.agents/skills/x/SKILL.md": described("a"), "link->": "repo"}, []string{"-C", "link"}, "x", ""},
		{"C-3 wrong case of the directory", map[string]string{"repo/.claude/Skills/core/SKILL.md": described("a"), project + ".keep": ""}, nil, "", "wrong-case-directory"},
		{"F-1 wrong case of the file", map[string]string{project + "x/skill.md": described("a")}, nil, "x", "skill-file-case"},
		{"F-1 a link as text", map[string]string{project + "x/SKILL.md": "../other/SKILL.md", project + "y/SKILL.md": described("a")}, nil, "y", "path-only"},
		{"C-3 a file beside the skills", map[string]string{project + "code-review.md": described("a")}, nil, "", "loose-file"},
		{"C-3 .gitignore hides nothing of the user", map[string]string{user + ".gitignore": "/demo\n", user + "demo/SKILL.md": described("a")}, nil, "demo", ""},
		{"C-3 one odd entry of many", map[string]string{project + "a/SKILL.md": described("a"), project + "b/SKILL.md": "\xff\xfe\x00", project + "c": "text", project + "d/SKILL.md": described("d")}, nil, "a d", "utf-16"},
		{"C-3 a clone as the root", map[string]string{user + "README.md": "# R", user + ".git/HEAD": "x", user + "azure/SKILL.md": described("a"), user + "nested/x/SKILL.md": described("b")}, nil, "azure x", ""},
		{"C-3 plugins are no project skills", map[string]string{"repo/plugins/p/skills/s/SKILL.md": described("a")}, nil, "", "plugin-layout"},
		{"C-4 packages beside commands", map[string]string{"home/.claude/commands/ship.md": described("a"), "home/.claude/commands/node_modules/typescript/README.md": "# x\n"}, nil, "ship", ""},
		{"C-4 folders of commands", map[string]string{"repo/.claude/commands/git/push.md": described("a"), "repo/.claude/commands/whoami.md": described("b")}, nil, "git:push whoami", ""},
		{"C-5 the user's before the project's", map[string]string{user + "handoff/SKILL.md": described("u"), project + "handoff/SKILL.md": described("p")}, nil, "handoff", "shadowed"},
		{"C-6 a claimed name", map[string]string{project + "bird-co/SKILL.md": "---\nname: bird\ndescription: a\n---\nB\n", project + "bird/SKILL.md": "---\nname: bird\ndescription: b\n---\nC\n"},
			nil, "bird bird-co", "display-name-taken name-differs-from-directory"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			p := newPlace(t, tt.files)
			args := append([]string(nil), tt.args...)
			if len(args) == 2 {
				args[1] = p.path(args[1])
			}
			if got := ids(p.list(args...)); got != tt.ids {
				t.Errorf("found %q, want %q", got, tt.ids)
			}
			if got := p.problems(args...); got != tt.says {
				t.Errorf("says %q, want %q", got, tt.says)
			}
		})
	}
}

// TestCasesWinner: the winner is the one that runs, and the loser says who
// stands before it (C-5).
func TestCasesWinner(t *testing.T) {
	p := newPlace(t, map[string]string{
		"home/.claude/skills/handoff/SKILL.md": described("user"), "repo/.claude/skills/handoff/SKILL.md": described("project"),
	})
	if text, _ := p.render("handoff"); !strings.Contains(text, "Body of user.") {
		t.Errorf("%q", text)
	}
	var rows []row
	p.decode(&rows, "list", "--all", "--source", "project")
	if len(rows) != 1 || rows[0].State != "shadowed" || rows[0].ShadowedBy != "handoff" {
		t.Errorf("%+v", rows)
	}
}

// TestCasesAddDir: more directories of skills, by flag and by setting, also with
// a tilde (C-2).
func TestCasesAddDir(t *testing.T) {
	files := map[string]string{"home/more/.claude/skills/x/SKILL.md": described("a")}
	for _, dir := range []string{"~/more", "home/more"} {
		p := newPlace(t, files)
		if !strings.HasPrefix(dir, "~") {
			dir = p.path(dir)
		}
		if got := ids(p.list("--add-dir", dir)); got != "x" {
			t.Errorf("--add-dir %s: %q", dir, got)
		}
		settings, err := json.Marshal(map[string]any{"permissions": map[string]any{"additionalDirectories": []string{dir}}})
		if err != nil {
			t.Fatal(err)
		}
		p.write("home/.claude/settings.json", string(settings))
		if got := ids(p.list()); got != "x" {
			t.Errorf("additionalDirectories %s: %q", dir, got)
		}
		if _, err := os.Lstat(p.path("repo/~")); err == nil {
			t.Error("a directory named ~ was made")
		}
	}
}

// TestCasesEveryFrontEnd: whoever asks gets the same skills (C-9): the list, the
// model's listing, the completion of names, the call.
func TestCasesEveryFrontEnd(t *testing.T) {
	p := newPlace(t, map[string]string{
		"elsewhere/linked/SKILL.md":         described("linked"),
		"home/.claude/skills/linked->":      "../../../elsewhere/linked",
		"repo/.claude/skills/here/SKILL.md": described("here"),
	})
	var listing struct{ Entries []struct{ ID string } }
	p.decode(&listing, "listing")
	offered := map[string]bool{}
	for _, e := range listing.Entries {
		offered[e.ID] = true
	}
	names := p.run("__complete", "render", "")
	for _, id := range []string{"linked", "here"} {
		text, _ := p.render(id)
		if !offered[id] || !strings.Contains(names.stdout, id) || !strings.Contains(text, "Body of "+id) {
			t.Errorf("%s is not everywhere: %v\n%s\n%s", id, offered, names.stdout, text)
		}
		if !strings.Contains(text, "Base directory for this skill: ") {
			t.Errorf("%s has no base directory: %q", id, text)
		}
	}
}
