package dir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// TestBody reads the file at each call (spec F-9) and refuses what loading
// would refuse, because the file may have changed since.
func TestBody(t *testing.T) {
	const header = "---\ndescription: d\n---\n"
	tests := []struct {
		name   string
		change func(t *testing.T, top, file string) // after loading
		text   string
		err    string
	}{
		{"unchanged", func(*testing.T, string, string) {}, "first\n", ""},
		{"edited", func(t *testing.T, _, file string) {
			must(t, os.WriteFile(file, []byte(header+"second\n"), 0o644))
		}, "second\n", ""},
		{"renamed over", func(t *testing.T, top, file string) {
			grow(t, top, "new", []byte(header+"third\n"))
			must(t, os.Rename(filepath.Join(top, "new"), file))
		}, "third\n", ""},
		{"long", func(t *testing.T, _, file string) {
			must(t, os.WriteFile(file, []byte(header+strings.Repeat("long ", 10_000)), 0o644))
		}, strings.Repeat("long ", 10_000), ""},
		{"removed", func(t *testing.T, _, file string) { must(t, os.Remove(file)) }, "", "no such file"},
		{"directory", func(t *testing.T, _, file string) {
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o755))
		}, "", "not a regular file"},
		{"link inside", func(t *testing.T, top, file string) {
			must(t, os.Rename(file, filepath.Join(top, "repo", "moved")))
			must(t, os.Symlink("../../moved", file))
		}, "first\n", ""},
		{"link to a secret", func(t *testing.T, top, file string) {
			grow(t, top, "secret", []byte("key"))
			must(t, os.Remove(file))
			must(t, os.Symlink("../../../secret", file))
		}, "", "outside"},
		{"folder replaced by a link", func(t *testing.T, top, file string) {
			grow(t, top, "out/SKILL.md", []byte("key"))
			must(t, os.RemoveAll(filepath.Dir(file)))
			must(t, os.Symlink("../../out", filepath.Dir(file)))
		}, "", "outside"},
		{"NUL", func(t *testing.T, _, file string) {
			must(t, os.WriteFile(file, []byte(header+strings.Repeat("text ", 4000)+"\x00"), 0o644))
		}, "", "NUL"},
		{"too large", func(t *testing.T, _, file string) {
			must(t, os.Truncate(file, frontmatter.MaxFile+1))
		}, "", "limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := tree(t, "-- repo/r/x/SKILL.md --\n"+header+"first\n")
			repo := filepath.Join(top, "repo")
			skills, _ := load(t, Root{Path: filepath.Join(repo, "r"), Source: skill.Project, Boundary: repo})
			file := filepath.Join(repo, "r", "x", "SKILL.md")
			tt.change(t, top, file)
			in, err := skills[0].Content.Body.Load(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), file) {
					t.Fatalf("error %v, want %q and the path", err, tt.err)
				}
				return
			}
			want := skill.Instructions{Text: tt.text, Line: 4, Dir: filepath.Dir(file)}
			if err != nil || in.Text != want.Text || in.Line != want.Line || in.Dir != want.Dir {
				t.Errorf("got %+v, %v; want %+v", in, err, want)
			}
		})
	}
}

func TestBodyErrors(t *testing.T) {
	top := tree(t, "-- r/x/SKILL.md --\ntext\n")
	skills, _ := load(t, Root{Path: filepath.Join(top, "r"), Source: skill.User})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := skills[0].Content.Body.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	must(t, os.RemoveAll(top))
	if _, err := skills[0].Content.Body.Load(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// TestRetargetedLink follows a link to where it leads now.
func TestRetargetedLink(t *testing.T) {
	top := tree(t, "-- src/a/SKILL.md --\na\n-- src/b/SKILL.md --\nb\n-- r/x -> ../src/a --\n")
	skills, _ := load(t, Root{Path: filepath.Join(top, "r"), Source: skill.User})
	must(t, os.Remove(filepath.Join(top, "r/x")))
	must(t, os.Symlink("../src/b", filepath.Join(top, "r/x")))
	if in, err := skills[0].Content.Body.Load(t.Context()); err != nil || in.Text != "b\n" {
		t.Errorf("%q, %v", in.Text, err)
	}
}

// TestBytes estimates the body from the size of the file, unread (spec F-9).
func TestBytes(t *testing.T) {
	text := strings.Repeat("word\n", 20_000)
	top := tree(t, "-- r/x/SKILL.md --\n---\ndescription: d\n---\n"+text)
	skills, _ := load(t, Root{Path: filepath.Join(top, "r")})
	if got := skills[0].Content.Bytes; got != int64(len(text)) {
		t.Errorf("Bytes = %d, want %d", got, len(text))
	}
}

// TestHeadReadsLittle stops reading when enough says so, and only then.
func TestHeadReadsLittle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(file, make([]byte, 100_000), 0o644))
	for _, tt := range []struct{ want, got int }{
		{1, firstRead}, {firstRead, firstRead}, {firstRead + 1, 2 * firstRead}, {99_999, 100_000}, {200_000, 100_000},
	} {
		var r reader
		var in info
		data, err := r.head(file, &in, func(b []byte) bool { return len(b) >= tt.want })
		if len(data) != tt.got || in.Size != 100_000 {
			t.Errorf("want %d: read %d of %d, %v", tt.want, len(data), in.Size, err)
		}
	}
}

// TestLoadingReadsHeads: what of a file is read depends on its header and its
// first paragraph, not on its size; the body is read at each call (spec F-9).
func TestLoadingReadsHeads(t *testing.T) {
	long := strings.Repeat("A line of the body.\n", 3<<20/20)
	for _, tt := range []struct {
		name, head string
		read       int
	}{
		{"description", "---\ndescription: d\n---\n", firstRead},
		{"paragraph", "---\nname: n\n---\n# Title\n\nText.\n\n", firstRead},
		{"no frontmatter", "# Title\n\nText.\n\n", firstRead},
		{"header of 10 KiB", "---\nx: " + strings.Repeat("x", 10<<10) + "\ndescription: d\n---\n", 4 * firstRead},
		{"paragraph behind 5 KiB of comment", "<!--" + strings.Repeat("x", 5<<10) + "-->\nText.\n\n", 2 * firstRead},
		{"broken header", "---\ndescription: a: b\nx: [\n---\nText.\n\n", firstRead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "SKILL.md")
			must(t, os.WriteFile(file, []byte(tt.head+long), 0o644))
			var r reader
			sk := r.parse(place{path: file, real: file}, nil).skill
			if len(r.buf) != tt.read || sk == nil || sk.Description == "" {
				t.Errorf("read %d bytes, want %d; %+v", len(r.buf), tt.read, sk)
			}
			loaded, _ := LoadFile(file)
			for _, body := range []string{long, "edited\n"} {
				must(t, os.WriteFile(file, []byte("---\ndescription: d\n---\n"+body), 0o644))
				in, err := loaded.Content.Body.Load(t.Context())
				if err != nil || in.Text != body {
					t.Errorf("%d bytes of the body, want %d, %v", len(in.Text), len(body), err)
				}
			}
		})
	}
}

func TestLoadFile(t *testing.T) {
	top := tree(t, `
-- x/SKILL.md --
---
name: n
description: d
---
text
-- y/skill.md --
text
-- commands/c.md --
---
name: n
---
text
-- l -> x --
-- empty/ --
-- bad/SKILL.md --
../x/SKILL.md
-- odd/SKILL.md/ --
`)
	tests := []struct{ path, id, name, dir, problems string }{
		{"x", "x", "n", "x", ""},
		{"x/SKILL.md", "x", "n", "x", ""},
		{"y", "y", "", "y", "skill-file-case y/skill.md"},
		{"l", "l", "n", "l", ""},
		{"commands/c.md", "c", "", "", "ignored-field commands/c.md"},
		{"empty", "", "", "", "no-skill-file empty"},
		{"bad", "", "", "", "path-only bad/SKILL.md"},
		{"odd", "", "", "", "not-a-regular-file odd/SKILL.md"},
		{"missing", "", "", "", "unreadable missing"},
	}
	for _, tt := range tests {
		s, problems := LoadFile(filepath.Join(top, tt.path))
		if got := codes(top, problems); got != tt.problems {
			t.Errorf("%s: problems %q, want %q", tt.path, got, tt.problems)
		}
		if s == nil {
			if tt.id != "" {
				t.Errorf("%s: no skill", tt.path)
			}
			continue
		}
		in, err := s.Content.Body.Load(t.Context())
		if err != nil || in.Text != "text\n" {
			t.Errorf("%s: body %q, %v", tt.path, in.Text, err)
		}
		dir := tt.dir
		if dir != "" {
			dir = filepath.Join(top, dir)
		}
		if s.ID != tt.id || s.Name != tt.name || in.Dir != dir {
			t.Errorf("%s: id %q name %q dir %q", tt.path, s.ID, s.Name, in.Dir)
		}
	}
}

// TestLoadFileRelative keeps the caller's path in what people read, but finds
// the body from anywhere.
func TestLoadFileRelative(t *testing.T) {
	top := tree(t, "-- x/SKILL.md --\ntext\n")
	t.Chdir(filepath.Join(top, "x"))
	s, problems := LoadFile("SKILL.md")
	if s == nil || s.ID != "x" || s.Origin.Path != "SKILL.md" || s.Origin.Linked {
		t.Fatalf("%+v %v", s, problems)
	}
	t.Chdir(top)
	if _, err := s.Content.Body.Load(t.Context()); err != nil {
		t.Error(err)
	}
}
