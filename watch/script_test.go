package watch_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/knack-skills/knack/watch"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// A script is one file of testdata: steps, and the tree to begin with.
//
//	roots PATH:KIND[:BOUNDARY]...  what is watched; skills:skills without it
//	write PATH [TEXT]    truncates and writes, as open(O_CREAT|O_TRUNC) does
//	append PATH TEXT
//	move FROM TO         as rename does
//	remove PATH          with all that is in it
//	mkdir PATH
//	link TARGET PATH     /TARGET starts at the top of the tree
//	relink TARGET PATH   replaces a link by renaming
//	fill DIR N TEXT      writes N skills
//	wait DURATION
//	batch PATH...        exactly these changed; a directory ends in /
//	count N              a batch with N files
//	none                 nothing is reported
//
// With native events the clock is real and the machine may stall between two
// steps, so that one batch may arrive as several: there the batches together
// must say what is expected. In virtual time each must be exactly that.
type script struct {
	t       *testing.T
	top     string
	w       *watch.Watcher
	fake    *fake // nil without
	virtual bool
	marks   int
}

// patience is how long a test waits for something that must happen.
const patience = time.Minute

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		ar, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(f), ".txt")
		t.Run(name+"/native", func(t *testing.T) {
			t.Parallel()
			s := &script{t: t}
			s.run(ar, watch.Options{
				Native: fsnotify.Open, Notice: func(n string) { t.Error(n) },
				Stable: 60 * time.Millisecond, Debounce: 30 * time.Millisecond,
			})
		})
		t.Run(name+"/polling", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, virtual: true}
				s.run(ar, watch.Options{})
			})
		})
		t.Run(name+"/hints", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{t: t, virtual: true, fake: newFake()}
				s.run(ar, watch.Options{Native: s.fake.open})
			})
		})
	}
}

var kinds = map[string]watch.Kind{
	"skills": watch.Skills, "commands": watch.Commands, "markdown": watch.Markdown, "file": watch.File, "settings": watch.Settings,
}

func (s *script) run(ar *txtar.Archive, o watch.Options) {
	s.top = realTemp(s.t)
	for _, f := range ar.Files {
		s.must(os.MkdirAll(filepath.Dir(s.at(f.Name)), 0o755))
		s.must(os.WriteFile(s.at(f.Name), f.Data, 0o644))
	}
	roots := []watch.Root{{Path: s.at("skills")}}
	var steps []string
	for line := range strings.Lines(string(ar.Comment)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] == "#":
		case fields[0] == "roots":
			roots = nil
			for _, f := range fields[1:] {
				part := append(strings.Split(f, ":"), "")
				r := watch.Root{Path: s.at(part[0]), Kind: kinds[part[1]]}
				if part[2] != "" {
					r.Boundary = s.at(part[2])
				}
				roots = append(roots, r)
			}
		default:
			steps = append(steps, strings.TrimSpace(line))
		}
	}
	roots = append(roots, watch.Root{Path: s.at("mark"), Kind: watch.File})
	w, err := watch.Start(context.Background(), roots, o)
	s.must(err)
	defer w.Close()
	s.w = w
	for _, step := range steps {
		s.step(step)
		if s.t.Failed() {
			s.t.Fatalf("after: %s", step)
		}
	}
	if s.fake != nil {
		again := newFake()
		fresh, err := watch.Start(context.Background(), roots, watch.Options{Native: again.open})
		s.must(err)
		fresh.Close()
		if got, want := s.fake.watched(), again.watched(); !slices.Equal(got, want) {
			s.t.Errorf("in the end it watches\n%s\na fresh one\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if got := w.Status(); got.Err != "" || got.Native != (o.Native != nil) {
		s.t.Errorf("%+v", got)
	}
}

// realTemp returns a temporary directory by its real path.
func realTemp(t testing.TB) string {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func (s *script) at(path string) string { return filepath.Join(s.top, filepath.FromSlash(path)) }

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) step(line string) {
	f := append(strings.Fields(line), "", "", "")
	switch f[0] {
	case "write":
		s.write(f[1], f[2], os.O_TRUNC)
	case "append":
		s.write(f[1], f[2], os.O_APPEND)
	case "move":
		s.rename(s.at(f[1]), s.at(f[2]))
	case "remove":
		s.remove(s.at(f[1]))
	case "mkdir":
		s.mkdir(s.at(f[1]))
	case "link", "relink":
		target := f[1]
		if strings.HasPrefix(target, "/") {
			target = s.at(target)
		}
		if f[0] == "link" {
			s.must(os.Symlink(target, s.at(f[2])))
			s.fake.happened(s.at(f[2]), watch.Create)
			return
		}
		s.must(os.Symlink(target, s.at("link.tmp")))
		s.rename(s.at("link.tmp"), s.at(f[2]))
	case "fill":
		n, err := strconv.Atoi(f[2])
		s.must(err)
		for i := range n {
			s.write(fmt.Sprintf("%s/s%d/SKILL.md", f[1], i), f[3], os.O_TRUNC)
		}
	case "wait":
		d, err := time.ParseDuration(f[1])
		s.must(err)
		if s.virtual {
			time.Sleep(d)
		}
	case "batch":
		s.expect(strings.Fields(line)[1:])
	case "count":
		n, err := strconv.Atoi(f[1])
		s.must(err)
		s.count(n)
	case "none":
		s.none()
	default:
		s.t.Fatalf("unknown step %s", line)
	}
}

func (s *script) write(path, text string, flag int) {
	path = s.at(path)
	s.mkdir(filepath.Dir(path))
	_, err := os.Lstat(path)
	f, oerr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o644)
	s.must(oerr)
	if err != nil {
		s.fake.happened(path, watch.Create)
	}
	_, werr := f.WriteString(text)
	s.must(werr)
	s.must(f.Close())
	s.fake.happened(path, watch.Write)
}

func (s *script) mkdir(path string) {
	if _, err := os.Stat(path); err == nil {
		return
	}
	s.mkdir(filepath.Dir(path))
	s.must(os.Mkdir(path, 0o755))
	s.fake.happened(path, watch.Create)
}

func (s *script) rename(from, to string) {
	s.must(os.Rename(from, to))
	s.fake.happened(from, watch.Other)
	s.fake.happened(to, watch.Create)
}

func (s *script) remove(path string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		entries, err := os.ReadDir(path)
		s.must(err)
		for _, e := range entries {
			s.remove(filepath.Join(path, e.Name()))
		}
	}
	s.must(os.Remove(path))
	s.fake.happened(path, watch.Other)
}

// next returns the paths of the next batch.
func (s *script) next() []string {
	s.t.Helper()
	select {
	case b := <-s.w.Batches():
		paths := slices.Clone(b.Changed)
		for _, d := range b.Dirs {
			paths = append(paths, d+"/")
		}
		for i := range paths {
			paths[i] = strings.TrimPrefix(filepath.ToSlash(paths[i]), s.top+"/")
		}
		slices.Sort(paths)
		return paths
	case <-time.After(patience):
		return []string{"(no batch)"}
	}
}

func (s *script) expect(want []string) {
	s.t.Helper()
	slices.Sort(want)
	if s.virtual {
		if got := s.next(); !slices.Equal(got, want) {
			s.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return
	}
	seen := make(map[string]bool)
	for len(seen) < len(want) {
		for _, p := range s.next() {
			if !slices.Contains(want, p) {
				s.t.Fatalf("got %s, want only %s; seen %v", p, want, slices.Collect(maps.Keys(seen)))
			}
			seen[p] = true
		}
	}
}

func (s *script) count(n int) {
	s.t.Helper()
	seen := make(map[string]bool)
	for {
		for _, p := range s.next() {
			if p == "(no batch)" {
				s.t.Fatalf("%d of %d files", len(seen), n)
			}
			if !strings.HasSuffix(p, "/") {
				seen[p] = true
			}
		}
		if s.virtual && len(seen) != n {
			s.t.Errorf("%d files in one batch, want %d", len(seen), n)
		}
		if s.virtual || len(seen) == n {
			return
		}
	}
}

// none checks that nothing was reported: in real time, that the next thing
// reported is one that comes later.
func (s *script) none() {
	s.t.Helper()
	if !s.virtual {
		s.marks++
		s.write("mark", strings.Repeat("x", s.marks), os.O_TRUNC)
		s.expect([]string{"mark"})
		return
	}
	select {
	case b := <-s.w.Batches():
		s.t.Errorf("reported %+v", b)
	case <-time.After(10 * time.Second):
	}
}
