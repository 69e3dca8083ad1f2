package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/lint"
)

func TestMissingResources(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, ".claude", "skills", "demo")
	for _, name := range []string{
		filepath.Join(dir, "references", "api.md"), filepath.Join(dir, "my notes.md"),
		filepath.Join(root, "docs", "guide.md"),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ body, want string }{
		{"See [api](references/api.md), [it](./references/api.md#part) and [dir](references/).", ""},
		{"[notes](my%20notes.md) [notes](<my notes.md>) [api](references/api.md \"Title\")", ""},
		{"[guide](docs/guide.md)", ""}, // relative to the project
		{"See [api](references/apis.md).", "missing-resource@4:11"},
		{"See ![picture](assets/a.png).", "missing-resource@4:16"},
		{"说 [文](references/无.md)", "missing-resource@4:7"},
		{"[a](x.md) [b](references/api.md) [c](y.md)", "missing-resource@4:5 missing-resource@4:38"},
		{"[a](references/api.md/x.md)", "missing-resource@4:5"},
		{"[a](../demo/x.md)", "missing-resource@4:5"},
		{"[a](../demo/references/api.md)", ""},
		{"[a](scripts/run(1).sh)", "missing-resource@4:5"},
		// No files, or not meant as such.
		{"[a](https://example.com/x.md) [b](mailto:a@b.c) [c](#part) [d](/abs/x.md) [e](~/x.md)", ""},
		{"[a](path/to/file.md) [b](url) [c](your-file.md) [d]({{x}}.md) [e](<x>.md) [f](www.example.com/a.html)", ""},
		{"[a](${CLAUDE_SKILL_DIR}/x.md) [b](*.md) [c](C:\\x.md) [d](example.com) [e]() [f](link text)", ""},
		{"Write `[a](x.md)` or ``[`b`](y.md)`` here.", ""},
		{"```md\n[a](x.md)\n```\n~~~\n[b](y.md)\n~~~\n    ```\n    [c](z.md)\n    ```", ""},
		{"<!-- [a](x.md) -->\n<!--\n[b](y.md)\n-->", ""},
		{"```md\n```\n[a](x.md)", "missing-resource@6:5"},
		{"<!-- c --> [a](x.md)", "missing-resource@4:16"},
		{"`code` [a](x.md) `unclosed", "missing-resource@4:12"},
		{"text](x.md) and \\](y.md)", ""},
		{"The list x[i](a.b) is code without marks", "missing-resource@4:15"},
	} {
		s, data := parse(dir, described+tt.body)
		if got := codes(lint.File(s, data, lint.Options{})); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.body, got, tt.want)
		}
	}
}

func TestNestedSkills(t *testing.T) { // spec C-3
	dir := filepath.Join(t.TempDir(), "demo")
	for _, name := range []string{
		"SKILL.md", "sub/SKILL.md", "skills/other/SKILL.md", "assets/x/SKILL.md", "templates/SKILL.md",
		"node_modules/x/SKILL.md", "sub/skill.md", "a/b/c/d/e/SKILL.md",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(described), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, data := parse(dir, described)
	var got []string
	for _, p := range lint.File(s, data, lint.Options{}) {
		rel, err := filepath.Rel(dir, p.Path)
		if err != nil || p.Code != "nested-skill-ignored" {
			t.Fatal(p, err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if d := cmp.Diff([]string{"skills/other/SKILL.md", "sub/SKILL.md"}, got); d != "" {
		t.Error(d)
	}
}
