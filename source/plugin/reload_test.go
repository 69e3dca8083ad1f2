package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
)

// TestReload: a plugin that is loaded again with a memory of its files is what a
// fresh load finds, and a file that an edit broke keeps its last version (spec D-8).
func TestReload(t *testing.T) {
	top := tree(t, map[string]string{
		"skills/a/SKILL.md": "---\ndescription: Good.\n---\nBody.\n",
		"commands/b.md":     "---\ndescription: Command.\n---\nBody.\n",
	})
	src := Source{Name: "p", Dir: top, Files: dir.NewCache("")}
	for range 3 { // namespaces are not added twice
		got, problems, err := src.Load(t.Context())
		fresh := src
		fresh.Files = nil
		want, _, _ := fresh.Load(t.Context())
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
			t.Error(diff)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "skills/a/SKILL.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got, problems, err := src.Load(t.Context())
	if err != nil || len(got) != 2 || got[0].Description != "Good." || got[0].ID != "p:a" || len(problems) != 1 || problems[0].Code != "last-version-kept" {
		t.Error(plain(got), problems, err)
	}
}

// plain is skills without what cannot be compared.
func plain(skills []*skill.Skill) (out []skill.Skill) {
	for _, sk := range skills {
		s := *sk
		s.Content.Body = nil
		out = append(out, s)
	}
	return out
}
