package watch_test

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
	"github.com/knack-skills/knack/watch"
)

// TestAsTheScanner: what matters to the watcher is what package source/dir
// loads, and what it watches is what that reads, plus the directories whose
// entries say where a root or a link leads. The kernel tells what was read.
func TestAsTheScanner(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		top, err := os.MkdirTemp(realTemp(t), "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(top)
		project := filepath.Join(top, "p")
		plant(rt, top)
		o := listen(rt, top)
		defer syscall.Close(o.fd)
		for _, tt := range []struct {
			load dir.Root
			kind watch.Kind
		}{
			{dir.Root{Path: filepath.Join(project, ".claude", "skills"), Source: skill.User}, watch.Skills},
			{dir.Root{Path: filepath.Join(project, ".claude", "skills"), Source: skill.Project, Boundary: project}, watch.Skills},
			{dir.Root{Path: filepath.Join(project, ".claude", "commands"), Source: skill.Legacy, Scope: skill.Project, Boundary: project}, watch.Commands},
			{dir.Root{Path: filepath.Join(project, ".claude", "commands"), Source: skill.Legacy, Scope: skill.User}, watch.Commands},
		} {
			o.opened(rt) // forgotten: by the watcher of the case before
			skills, _, err := tt.load.Load(context.Background())
			if err != nil {
				rt.Fatal(err)
			}
			read := o.opened(rt)
			var loaded []string
			for _, sk := range skills {
				loaded = append(loaded, sk.Origin.Path)
			}
			slices.Sort(loaded)
			f := newFake()
			w, err := watch.Start(context.Background(), []watch.Root{{Path: tt.load.Path, Kind: tt.kind, Boundary: tt.load.Boundary}}, watch.Options{Native: f.open})
			if err != nil {
				rt.Fatal(err)
			}
			w.Close()
			if files, _ := w.Files(); !slices.Equal(files, loaded) {
				rt.Errorf("kind %d, boundary %q: watches\n%s\nloads\n%s", tt.kind, tt.load.Boundary, strings.Join(files, "\n"), strings.Join(loaded, "\n"))
			}
			may := doors(top, tt.load.Path)
			for _, d := range f.watched() {
				if !read[d] && !may[d] {
					rt.Errorf("kind %d: watches %s, which is not read; read: %v", tt.kind, d, read)
				}
			}
			for d := range read {
				if d != top && d != project && !slices.Contains(f.watched(), d) {
					rt.Errorf("kind %d: reads %s, but does not watch it", tt.kind, d)
				}
			}
		}
	})
}

// plant makes a tree of everything that can lie in a root.
func plant(rt *rapid.T, top string) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d", ".h", "node_modules", "venv"})
	tops := rapid.SampledFrom([]string{"p/.claude/skills", "p/.claude/skills", "p/.claude/commands", "p/src", "out"})
	path := func() string {
		return filepath.Join(append([]string{top, tops.Draw(rt, "top")}, rapid.SliceOfN(names, 0, 5).Draw(rt, "names")...)...)
	}
	text := []byte("---\nname: n\ndescription: d\n---\nbody\n")
	for range rapid.IntRange(1, 30).Draw(rt, "entries") {
		p := path()
		what := rapid.SampledFrom([]string{"SKILL.md", "SKILL.md", "SKILL.md", "skill.md", "x.md", "x.txt", ".claude-plugin/plugin.json", "dir", "link", "link", "filelink"}).Draw(rt, "what")
		// What cannot be made, because something else is there, is not made.
		switch what {
		case "dir":
			_ = os.MkdirAll(p, 0o755)
		case "link":
			_ = os.MkdirAll(filepath.Dir(p), 0o755)
			_ = os.Symlink(path(), p)
		case "filelink":
			_ = os.MkdirAll(p, 0o755)
			_ = os.Symlink(filepath.Join(path(), "SKILL.md"), filepath.Join(p, "SKILL.md"))
		default:
			file := filepath.Join(p, what)
			_ = os.MkdirAll(filepath.Dir(file), 0o755)
			if _, err := os.Stat(file); err != nil {
				_ = os.WriteFile(file, text, 0o644)
			}
		}
	}
}

// doors returns the directories with an entry that decides where something
// leads: the last two names of the root and of a link, and what does not exist
// yet.
func doors(top, root string) map[string]bool {
	may := make(map[string]bool)
	nearest := func(path string) {
		for ; path != filepath.Dir(path); path = filepath.Dir(path) {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				may[real] = true
				return
			}
		}
	}
	nearest(filepath.Dir(root))
	nearest(filepath.Dir(filepath.Dir(root)))
	_ = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type()&os.ModeSymlink != 0 {
			nearest(filepath.Dir(path))
			if target, err := os.Readlink(path); err == nil {
				nearest(filepath.Dir(target))
				nearest(filepath.Dir(filepath.Dir(target)))
				if _, err := os.Stat(path); err != nil {
					nearest(target)
				}
			}
		}
		return nil
	})
	return may
}

// An observer hears which directories are read.
type observer struct {
	fd   int
	dirs map[int32]string
}

func listen(rt *rapid.T, top string) *observer {
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		rt.Fatal(err)
	}
	o := &observer{fd, make(map[int32]string)}
	var dirs []string // listed before, for that is reading as well
	err = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		rt.Fatal(err)
	}
	for _, path := range dirs {
		wd, err := syscall.InotifyAddWatch(fd, path, syscall.IN_OPEN)
		if err != nil {
			rt.Fatal(err)
		}
		o.dirs[int32(wd)] = path
	}
	return o
}

// opened returns the directories that were listed or had a file opened.
func (o *observer) opened(rt *rapid.T) map[string]bool {
	read := make(map[string]bool)
	buf := make([]byte, 1<<20)
	for {
		n, err := syscall.Read(o.fd, buf)
		if err == syscall.EAGAIN || n == 0 {
			return read
		}
		if err != nil {
			rt.Fatal(err)
		}
		for b := buf[:n]; len(b) > 0; {
			wd, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			name := binary.NativeEndian.Uint32(b[12:])
			if mask&syscall.IN_Q_OVERFLOW != 0 {
				rt.Fatal("events were lost")
			}
			if name == 0 || mask&syscall.IN_ISDIR == 0 {
				read[o.dirs[wd]] = true
			}
			b = b[syscall.SizeofInotifyEvent+name:]
		}
	}
}
