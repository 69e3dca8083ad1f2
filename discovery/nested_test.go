package discovery_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/knack-skills/knack/discovery"
)

// TestNested touches files one after the other in one session (spec D-1, D-2).
func TestNested(t *testing.T) {
	w := newTree(t, map[string]string{
		"w/.git/HEAD": "",
		"w/apps/web/.claude/skills/deploy/SKILL.md":                   "",
		"w/apps/web/src/.agents/skills/x/SKILL.md":                    "",
		"w/apps/.claude/skills/a/SKILL.md":                            "",
		"w/apps/.agents/skills/a/SKILL.md":                            "",
		"w/apps/api/.claude/commands/x.md":                            "",
		"w/apps/file/.claude/skills":                                  "a file",
		"w/.gitignore":                                                "build/\n",
		"w/build/.claude/skills/x/SKILL.md":                           "",
		"w/node_modules/p/.claude/skills/x/SKILL.md":                  "",
		"w/.claude/skills/new/template/.claude/skills/x/SKILL.md":     "",
		"w/link -> apps/web":                                          "",
		"w/out -> $TOP/elsewhere":                                     "",
		"elsewhere/.claude/skills/x/SKILL.md":                         "",
		"elsewhere/in -> $TOP/w/apps/web":                             "",
		"w/linked/.claude/skills -> ../../apps/web/.claude/skills":    "",
		"w/ignored/.claude/skills -> ../../build/.claude/skills":      "",
		"w/dangling/.claude/skills -> ../../nothing":                  "",
		"w/apps/web/src/deep/down/here/x.ts":                          "",
		"w/parent/.claude/skills/x/SKILL.md":                          "",
		"w/..dots/.claude/skills/x/SKILL.md":                          "",
		"w/é ü/.claude/skills/x/SKILL.md":                             "",
		"sibling/w/.claude/skills/x/SKILL.md":                         "",
		"w2/.claude/skills/x/SKILL.md":                                "",
		"w/late/x":                                                    "",
		"w/.claude/skills/known/.agents/skills/trap/SKILL.md":         "",
		"w/.git/hooks/.claude/skills/x/SKILL.md":                      "",
		"w/apps/web/.claude/skills/deploy/node/.claude/skills/x/y.md": "",
	})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w"), Repository: w.path("w")})
	touch := func(file string) string {
		t.Helper()
		if !strings.HasPrefix(file, "/") {
			file = w.path("w") + "/" + file
		}
		_, found := n.Touch(filepath.FromSlash(file))
		for _, f := range found {
			if f.Dir != w.path("w/"+f.Below) {
				t.Errorf("%s is %s", f.Below, f.Dir)
			}
		}
		return below(found)
	}
	for _, tt := range []struct{ file, want string }{
		{"README.md", ""}, // the working directory itself is not included
		{"apps/web/src/deep/x.ts", "apps/web/src apps/web apps"},
		{"apps/web/src/deep/x.ts", ""},
		{"apps/web/src/deep/down/here/x.ts", ""},
		{"apps/api/main.go", ""},  // no skills
		{"apps/file/main.go", ""}, // no directory
		{"build/x.o", "!build"},
		{"build/y.o", ""},
		{"node_modules/p/index.js", ""},
		{".claude/skills/new/template/x", ""}, // files of a skill
		{".claude/skills/known/x", ""},
		{"apps/web/.claude/skills/deploy/node/x", ""},
		{".git/hooks/pre-commit", ""},
		{"link/x.ts", ""}, // apps/web, which is known
		{"out/x.ts", ""},  // leads out
		{w.path("elsewhere/x"), ""},
		{w.path("elsewhere/in/x"), ""},
		{w.path("sibling/w/x"), ""},
		{w.path("w2/x"), ""},
		{"linked/x", "linked"},
		{"ignored/x", "!ignored"},
		{"dangling/x", "dangling"}, // its source says what is wrong
		{"parent/../parent/./gone/gone/x", "parent"},
		{"..dots/x", "..dots"},
		{"é ü/x", "é ü"},
		{"", ""},
	} {
		if got := touch(tt.file); got != tt.want {
			t.Errorf("touching %s found %q, want %q", tt.file, got, tt.want)
		}
	}

	// A directory that was checked is looked at again only after a reload event.
	touch("late/x")
	w.write("w/late/.claude/skills/x/SKILL.md", "")
	if got := touch("late/x"); got != "" {
		t.Errorf("looked again: %q", got)
	}
	n.Forget(w.path("w/apps"))
	if got := touch("late/x"); got != "" {
		t.Errorf("forgot too much: %q", got)
	}
	if got := touch("apps/web/src/deep/x.ts"); got != "" {
		t.Errorf("found again: %q", got)
	}
	n.Forget(w.path("w/late/.claude/skills/x/SKILL.md"))
	if got := touch("late/x"); got != "late" {
		t.Errorf("after the event: %q", got)
	}
	w.write("w/.gitignore", "")
	n.Forget()
	if got := touch("build/x.o"); got != "build" {
		t.Errorf("no longer ignored: %q", got)
	}
}

// TestGone: a directory that is not there is looked for again, as it may come.
func TestGone(t *testing.T) { // spec D-2
	w := newTree(t, map[string]string{"w/a/x": ""})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w")})
	if _, found := n.Touch(w.path("w/a/new/x")); below(found) != "" {
		t.Errorf("found %q", below(found))
	}
	w.write("w/a/new/.claude/skills/x/SKILL.md", "")
	if _, found := n.Touch(w.path("w/a/new/x")); below(found) != "a/new" {
		t.Errorf("found %q", below(found))
	}
}

// TestNames: a file that is reached through links has both names (spec D-2).
func TestNames(t *testing.T) {
	w := newTree(t, map[string]string{"w/real/x.ts": "", "w/link -> real": "", "way -> w": "", "w/file.ts -> real/x.ts": ""})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("way")})
	for file, want := range map[string][]string{
		"w/real/x.ts":      {"w/real/x.ts"},
		"w/link/x.ts":      {"w/link/x.ts", "w/real/x.ts"},
		"way/link/x.ts":    {"way/link/x.ts", "w/real/x.ts"},
		"way/new/dir/x.ts": {"way/new/dir/x.ts", "w/new/dir/x.ts"},
		"w/file.ts":        {"w/file.ts"},
	} {
		for i := range want {
			want[i] = w.path(want[i])
		}
		if got := n.Names(w.path(file)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", file, got)
		}
		if got, _ := n.Touch(w.path(file)); !slices.Equal(got, want) {
			t.Errorf("%s: touched %q", file, got)
		}
		if got, _ := n.Touch(w.path(file)); !slices.Equal(got, want) {
			t.Errorf("%s: touched again %q", file, got)
		}
	}
}

// TestKnownCostsNothing asks nothing of the file system, and does not even need
// the files to be there (spec D-2).
func TestKnownCostsNothing(t *testing.T) {
	var calls atomic.Int64
	w := newTree(t, map[string]string{"w/a/b/x": "", "w/a/.claude/skills/x/SKILL.md": "", "w/link -> a/b": "", "out/x": ""})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w"), Files: counted{calls: &calls}})
	files := []string{w.path("w/a/b/x"), w.path("w/a/x"), w.path("w/link/x"), w.path("out/x"), w.path("w/x")}
	var first [][]string
	for _, f := range files {
		names, _ := n.Touch(f)
		first = append(first, names)
	}
	if calls.Load() == 0 {
		t.Fatal("nothing was asked at all")
	}
	must(t, os.RemoveAll(w.dir))
	calls.Store(0)
	for i, f := range files {
		names, found := n.Touch(f)
		if len(found) > 0 || !slices.Equal(names, first[i]) {
			t.Errorf("%s: %q, found %q", f, names, below(found))
		}
		other, _ := n.Touch(filepath.Join(filepath.Dir(f), "other"))
		if len(other) != len(names) {
			t.Errorf("%s: %q", f, other)
		}
	}
	if got := calls.Load(); got != 0 {
		t.Errorf("%d calls", got)
	}
}

// TestSiblingsShare: what lies above is not asked about again.
func TestSiblingsShare(t *testing.T) {
	var calls atomic.Int64
	w := newTree(t, map[string]string{"w/a/b/c/d/x": "", "w/a/b/c/e/x": ""})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w"), Files: counted{calls: &calls}})
	n.Touch(w.path("w/a/b/c/d/x"))
	calls.Store(0)
	n.Touch(w.path("w/a/b/c/e/x"))
	if got := calls.Load(); got != 4 { // its real name, itself, two skills directories
		t.Errorf("%d calls", got)
	}
}

// TestNestedTogether: each directory is found once, whoever asks first.
func TestNestedTogether(t *testing.T) {
	w := newTree(t, map[string]string{"w/a/.claude/skills/x/SKILL.md": "", "w/a/b/.claude/skills/x/SKILL.md": "", "w/a/b/x": ""})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w")})
	var count atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, found := n.Touch(w.path("w/a/b/x"))
			count.Add(int64(len(found)))
		})
	}
	wg.Wait()
	if count.Load() != 2 {
		t.Errorf("found %d", count.Load())
	}
}

// insensitive is a file system that does not tell upper from lower case, over
// one whose names are in lower case.
type insensitive struct{ discovery.OS }

func (f insensitive) Lstat(path string) (os.FileInfo, error) { return f.OS.Lstat(lower(path)) }
func (f insensitive) Read(path string) ([]byte, error)       { return f.OS.Read(lower(path)) }
func (f insensitive) Real(path string) (string, error)       { return f.OS.Real(lower(path)) }

// lower leaves the directories of the test itself alone.
func lower(path string) string {
	const mark = "/case/"
	i := strings.Index(strings.ToLower(path), mark)
	if i < 0 {
		return path
	}
	return path[:i] + strings.ToLower(path[i:])
}

// TestCase: one directory has one name, however it is spelled (spec D-2).
func TestCase(t *testing.T) {
	w := newTree(t, map[string]string{
		"case/w/apps/web/.claude/skills/x/SKILL.md": "", "case/w/.gitignore": "Build/\n",
		"case/w/build/.claude/skills/x/SKILL.md": "", "case/w/.git/config": "[core]\n\tignoreCase = true\n",
	})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("case/W"), Repository: w.path("Case/w"), Files: insensitive{}})
	for _, tt := range []struct{ file, want string }{
		{"CASE/W/Apps/Web/x.ts", "apps/web"}, {"case/w/apps/web/x.ts", ""}, {"case/w/APPS/x.ts", ""}, {"case/w/Build/x.ts", "!build"},
	} {
		names, found := n.Touch(w.path(tt.file))
		if got := below(found); got != tt.want || names[len(names)-1] != filepath.Join(lower(filepath.Dir(w.path(tt.file))), "x.ts") {
			t.Errorf("%s: found %q, names %q", tt.file, got, names)
		}
	}
}

// BenchmarkTouchKnown is a touch in a directory that is known.
func BenchmarkTouchKnown(b *testing.B) {
	w := newTree(b, map[string]string{"w/packages/shop/src/components/button/x.ts": ""})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w")})
	file := w.path("w/packages/shop/src/components/button/x.ts")
	n.Touch(file)
	b.ReportAllocs()
	for b.Loop() {
		n.Touch(file)
	}
}

// BenchmarkTouchNew is the first touch in one of a thousand directories.
func BenchmarkTouchNew(b *testing.B) {
	w := newTree(b, map[string]string{"w/packages/shop/src/components/button/x.ts": ""})
	n := discovery.NewNested(discovery.NestedOptions{WorkDir: w.path("w")})
	file := w.path("w/packages/shop/src/components/button/x.ts")
	for b.Loop() {
		n.Touch(file)
		n.Forget()
	}
}
