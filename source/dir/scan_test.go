package dir

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack/catalog/sourcetest"
	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// TestOrigin pins where a skill says it is from.
func TestOrigin(t *testing.T) {
	top := tree(t, `
-- canon/cat/sub/l/SKILL.md --
text
-- r -> canon --
-- r2/x -> ../canon/cat/sub --
`)
	r := Root{Path: filepath.Join(top, "r"), Source: skill.Project, Distance: 3, Below: "apps/web", Boundary: top}
	skills, _ := load(t, r)
	got := skills[0].Origin
	real := filepath.Join(top, "canon/cat/sub/l/SKILL.md")
	want := skill.Origin{
		Source: skill.Project, Root: r.Path, Distance: 3, Below: "apps/web", Category: "cat/sub",
		Dir: filepath.Join(top, "r/cat/sub/l"), Path: filepath.Join(top, "r/cat/sub/l/SKILL.md"), Real: real,
		Device: got.Device, Inode: got.Inode,
	}
	if got != want {
		t.Errorf("origin = %+v\nwant     %+v", got, want)
	}
	if got.Inode == 0 {
		t.Error("no inode")
	}
	linked, _ := load(t, Root{Path: filepath.Join(top, "r2"), Source: skill.User})
	o := linked[0].Origin
	if !o.Linked || o.Real != real || o.Inode != got.Inode || o.Category != "x" {
		t.Errorf("linked origin = %+v", o)
	}
}

// TestRefusedFiles covers files that are not read (spec F-7, F-1).
func TestRefusedFiles(t *testing.T) {
	tests := []struct {
		name, data, code string
	}{
		{"empty", "", ""},
		{"one byte", "x", ""},
		{"exactly the limit", strings.Repeat("x", frontmatter.MaxFile), ""},
		{"over the limit", strings.Repeat("x", frontmatter.MaxFile+1), "too-large"},
		{"NUL", "a\x00b", "binary"},
		{"UTF-16", "\xff\xfea\x00", "utf-16"},
		{"NUL behind the header", "---\ndescription: d\n---\n" + strings.Repeat("text ", 4000) + "\x00", ""},
		{"path", "../x/SKILL.md", "path-only"},
		{"path to another file", "AGENTS.md\n", "path-only"},
		{"word", "Deploy", ""},
		{"sentence with a path", "Read ../x.md", ""},
		{"two lines", "../x\n../y\n", ""},
		{"address", "https://example.com/x.md", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			grow(t, top, "r/x/SKILL.md", []byte(tt.data))
			grow(t, top, "r/sibling/SKILL.md", []byte("text"))
			skills, problems := load(t, Root{Path: filepath.Join(top, "r")})
			want := "sibling x"
			if tt.code != "" {
				want = "sibling"
				if len(problems) != 1 || problems[0].Code != tt.code {
					t.Errorf("problems = %v, want one %s", problems, tt.code)
				}
			}
			if got := ids(skills); got != want {
				t.Errorf("ids = %q, want %q", got, want)
			}
		})
	}
}

// TestHostileNames loads folders whose names no person would choose.
func TestHostileNames(t *testing.T) {
	names := []string{
		"line\nbreak", "tab\there", "bell\a", "\xff\xfe", "a\xffb", "esc\x1b[2J", "rtl\u202egnp",
		"zero\u200bwidth", strings.Repeat("n", 255), "-rf", "$(touch p)", "`x`", "a:b", "<b>", `"quoted"`, "💥", "a b", "CON", "trailing.",
	}
	top := t.TempDir()
	for _, n := range names {
		grow(t, top, "r/"+n+"/SKILL.md", []byte("text"))
	}
	skills, problems := load(t, Root{Path: filepath.Join(top, "r")})
	if len(skills) != len(names) {
		t.Fatalf("%d skills, want %d", len(skills), len(names))
	}
	odd := map[string]bool{}
	for _, p := range problems {
		if p.Code != unprintableDir {
			t.Errorf("unexpected %v", p)
		}
		odd[filepath.Base(filepath.Dir(p.Path))] = true
	}
	for i, n := range names {
		if want := i < 8; odd[n] != want {
			t.Errorf("%q reported: %v, want %v", n, odd[n], want)
		}
	}
	for _, s := range skills {
		if s.ID != strings.ToValidUTF8(s.ID, "?") {
			t.Errorf("id %q is not UTF-8", s.ID)
		}
		if in, err := s.Content.Body.Load(t.Context()); err != nil || in.Text != "text" {
			t.Errorf("%q: body %q, %v", s.ID, in.Text, err)
		}
	}
}

// TestTooManyDirectories stops at the cap and says so once (spec C-3).
func TestTooManyDirectories(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "r")
	must(t, os.MkdirAll(root, 0o755))
	grow(t, root, "a/SKILL.md", []byte("first"))
	for i := range MaxDirectories {
		must(t, os.Mkdir(filepath.Join(root, fmt.Sprintf("d%05d", i)), 0o755))
	}
	grow(t, root, "d00000/x/SKILL.md", []byte("in a category: no budget left"))
	grow(t, root, "zz/SKILL.md", []byte("last"))
	skills, problems := load(t, Root{Path: root})
	if got := ids(skills); got != "a" {
		t.Errorf("ids = %q", got)
	}
	if got := codes(top, problems); got != "too-many-directories r" {
		t.Errorf("problems:\n%s\nwant one", got)
	}
}

// TestVanishing continues a scan after its root is gone: one problem, no more.
func TestVanishing(t *testing.T) {
	for _, kind := range []skill.Source{skill.User, skill.Legacy} {
		top := tree(t, `
-- r/a/SKILL.md --
-- r/b/x.md --
-- r/c/SKILL.md --
-- r/d.md --
`)
		s := &scan{root: Root{Path: filepath.Join(top, "r"), Source: kind}}
		g, ok := s.open()
		if !ok {
			t.Fatal("root not opened")
		}
		g.depth = 1
		entries, err := list(g.real)
		must(t, err)
		level := candidates(g, entries)
		must(t, os.RemoveAll(g.real))
		var r reader
		for _, c := range level {
			f := s.visit(&r, c)
			if !f.gone || len(f.problems) != 1 || f.problems[0].Code != unreadable {
				t.Errorf("%s: %+v", c.name, f)
			}
			s.problems = append(s.problems, f.problems...)
		}
		f := s.command(&r, commandFile{g, "d.md", false})
		if !f.gone || len(f.problems) != 1 {
			t.Errorf("d.md: %+v", f)
		}
		s.rootGone()
		if got := codes(top, s.problems); got != "unreadable r" {
			t.Errorf("problems:\n%s", got)
		}
	}
}

// TestVanishingConcurrently removes the tree while it is read.
func TestVanishingConcurrently(t *testing.T) {
	for range 20 {
		top := t.TempDir()
		for i := range 64 {
			grow(t, top, fmt.Sprintf("r/c%d/s%d/SKILL.md", i%8, i), []byte("text"))
		}
		var wg sync.WaitGroup
		wg.Go(func() { os.RemoveAll(filepath.Join(top, "r")) })
		_, problems := load(t, Root{Path: filepath.Join(top, "r")})
		wg.Wait()
		for _, p := range problems {
			if p.Code != unreadable {
				t.Errorf("unexpected %v", p)
			}
		}
	}
}

// TestDeterministic builds the same tree in other orders of creation, and
// wants the same result (spec C-11).
func TestDeterministic(t *testing.T) {
	var names []string
	for i := range 120 {
		switch i % 5 {
		case 0:
			names = append(names, fmt.Sprintf("r/s%d/SKILL.md", i))
		case 1:
			names = append(names, fmt.Sprintf("r/cat%d/dup/SKILL.md", i%7))
		case 2:
			names = append(names, fmt.Sprintf("r/cat%d/sub/n%d/skill.md", i%3, i))
		case 3:
			names = append(names, fmt.Sprintf("r/l%d -> s%d", i, i-3))
		case 4:
			names = append(names, fmt.Sprintf("r/loose%d.md", i))
		}
	}
	seen := map[string]bool{}
	var first, firstProblems string
	for seed := range uint64(4) {
		top, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		order := rand.New(rand.NewPCG(seed, 1)).Perm(len(names))
		clear(seen)
		for _, i := range order {
			if !seen[names[i]] {
				seen[names[i]] = true
				grow(t, top, names[i], []byte("about "+names[i]))
			}
		}
		skills, problems := load(t, Root{Path: filepath.Join(top, "r")})
		for _, s := range skills {
			s.Origin.Inode, s.Origin.Device = 0, 0
		}
		got := strings.ReplaceAll(dump(skills), top, "$TOP")
		gotProblems := codes(top, problems)
		if seed == 0 {
			first, firstProblems = got, gotProblems
			if len(skills) < 70 || len(problems) < 20 {
				t.Fatalf("poor tree: %d skills, %d problems", len(skills), len(problems))
			}
			continue
		}
		if got != first || gotProblems != firstProblems {
			t.Fatalf("seed %d differs:\n%s\n%s\nwant\n%s\n%s", seed, got, gotProblems, first, firstProblems)
		}
	}
}

// TestContract is what every source promises to the catalog.
func TestContract(t *testing.T) {
	top := tree(t, `
-- repo/r/a/SKILL.md --
---
name: x
description: [
---
-- repo/r/cat/a/skill.md --
-- repo/r/l -> cat/a --
-- repo/r/out -> /etc --
-- repo/c/x/y.md --
-- repo/c/z/SKILL.md --
`)
	repo := filepath.Join(top, "repo")
	sourcetest.Run(t, Root{Path: filepath.Join(repo, "r"), Source: skill.Project, Boundary: repo})
	sourcetest.Run(t, Root{Path: filepath.Join(repo, "c"), Source: skill.Legacy, Scope: skill.Project, Boundary: repo})
	sourcetest.Run(t, Root{Path: filepath.Join(repo, "missing"), Source: skill.User})
}

// TestConcurrentLoads shares one root between goroutines.
func TestConcurrentLoads(t *testing.T) {
	top := t.TempDir()
	for i := range 50 {
		grow(t, top, fmt.Sprintf("r/s%02d/SKILL.md", i), []byte("---\ndescription: d\n---\ntext"))
	}
	r := Root{Path: filepath.Join(top, "r")}
	want, _ := load(t, r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, problems, err := r.Load(context.Background())
			if err != nil || len(problems) > 0 || dump(got) != dump(want) {
				t.Errorf("differs: %v %v", err, problems)
			}
			for _, s := range got {
				if _, err := s.Content.Body.Load(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestCancelled(t *testing.T) {
	top := tree(t, "-- r/a/SKILL.md --\n-- r/b.md --\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, src := range []skill.Source{skill.User, skill.Legacy} {
		skills, problems, err := Root{Path: filepath.Join(top, "r"), Source: src}.Load(ctx)
		if !errors.Is(err, context.Canceled) || skills != nil || problems != nil {
			t.Errorf("%s: %v %v %v", src, skills, problems, err)
		}
	}
	s := &scan{root: Root{Path: filepath.Join(top, "r")}}
	g, _ := s.open()
	if _, err := s.folders(ctx, g); !errors.Is(err, context.Canceled) {
		t.Errorf("folders: %v", err)
	}
	if _, err := s.commands(ctx, g); !errors.Is(err, context.Canceled) {
		t.Errorf("commands: %v", err)
	}
}
