package dir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestSame: the same text in the same file, in another one in its place, behind
// a link that leads elsewhere, and other texts.
func TestSame(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\nOne.\n-- x/SKILL.md --\nOne.\n-- y/SKILL.md --\nOne.\n-- r/l -> ../x --\n")
	a, l := filepath.Join(top, "r/a/SKILL.md"), filepath.Join(top, "r/l/SKILL.md")
	c := NewCache("")
	load(t, Root{Path: filepath.Join(top, "r"), Source: skill.User, Cache: c})
	check := func(what, path string, wantText, wantFile bool) {
		t.Helper()
		if text, file := c.Same(path); text != wantText || file != wantFile {
			t.Errorf("%s: text %v, file %v", what, text, file)
		}
	}
	check("nothing kept", a, false, false)
	must(t, c.Preserve(t.Context(), 1<<20))
	check("as it was", a, true, true)
	check("behind a link", l, true, true)
	if text, ok := c.Text(a); text != "One.\n" || !ok {
		t.Errorf("the text is %q, %v", text, ok)
	}
	must(t, os.WriteFile(a, []byte("One.\n"), 0o644))
	check("written again", a, true, true)
	must(t, os.WriteFile(filepath.Join(top, "new"), []byte("One.\n"), 0o644))
	must(t, os.Rename(filepath.Join(top, "new"), a))
	check("another file", a, true, false)
	must(t, os.Remove(filepath.Join(top, "r/l")))
	must(t, os.Symlink("../y", filepath.Join(top, "r/l")))
	check("another target", l, true, false)
	must(t, os.WriteFile(a, []byte("Two.\n"), 0o644))
	check("another text", a, false, false)
	must(t, os.Remove(a))
	check("gone", a, false, false)
	check("never there", filepath.Join(top, "r/b/SKILL.md"), false, false)
}
