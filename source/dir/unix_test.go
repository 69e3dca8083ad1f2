//go:build unix

package dir

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestSpecialFiles must not hang (spec C-11).
func TestSpecialFiles(t *testing.T) {
	top := tree(t, `
-- r/fifo/x --
-- r/socket/x --
-- r/linked/SKILL.md -> ../fifo/SKILL.md --
-- r/good/SKILL.md --
-- c/good.md --
`)
	must(t, syscall.Mkfifo(filepath.Join(top, "r/fifo/SKILL.md"), 0o644))
	must(t, syscall.Mkfifo(filepath.Join(top, "r/loose"), 0o644))
	must(t, syscall.Mkfifo(filepath.Join(top, "c/fifo.md"), 0o644))
	must(t, syscall.Mkfifo(filepath.Join(top, "root"), 0o644))
	t.Chdir(filepath.Join(top, "r/socket")) // the names of sockets are short
	l, err := net.Listen("unix", "SKILL.md")
	must(t, err)
	defer l.Close()

	skills, problems := load(t, Root{Path: filepath.Join(top, "r")})
	if got := ids(skills); got != "good" {
		t.Errorf("ids = %q", got)
	}
	want := "not-a-regular-file r/fifo/SKILL.md\nnot-a-regular-file r/linked/SKILL.md\nnot-a-regular-file r/socket/SKILL.md"
	if got := codes(top, problems); got != want {
		t.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
	skills, problems = load(t, Root{Path: filepath.Join(top, "c"), Source: skill.Legacy})
	if got := ids(skills) + " " + codes(top, problems); got != "good not-a-regular-file c/fifo.md" {
		t.Errorf("commands: %s", got)
	}
	skills, problems = load(t, Root{Path: filepath.Join(top, "root")})
	if got := ids(skills) + codes(top, problems); got != "not-a-directory root" {
		t.Errorf("root: %s", got)
	}
	if _, err := list(filepath.Join(top, "root")); err == nil {
		t.Error("a FIFO was listed")
	}
}

// TestUnreadable uses failures that also happen to the superuser: a path that
// is longer than the system allows.
func TestUnreadable(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	long := strings.Repeat("d", 200)
	deep := top
	for len(deep)+2*len(long) < 4000 {
		deep = filepath.Join(deep, long)
	}
	must(t, os.MkdirAll(deep, 0o755))
	t.Chdir(deep)
	// Relative names reach farther down than absolute ones.
	name := strings.Repeat("n", 4096-len(deep)-len("/SKILL.md"))
	must(t, os.Mkdir(name[:min(len(name), 255)], 0o755))
	must(t, os.MkdirAll("good", 0o755))
	must(t, os.WriteFile("good/SKILL.md", []byte("text"), 0o644))
	inner := name[:min(len(name), 255)]
	must(t, os.MkdirAll(filepath.Join(inner, inner), 0o755))
	skills, problems := load(t, Root{Path: deep})
	if got := ids(skills); got != "good" {
		t.Errorf("ids = %q", got)
	}
	if len(problems) != 1 || problems[0].Code != unreadable || !strings.Contains(problems[0].Message, "name too long") {
		t.Errorf("problems = %v", problems)
	}
}

// TestForbidden holds for people without special rights.
func TestForbidden(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may read everything; TestUnreadable covers failing to")
	}
	top := tree(t, "-- r/file/SKILL.md --\n-- r/dir/SKILL.md --\n-- r/good/SKILL.md --\n-- c/x.md --\n")
	for _, name := range []string{"r/file/SKILL.md", "r/dir", "c"} {
		path := filepath.Join(top, name)
		must(t, os.Chmod(path, 0))
		defer os.Chmod(path, 0o755)
	}
	skills, problems := load(t, Root{Path: filepath.Join(top, "r")})
	want := "good unreadable r/dir/SKILL.md\nunreadable r/file/SKILL.md"
	if got := ids(skills) + " " + codes(top, problems); got != want {
		t.Errorf("got %s", got)
	}
	skills, problems = load(t, Root{Path: filepath.Join(top, "c"), Source: skill.Legacy})
	if got := ids(skills) + codes(top, problems); got != "unreadable c" {
		t.Errorf("got %s", got)
	}
}

// TestHardLinks tells the catalog by device and inode that two files are one.
func TestHardLinks(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\n-- r/b/ --\n-- r/c/SKILL.md --\n")
	must(t, os.Link(filepath.Join(top, "r/a/SKILL.md"), filepath.Join(top, "r/b/SKILL.md")))
	skills, _ := load(t, Root{Path: filepath.Join(top, "r")})
	if got := ids(skills); got != "a b c" {
		t.Fatalf("ids = %q", got)
	}
	a, b, c := skills[0].Origin, skills[1].Origin, skills[2].Origin
	if a.Inode != b.Inode || a.Device != b.Device || a.Inode == c.Inode || a.Real == b.Real {
		t.Errorf("%+v %+v %+v", a, b, c)
	}
}
