package bundled

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/knack-skills/knack/catalog/sourcetest"
	"github.com/knack-skills/knack/skill"
)

const file = "---\ndescription: Reviews code\nallowed-tools: Read\n---\n# Review\n"

// countingFS counts how often its files are opened.
type countingFS struct {
	fs.FS
	opened *atomic.Int64
}

func (c countingFS) Open(name string) (fs.File, error) {
	c.opened.Add(1)
	return c.FS.Open(name)
}

func load(t *testing.T, s *Source) []*skill.Skill {
	t.Helper()
	skills, problems, err := s.Load(t.Context())
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	return skills
}

func invoke(t *testing.T, sk *skill.Skill) skill.Instructions {
	t.Helper()
	in, err := sk.Content.Body.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestLoad is spec B-1: values, no file I/O, Enabled kept.
func TestLoad(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	on := false
	s := New(cache,
		Skill{ID: "review", File: file, Enabled: func() bool { return on }, Files: fstest.MapFS{"a.txt": {Data: []byte("a")}}},
		Skill{ID: "plain", File: "Just text.\n"},
	)
	skills := load(t, s)
	if len(skills) != 2 || skills[0].ID != "review" || skills[1].ID != "plain" {
		t.Fatalf("%+v", skills)
	}
	r := skills[0]
	if r.Description != "Reviews code" || r.Origin != (skill.Origin{Source: skill.Bundled}) || r.Content.Bytes != int64(len("# Review\n")) {
		t.Errorf("%+v", r)
	}
	if r.Trigger.Enabled() {
		t.Error("enabled too early")
	}
	if on = true; !r.Trigger.Enabled() {
		t.Error("Enabled is not asked each time")
	}
	if skills[1].Trigger.Enabled != nil {
		t.Error("nil Enabled means always")
	}
	if in := invoke(t, skills[1]); in.Text != "Just text.\n" || in.Line != 1 || in.Dir != "" || in.Note != "" {
		t.Errorf("%+v", in)
	}
	if _, err := os.Stat(cache); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("files were touched: %v", err)
	}
}

// TestExtractOnce calls one skill from many goroutines, over two loads: one
// extraction, one directory, with the modes of S-15 (spec B-2).
func TestExtractOnce(t *testing.T) {
	cache := t.TempDir()
	var opened atomic.Int64
	files := countingFS{fstest.MapFS{
		"scripts/run.sh": {Data: []byte("echo hi\n"), Mode: 0o777},
		"data.json":      {Data: []byte("{}")},
	}, &opened}
	s := New(cache, Skill{ID: "review", File: file, Files: files})
	var mu sync.Mutex
	dirs := map[string]bool{}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			skills, _, err := s.Load(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			in, err := skills[0].Content.Body.Load(context.Background())
			if err != nil || in.Text != "# Review\n" || in.Line != 5 || in.Note != "" {
				t.Errorf("%+v, %v", in, err)
			}
			mu.Lock()
			dirs[in.Dir] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(dirs) != 1 {
		t.Fatalf("%d directories: %v", len(dirs), dirs)
	}
	before := opened.Load()
	dir := invoke(t, load(t, s)[0]).Dir
	if !dirs[dir] || opened.Load() != before {
		t.Error("extracted again")
	}
	if rel, err := filepath.Rel(cache, dir); err != nil || !filepath.IsLocal(rel) {
		t.Errorf("%s is not below %s", dir, cache)
	}
	for name, want := range map[string]fs.FileMode{
		".": 0o700 | fs.ModeDir, "..": 0o700 | fs.ModeDir, "scripts": 0o700 | fs.ModeDir, "scripts/run.sh": 0o600, "data.json": 0o600,
	} {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, st.Mode(), err, want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "scripts/run.sh")); err != nil || string(data) != "echo hi\n" {
		t.Errorf("%q, %v", data, err)
	}
	other := New(cache, Skill{ID: "review", File: file, Files: files})
	if d := invoke(t, load(t, other)[0]).Dir; d == "" || filepath.Dir(d) == filepath.Dir(dir) {
		t.Errorf("two sources share %s", d)
	}
	for _, s := range []*Source{s, other} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// hostileFS lists one entry of any name and type.
type hostileFS struct {
	name string
	mode fs.FileMode
}

func (h hostileFS) Open(name string) (fs.File, error) {
	if name == "." {
		return hostileDir{h}, nil
	}
	return fstest.MapFS{"x": {Data: []byte("evil")}}.Open("x")
}

type hostileDir struct{ h hostileFS }

func (d hostileDir) Stat() (fs.FileInfo, error) { return fs.Stat(fstest.MapFS{}, ".") }
func (d hostileDir) Read([]byte) (int, error)   { return 0, errors.New("a directory") }
func (d hostileDir) Close() error               { return nil }
func (d hostileDir) ReadDir(int) ([]fs.DirEntry, error) {
	return []fs.DirEntry{fs.FileInfoToDirEntry(hostileInfo{of: d.h})}, nil
}

type hostileInfo struct {
	fs.FileInfo // nil: nothing else may be asked
	of          hostileFS
}

func (i hostileInfo) Name() string      { return i.of.name }
func (i hostileInfo) Mode() fs.FileMode { return i.of.mode }
func (i hostileInfo) IsDir() bool       { return i.of.mode.IsDir() }

// TestRefusedExtraction is spec S-15: the skill runs without its directory,
// says why, and leaves nothing behind.
func TestRefusedExtraction(t *testing.T) {
	many := fstest.MapFS{}
	for i := range maxFiles + 1 {
		many[fmt.Sprintf("f%04d", i)] = &fstest.MapFile{}
	}
	half := bytes.Repeat([]byte("x"), maxBytes/2+1)
	tests := []struct {
		name  string
		files fs.FS
		note  string
	}{
		{"parent", hostileFS{name: ".."}, "not a name inside"},
		{"climbing", hostileFS{name: "../evil"}, "not a name inside"},
		{"absolute", hostileFS{name: "/evil"}, "not a name inside"},
		{"backslash", hostileFS{name: `..\evil`}, "not a name inside"},
		{"NUL", hostileFS{name: "a\x00b"}, "not a name inside"},
		{"link", fstest.MapFS{"l": {Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink}}, "neither a file nor"},
		{"device", hostileFS{name: "d", mode: fs.ModeDevice}, "neither a file nor"},
		{"case", fstest.MapFS{"A": {}, "a": {}}, "only in case"},
		{"count", many, "more than 1000 files"},
		{"size", fstest.MapFS{"a": {Data: half}, "b": {Data: half}}, "bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			cache := filepath.Join(top, "cache")
			s := New(cache, Skill{ID: "x", File: file, Files: tt.files}, Skill{ID: "y", File: file, Files: fstest.MapFS{"ok": {}}})
			skills := load(t, s)
			in := invoke(t, skills[0])
			if in.Text != "# Review\n" || in.Dir != "" || !strings.Contains(in.Note, tt.note) {
				t.Errorf("%+v, want a note with %q", in, tt.note)
			}
			if again := invoke(t, skills[0]); again != in {
				t.Errorf("second call: %+v", again)
			}
			if y := invoke(t, skills[1]); y.Dir == "" || y.Note != "" {
				t.Errorf("the other skill: %+v", y)
			}
			left, err := filepath.Glob(filepath.Join(cache, "*", "*"))
			if err != nil || len(left) != 1 {
				t.Errorf("left behind: %q", left)
			}
			if up, _ := os.ReadDir(top); len(up) != 1 {
				t.Errorf("written outside: %v", up)
			}
		})
	}
}

// TestNoCacheDirectory uses a parent that nobody can make, not even the
// superuser.
func TestNoCacheDirectory(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(filepath.Join(blocked, "cache"), Skill{ID: "x", File: file, Files: fstest.MapFS{"a": {}}})
	in := invoke(t, load(t, s)[0])
	if in.Dir != "" || in.Text == "" || !strings.Contains(in.Note, "x") {
		t.Errorf("%+v", in)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestDirName(t *testing.T) {
	for _, id := range []string{"review", "Create_Skill-2"} {
		if got := dirName(id); got != id {
			t.Errorf("dirName(%q) = %q", id, got)
		}
	}
	for _, id := range []string{"", ".", "..", "a/b", `a\b`, "a:b", "été", "a\nb", strings.Repeat("n", 300)} {
		a, b := dirName(id), dirName(id)
		if a == b || !filepath.IsLocal(a) || strings.ContainsAny(a, "/\\:. \n") || len(a) > 200 {
			t.Errorf("dirName(%q) = %q, %q", id, a, b)
		}
	}
}

// TestContract is what every source promises to the catalog.
func TestContract(t *testing.T) {
	sourcetest.Run(t, New(t.TempDir(), Skill{ID: "review", File: file, Files: fstest.MapFS{"a": {}}}, Skill{ID: "b", File: "---\nname: [\n---\n"}))
}

func TestCancelled(t *testing.T) {
	s := New(t.TempDir(), Skill{ID: "x", File: file})
	sk := load(t, s)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := sk.Content.Body.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFeature: a skill of a part that is not built in is no entry; one of a part
// that is, is enabled when the host says so and its own callback does not object.
func TestFeature(t *testing.T) { // spec B-1
	on, own := false, true
	s := New(t.TempDir(),
		Skill{ID: "absent", File: file, Feature: &Feature{Name: "a", On: func() bool { return true }}},
		Skill{ID: "off", File: file, Feature: &Feature{Name: "b", Built: true}},
		Skill{ID: "switched", File: file, Enabled: func() bool { return own }, Feature: &Feature{Name: "c", Built: true, On: func() bool { return on }}},
	)
	skills := load(t, s)
	if len(skills) != 2 || skills[0].ID != "off" || skills[1].ID != "switched" {
		t.Fatalf("%+v", skills)
	}
	if skills[0].Trigger.Enabled() {
		t.Error("a feature that no host switched on is on")
	}
	enabled := skills[1].Trigger.Enabled
	if enabled() {
		t.Error("on too early")
	}
	if on = true; !enabled() {
		t.Error("the run-time switch is not asked each time")
	}
	if own = false; enabled() {
		t.Error("the skill's own callback is not asked")
	}
}
