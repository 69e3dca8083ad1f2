//go:build unix

package dir

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/index"
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

// link gives the file r/a/SKILL.md below top further names.
func link(t *testing.T, top string, names ...string) {
	t.Helper()
	for _, name := range names {
		name = filepath.Join(top, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.Link(filepath.Join(top, "r/a/SKILL.md"), name))
	}
}

// readings counts how often the files of skills were read: text of one reading
// lies in one place.
func readings(skills ...*skill.Skill) int {
	texts := map[*byte]bool{}
	for _, s := range skills {
		texts[unsafe.StringData(s.Description)] = true
	}
	return len(texts)
}

const linked = `
-- r/a/SKILL.md --
---
name: shown
description: First.
disable-model-invocation: perhaps
---
Body.
-- r/single/SKILL.md --
---
description: Of its own.
---
`

// TestHardLinksReadOnce: a file with several names is read once, and everything
// else is as if each name had a file of its own (spec C-11).
func TestHardLinksReadOnce(t *testing.T) {
	roots := func(top string, c *Cache) []Root {
		return []Root{
			{Path: filepath.Join(top, "r"), Source: skill.User, Cache: c},
			{Path: filepath.Join(top, "q"), Source: skill.Project, Boundary: top, Cache: c},
			{Path: filepath.Join(top, "c"), Source: skill.Legacy, Scope: skill.User, Cache: c},
		}
	}
	names := []string{"r/b/SKILL.md", "r/cat/d/SKILL.md", "q/a/SKILL.md", "q/e/skill.md", "c/f.md", "c/g/h.md"}
	for _, tt := range []struct {
		name  string
		cache *Cache
		want  int // readings of the file with all the names
	}{
		{"memory", NewCache(t.TempDir()), 2}, // as a skill and as a command
		{"none", nil, 3},                     // and each root for itself
	} {
		t.Run(tt.name, func(t *testing.T) {
			top, apart := tree(t, linked), tree(t, linked)
			link(t, top, names...)
			text, err := os.ReadFile(filepath.Join(top, "r/a/SKILL.md"))
			must(t, err)
			for _, name := range names {
				grow(t, apart, name, text)
			}
			var all []*skill.Skill
			for i, r := range roots(top, tt.cache) {
				skills, problems := load(t, r)
				want, wantProblems := load(t, roots(apart, nil)[i])
				if g, w := plain(top, skills), plain(apart, want); g != w {
					t.Errorf("%s:\n%s\nwant\n%s", r.Path, g, w)
				}
				if g, w := codes(top, problems), codes(apart, wantProblems); g != w || !strings.Contains(g, " ") {
					t.Errorf("%s: problems\n%s\nwant\n%s", r.Path, g, w)
				}
				if tt.cache != nil {
					aged(tt.cache)
				}
				all = append(all, skills...)
			}
			if n := readings(all...); len(all) != 8 || n != tt.want+1 {
				t.Errorf("%d skills, %d readings, want %d", len(all), n, tt.want+1)
			}
		})
	}
}

// plain is dump without what differs between two equal trees.
func plain(top string, skills []*skill.Skill) string {
	var out []*skill.Skill
	for _, s := range skills {
		same := *s
		same.Origin.Device, same.Origin.Inode = 0, 0
		out = append(out, &same)
	}
	return strings.ReplaceAll(dump(out), top, "")
}

// TestHardLinksIndexed: an index knows a file by each of its names, and after an
// edit the file is read once.
func TestHardLinksIndexed(t *testing.T) {
	top := tree(t, linked)
	link(t, top, "r/b/SKILL.md", "r/c/SKILL.md")
	r := Root{Path: filepath.Join(top, "r"), Source: skill.User, Cache: NewCache(t.TempDir())}
	before, _ := load(t, r)
	aged(r.Cache)
	keep(t, r.Cache)
	r.Cache = NewCache(r.Cache.dir)
	if after, _ := load(t, r); dump(after) != dump(before) || reads(r.Cache) != 0 {
		t.Errorf("%d files were read:\n%s", reads(r.Cache), dump(after))
	}
	must(t, os.WriteFile(filepath.Join(top, "r/c/SKILL.md"), []byte("Changed through one name.\n"), 0o644))
	for _, c := range []*Cache{r.Cache, NewCache(r.Cache.dir)} {
		r.Cache = c
		after, _ := load(t, r)
		if ids(after) != "a b c single" || after[0].Description != "Changed through one name." || readings(after[:3]...) != 1 {
			t.Errorf("%d readings:\n%s", readings(after[:3]...), dump(after))
		}
	}
}

// TestHardLinksRacy: an edit between the loads of two roots is seen by the second
// one, though it leaves the size and perhaps the times of the file.
func TestHardLinksRacy(t *testing.T) {
	top := tree(t, linked)
	link(t, top, "q/a/SKILL.md")
	c := NewCache("")
	for i := range 10 {
		text := fmt.Sprintln(i)
		must(t, os.WriteFile(filepath.Join(top, "r/a/SKILL.md"), []byte(text), 0o644))
		skills, _ := load(t, Root{Path: filepath.Join(top, []string{"r", "q"}[i%2]), Source: skill.User, Cache: c})
		if skills[0].Description+"\n" != text {
			t.Errorf("%q, want %q", skills[0].Description, text)
		}
	}
}

// TestShelf forgets when it is full, and lets a load have what was read since it
// began or is known not to have changed.
func TestShelf(t *testing.T) {
	s := new(shelf)
	first := s.volume(fileID{1, 0, false})
	if s.volume(fileID{1, 0, false}) != first || s.volume(fileID{1, 0, true}) == first || s.volume(fileID{2, 0, false}) == first {
		t.Error("files are mixed up")
	}
	for i := range maxShelf {
		s.volume(fileID{1, uint64(i), false})
	}
	if len(s.files) > maxShelf || s.volume(fileID{1, 0, false}) == first {
		t.Errorf("%d files", len(s.files))
	}
	st := index.Stamp{Size: 1}
	for _, tt := range []struct {
		at, began   int64
		now         index.Stamp
		settled, ok bool
	}{
		{5, 5, st, false, true},
		{5, 6, st, false, false},
		{5, 6, st, true, true},
		{5, 5, index.Stamp{Size: 2}, true, false},
	} {
		v := &volume{rd: reading{stamp: st, at: tt.at}, settled: tt.settled}
		if got := v.current(tt.now, tt.began); got != tt.ok {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
