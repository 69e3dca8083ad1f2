package dir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestLimit: what may not count yet is as it was: changed, new, gone, refused.
// Without the limit all is as a fresh load has it.
func TestLimit(t *testing.T) {
	top := tree(t, library)
	at := func(name string) string { return filepath.Join(top, name) }
	c := NewCache("")
	folders := Root{Path: at("r"), Source: skill.User, Cache: c}
	commands := Root{Path: at("c"), Source: skill.Legacy, Cache: c}
	grow(t, top, "r/refused/SKILL.md", []byte("\x00"))
	grow(t, top, "c/refused.md", []byte("\x00"))
	both := func() string {
		var b strings.Builder
		for _, r := range []Root{folders, commands} {
			skills, problems := load(t, r)
			b.WriteString(dump(skills))
			b.WriteString(codes("\n", problems))
		}
		return b.String()
	}
	before := both()
	aged(c)
	never := func(string) bool { return false }
	c.Limit(never)
	same := func(what string) {
		t.Helper()
		for range 2 {
			if now := both(); now != before {
				t.Errorf("%s: it was\n%s\nand is\n%s", what, before, now)
			}
		}
	}
	same("nothing")
	grow(t, top, "r/a/SKILL.md", []byte("---\ndescription: Changed.\n---\n"))
	grow(t, top, "c/a.md", []byte("---\ndescription: Changed.\n---\n"))
	same("changed")
	grow(t, top, "r/new/SKILL.md", []byte("---\ndescription: New.\n---\n"))
	grow(t, top, "c/new.md", []byte("---\ndescription: New.\n---\n"))
	same("new")
	grow(t, top, "r/refused/SKILL.md", []byte("---\ndescription: Repaired.\n---\n"))
	grow(t, top, "c/refused.md", []byte("---\ndescription: Repaired.\n---\n"))
	same("refused")
	must(t, os.Rename(at("r"), at("away")))
	c.Limit(func(path string) bool { return path == at("c/new.md") })
	if now := both(); !strings.Contains(now, "New.") || !strings.Contains(now, "First.") || strings.Contains(now, "Changed.") {
		t.Errorf("one of them: %s", now)
	}
	must(t, os.Rename(at("away"), at("r")))
	must(t, os.RemoveAll(at("r/b")))
	c.Limit(func(path string) bool { return path == at("r/a/SKILL.md") })
	if now := both(); !strings.Contains(now, "Second.") || strings.Count(now, "Changed.") != 1 || strings.Count(now, "New.") != 1 {
		t.Errorf("another: %s", now)
	}
	c.Limit(nil)
	got := both()
	folders.Cache, commands.Cache = nil, nil
	if want := both(); got != want {
		t.Errorf("without a limit\n%s\nwant\n%s", got, want)
	}
}
