package dir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/index"
)

// aged says that nothing of k changed lately, as if the files were older than
// a tick of the clock when they were read.
func aged(c *Cache) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.roots {
		for _, e := range k.entries {
			e.settled = true
		}
	}
	for _, v := range c.shared.files {
		v.settled = true
	}
}

// withBodies is dump with what the bodies say.
func withBodies(t *testing.T, skills []*skill.Skill) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(dump(skills))
	for _, s := range skills {
		in, err := s.Content.Body.Load(t.Context())
		fmt.Fprintf(&b, "%s %+v %v\n", s.ID, in, err)
	}
	return b.String()
}

const library = `
-- r/a/SKILL.md --
---
description: First.
---
Body a.
-- r/b/SKILL.md --
---
description: Second.
allowed-tools: Read, Bash(git log:*)
hooks: {Stop: [{hooks: [{type: command, command: echo}]}]}
x-other: [1, {a: b}]
---
Body b.
-- r/cat/deep/skill.md --
No header.
-- r/cat/a/SKILL.md --
---
description: a: b
---
Recovered.
-- r/l -> cat/deep --
-- r/own/SKILL.md -> ../../real.md --
-- real.md --
---
description: Linked file.
---
-- r/bad/SKILL.md -> nowhere --
-- r/loose.md --
-- c/a.md --
Do a.
-- c/README.md --
Not a command.
-- c/x/SKILL.md --
---
description: In a folder.
---
-- c/x/y/b.md --
Part of x.
`

// steps change the library in one way each.
var steps = []struct {
	name   string
	change func(t *testing.T, top string)
}{
	{"nothing", func(*testing.T, string) {}},
	{"edit", func(t *testing.T, top string) {
		grow(t, top, "r/a/SKILL.md", []byte("---\ndescription: Edited.\n---\nOther.\n"))
	}},
	{"same size", func(t *testing.T, top string) {
		grow(t, top, "r/a/SKILL.md", []byte("---\ndescription: Editex.\n---\nOther.\n"))
	}},
	{"rename over", func(t *testing.T, top string) {
		grow(t, top, "new", []byte("---\ndescription: Renamed.\n---\n"))
		must(t, os.Rename(filepath.Join(top, "new"), filepath.Join(top, "r/b/SKILL.md")))
	}},
	{"create", func(t *testing.T, top string) { grow(t, top, "r/new/SKILL.md", []byte("New.\n")) }},
	{"create command", func(t *testing.T, top string) { grow(t, top, "c/x2/new.md", []byte("New.\n")) }},
	{"remove", func(t *testing.T, top string) { must(t, os.Remove(filepath.Join(top, "r/new/SKILL.md"))) }},
	{"move folder", func(t *testing.T, top string) {
		must(t, os.Rename(filepath.Join(top, "r/a"), filepath.Join(top, "r/moved")))
	}},
	{"flip link", func(t *testing.T, top string) {
		must(t, os.Remove(filepath.Join(top, "r/l")))
		must(t, os.Symlink("cat/a", filepath.Join(top, "r/l")))
	}},
	{"linked file", func(t *testing.T, top string) {
		grow(t, top, "real.md", []byte("---\ndescription: Changed behind the link.\n---\n"))
	}},
	{"file becomes folder", func(t *testing.T, top string) {
		must(t, os.RemoveAll(filepath.Join(top, "r/b/SKILL.md")))
		grow(t, top, "r/b/SKILL.md/SKILL.md", []byte("x"))
	}},
	{"folder becomes category", func(t *testing.T, top string) {
		must(t, os.RemoveAll(filepath.Join(top, "r/b/SKILL.md")))
		grow(t, top, "r/b/in/SKILL.md", []byte("Inside.\n"))
	}},
	{"other case", func(t *testing.T, top string) {
		must(t, os.Rename(filepath.Join(top, "r/b/in/SKILL.md"), filepath.Join(top, "r/b/in/skill.md")))
	}},
	{"root gone", func(t *testing.T, top string) {
		must(t, os.Rename(filepath.Join(top, "r"), filepath.Join(top, "away")))
	}},
	{"root back", func(t *testing.T, top string) {
		must(t, os.Rename(filepath.Join(top, "away"), filepath.Join(top, "r")))
	}},
	{"root elsewhere", func(t *testing.T, top string) {
		must(t, os.Rename(filepath.Join(top, "r"), filepath.Join(top, "away")))
		must(t, os.Symlink("away", filepath.Join(top, "r")))
	}},
}

// TestCacheLikeFresh: whatever changes, a load with a memory gives what a fresh
// load gives (spec D-8), and so does one with the index of another process.
func TestCacheLikeFresh(t *testing.T) {
	top := tree(t, library)
	state := t.TempDir()
	roots := []Root{
		{Path: filepath.Join(top, "r"), Source: skill.Project, Boundary: top},
		{Path: filepath.Join(top, "c"), Source: skill.Legacy, Scope: skill.Project, Boundary: top},
	}
	cache := NewCache("")
	for _, step := range steps {
		step.change(t, top)
		for _, r := range roots {
			want, wantProblems := load(t, r)
			r.Cache = cache
			aged(cache)
			got, problems := load(t, r)
			if g, w := withBodies(t, got), withBodies(t, want); g != w || fmt.Sprint(problems) != fmt.Sprint(wantProblems) {
				t.Errorf("after %q: from memory\n%s%v\nwant\n%s%v", step.name, g, problems, w, wantProblems)
			}
			stored := NewCache(state)
			r.Cache = stored
			for range 2 { // the second one is from the index that the first one leaves
				got, problems = load(t, r)
				if g, w := withBodies(t, got), withBodies(t, want); g != w || fmt.Sprint(problems) != fmt.Sprint(wantProblems) {
					t.Errorf("after %q: from the index\n%s%v\nwant\n%s%v", step.name, g, problems, w, wantProblems)
				}
				aged(stored)
				keep(t, stored)
				stored = NewCache(state)
				r.Cache = stored
			}
		}
	}
}

// keep writes the indexes of c, however small its roots are.
func keep(t *testing.T, c *Cache) {
	t.Helper()
	must(t, index.Writable(c.dir))
	for r, k := range c.roots {
		must(t, k.save(r, c.path(r), build()))
	}
}

// reads counts the entries of c that were taken from files.
func reads(c *Cache) (n int) {
	for _, k := range c.roots {
		for _, e := range k.entries {
			if !e.stored.Load() {
				n++
			}
		}
	}
	return n
}

// TestOnlyChangedAreRead: what did not change is the same value, not one read
// again (spec D-8), also when a load finds the index of an earlier process.
func TestOnlyChangedAreRead(t *testing.T) {
	r := forest(t, 50)
	state := t.TempDir()
	r.Cache = NewCache(state)
	before, _ := load(t, r)
	aged(r.Cache)
	grow(t, r.Path, "skill-00007/SKILL.md", []byte("Changed.\n"))
	after, _ := load(t, r)
	for i := range before {
		if same := before[i] == after[i]; same != (before[i].ID != "skill-00007") {
			t.Errorf("%s: the same: %v", before[i].ID, same)
		}
	}
	aged(r.Cache)
	keep(t, r.Cache)
	r.Cache = NewCache(state)
	if got, _ := load(t, r); dump(got) != dump(after) || reads(r.Cache) != 0 {
		t.Errorf("%d files were read", reads(r.Cache))
	}
	grow(t, r.Path, "skill-00009/SKILL.md", []byte("Changed.\n"))
	r.Cache = NewCache(state)
	if load(t, r); reads(r.Cache) != 1 {
		t.Errorf("%d files were read after one changed", reads(r.Cache))
	}
}

// TestSettled: a file that was read within a tick of its last change may have
// changed again with the same stamp.
func TestSettled(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	for _, tt := range []struct {
		modified, changed time.Duration // before at
		coarse, want      bool
	}{
		{time.Second, time.Second, false, true},
		{time.Second, time.Millisecond, false, false},
		{time.Millisecond, time.Second, false, false},
		{-time.Hour, time.Second, false, false}, // in the future
		{time.Second, time.Second, true, false},
		{3 * time.Second, 3 * time.Second, true, true},
	} {
		unit := time.Nanosecond
		if tt.coarse {
			unit = time.Second
		}
		st := index.Stamp{
			ModTime:    at.Add(-tt.modified).Truncate(unit).UnixNano(),
			ChangeTime: at.Add(-tt.changed).Truncate(unit).UnixNano(),
		}
		if got := settled(st, at.UnixNano()); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestRacy: an edit right after a load is seen, though it leaves the size and
// perhaps the times of the file.
func TestRacy(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\n0\n")
	r := Root{Path: filepath.Join(top, "r"), Source: skill.User, Cache: NewCache("")}
	for i := range 10 {
		text := fmt.Sprintln(i)
		must(t, os.WriteFile(filepath.Join(r.Path, "a/SKILL.md"), []byte(text), 0o644))
		if skills, _ := load(t, r); skills[0].Description+"\n" != text {
			t.Errorf("%q, want %q", skills[0].Description, text)
		}
	}
}

// TestSave writes the index of large roots of which enough was read, and no
// more than that.
func TestSave(t *testing.T) {
	r := forest(t, indexFrom)
	state := filepath.Join(t.TempDir(), "index")
	files := func() int {
		all, _ := filepath.Glob(filepath.Join(state, "*"))
		return len(all)
	}
	r.Cache = NewCache(state)
	load(t, r)
	for _, k := range r.Cache.roots {
		for _, e := range k.entries {
			e.settled = false
		}
	}
	if must(t, r.Cache.Save()); files() != 0 {
		t.Error("files that may change unseen were indexed")
	}
	aged(r.Cache)
	must(t, r.Cache.Save())
	if files() != 1 {
		t.Fatalf("%d files", files())
	}
	path := r.Cache.path(r)
	written, err := os.Stat(path)
	must(t, err)
	check := func(what string, again bool) {
		t.Helper()
		load(t, r)
		aged(r.Cache)
		must(t, r.Cache.Save())
		st, err := os.Stat(path)
		if err != nil || os.SameFile(st, written) == again {
			t.Errorf("%s: written again: %v, %v", what, !again, err)
		}
		written = st
	}
	check("nothing changed", false)
	grow(t, r.Path, "skill-00001/SKILL.md", []byte("x"))
	check("one file changed", false)
	for i := range indexFrom / indexAfter {
		grow(t, r.Path, fmt.Sprintf("skill-%05d/SKILL.md", i), []byte("changed"))
	}
	check("many changed", true)
	must(t, os.WriteFile(path, []byte("garbage"), 0o600))
	r.Cache = NewCache(state)
	check("damaged", true)

	small := forest(t, 3)
	small.Cache = NewCache(state)
	load(t, small)
	aged(small.Cache)
	if must(t, small.Cache.Save()); files() != 1 {
		t.Error("a small root was indexed")
	}
	must(t, NewCache("").Save())
	must(t, (*Cache)(nil).Save())
}

// TestHostileIndex: an index may say what it likes; skills are what lies on the
// disk, and whose they are follows from where that is.
func TestHostileIndex(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\n---\ndescription: True.\n---\n-- r/b/SKILL.md --\nB.\n")
	r := Root{Path: filepath.Join(top, "r"), Source: skill.Project, Boundary: top, Cache: NewCache(t.TempDir())}
	var in info
	must(t, lstat(filepath.Join(r.Path, "a/SKILL.md"), &in))
	w := index.NewWriter(r.identity(build()))
	stale := in.Stamp
	stale.Size++
	lie := &skill.Skill{Summary: skill.Summary{ID: "other", Description: "A lie."},
		Origin: skill.Origin{Source: skill.Bundled, Dir: "/"}}
	for _, rec := range []index.Record{
		{Path: "a/SKILL.md", Stamp: stale, Skill: lie},
		{Path: "b/SKILL.md", Stamp: in.Stamp, Real: "/etc/passwd", Skill: lie},
		{Path: "ghost/SKILL.md", Stamp: in.Stamp, Skill: lie},
		{Path: "../x/SKILL.md", Stamp: in.Stamp, Skill: lie},
	} {
		if !w.Add(&rec) {
			t.Fatal(rec.Path)
		}
	}
	must(t, w.Write(r.Cache.path(r)))
	skills, problems := load(t, r)
	if ids(skills) != "a b" || skills[0].Description != "True." || skills[1].Description != "B." || len(problems) > 0 {
		t.Errorf("%s%v", dump(skills), problems)
	}
}
