package watch_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knack-skills/knack/watch"
)

// start begins a script in virtual time over the files, which all hold "x".
func start(t *testing.T, f *fake, o watch.Options, files ...string) *script {
	t.Helper()
	s := &script{t: t, virtual: true, fake: f, top: realTemp(t)}
	for _, name := range files {
		s.must(os.MkdirAll(filepath.Dir(s.at(name)), 0o755))
		s.must(os.WriteFile(s.at(name), []byte("x"), 0o644))
	}
	if f != nil {
		o.Native = f.open
	}
	w, err := watch.Start(t.Context(), []watch.Root{{Path: s.at("skills")}}, o)
	s.must(err)
	t.Cleanup(w.Close)
	s.w = w
	return s
}

// after expects the next batch a certain time from now.
func (s *script) after(d time.Duration, want ...string) {
	s.t.Helper()
	begin := time.Now()
	s.expect(want)
	if got := time.Since(begin); got != d {
		s.t.Errorf("%v came after %v, want %v", want, got, d)
	}
}

const aFile, bFile = "skills/a/SKILL.md", "skills/b/SKILL.md"

// TestTimes pins when a batch comes (spec D-7).
func TestTimes(t *testing.T) {
	const ms = time.Millisecond
	for name, run := range map[string]func(s *script){
		"a rename counts after the debounce": func(s *script) {
			s.step("write skills/a/tmp y")
			s.step("move skills/a/tmp " + aFile)
			s.after(300*ms, aFile)
		},
		"a removal counts after the debounce": func(s *script) {
			s.step("remove " + aFile)
			s.after(300*ms, aFile)
		},
		"a file that is written counts when it was quiet": func(s *script) {
			s.step("write " + aFile + " y")
			s.after(1300*ms, aFile)
		},
		"each write begins again": func(s *script) {
			for range 5 {
				s.step("append " + aFile + " y")
				s.step("wait 900ms")
			}
			s.after(400*ms, aFile)
		},
		"created empty, then written": func(s *script) {
			s.step("remove " + aFile)
			s.must(os.WriteFile(s.at(aFile), nil, 0o644))
			s.fake.happened(s.at(aFile), watch.Create)
			s.step("wait 800ms")
			s.step("append " + aFile + " y")
			s.after(1300*ms, aFile)
		},
		"what is ready waits a little for the rest": func(s *script) {
			s.step("remove " + bFile)
			s.step("write " + aFile + " y")
			s.after(1300*ms, aFile, bFile)
		},
		"one that grows on and on does not hold up the others": func(s *script) {
			s.step("remove " + bFile)
			go func() {
				for range 100 {
					s.write(aFile, "y", os.O_APPEND)
					time.Sleep(100 * ms)
				}
			}()
			s.after(1600*ms, bFile)
			s.after(9900*ms-1600*ms+1300*ms, aFile)
		},
		"a busy neighbour does not hold up the others": func(s *script) {
			go func() {
				for range 90 {
					s.fake.happened(s.at("skills/neighbour"), watch.Create)
					time.Sleep(100 * ms)
				}
			}()
			s.step("remove " + bFile)
			s.after(300*ms, bFile)
		},
		"a checkout that takes long is one batch": func(s *script) {
			go func() {
				for i := range 40 {
					s.write(fmt.Sprintf("skills/s%d/SKILL.md", i), "y", os.O_TRUNC)
					time.Sleep(100 * ms)
				}
			}()
			begin := time.Now()
			s.count(40)
			if got := time.Since(begin); got > 3900*ms+1600*ms {
				s.t.Errorf("after %v", got)
			}
		},
		"gone for longer than the debounce is a removal": func(s *script) {
			s.step("remove " + aFile)
			s.after(300*ms, aFile)
			s.step("write " + aFile + " y")
			s.after(1300*ms, aFile)
		},
		"back within the debounce is a change": func(s *script) {
			s.step("remove " + aFile)
			s.step("wait 250ms")
			s.step("write " + aFile + " y")
			s.after(1300*ms, aFile)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, newFake(), watch.Options{}, aFile, bFile)
				run(s)
				s.none()
			})
		})
	}
}

// TestPollTimes: without events a change is found at the next look, two
// seconds after the one before, and must not change while it is quiet.
func TestPollTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, watch.Options{}, aFile)
		s.step("wait 100ms")
		s.step("write " + aFile + " y")
		s.after(1900*time.Millisecond+1300*time.Millisecond, aFile)
		s.step("remove " + aFile)
		s.after(700*time.Millisecond+300*time.Millisecond, aFile)
	})
}

// TestPollGrowing: a file that grows between two looks is not reported.
func TestPollGrowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, nil, watch.Options{}, aFile)
		s.step("write " + aFile + " y")
		s.step("wait 3200ms") // seen at 2 s, due at 3.3 s
		s.step("append " + aFile + " y")
		s.after(100*time.Millisecond+1300*time.Millisecond, aFile)
	})
}

// TestWatchThenLook: what happens just before a watch works, and is told by no
// event, is seen all the same.
func TestWatchThenLook(t *testing.T) {
	for at, file := range map[string]string{
		"":           "skills/a/SKILL.md", // the root does not exist yet
		"skills":     "skills/a/SKILL.md",
		"skills/a":   "skills/a/SKILL.md",
		"skills/c":   "skills/c/d/SKILL.md",
		"skills/c/d": "skills/c/d/SKILL.md",
	} {
		top := realTemp(t)
		if err := os.MkdirAll(filepath.Join(top, at), 0o755); err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(top, file)
		f := newFake()
		f.refuse = func(dir string, _ int) error {
			if dir != filepath.Join(top, at) {
				return nil
			}
			return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644))
		}
		w, err := watch.Start(t.Context(), []watch.Root{{Path: filepath.Join(top, "skills")}}, watch.Options{Native: f.open})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		if files, _ := w.Files(); !slices.Equal(files, []string{file}) {
			t.Errorf("%q: %v", at, files)
		}
	}
}

// TestOldTime: a file that was last written long ago is not being written.
func TestOldTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newFake(), watch.Options{})
		s.must(os.MkdirAll(s.at("elsewhere/a"), 0o755))
		s.must(os.WriteFile(s.at("elsewhere/a/SKILL.md"), nil, 0o644))
		old := time.Now().Add(-time.Hour)
		s.must(os.Chtimes(s.at("elsewhere/a/SKILL.md"), old, old))
		s.step("move elsewhere skills")
		s.after(300*time.Millisecond, "skills/", "skills/a/", aFile)
	})
}

// TestBusyReceiver: while nobody receives, changes are merged, and what was
// undone is not reported.
func TestBusyReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newFake(), watch.Options{}, aFile, bFile)
		s.step("write skills/c/SKILL.md y")
		s.after(1600*time.Millisecond, "skills/c/", "skills/c/SKILL.md") // 300 to see it: it was not watched yet
		working := s.w.Generation()                                      // ... while more happens
		s.step("write " + aFile + " y")
		s.step("wait 1m")
		if got := s.w.Generation(); got != working+1 {
			t.Errorf("generation %d while working on %d", got, working)
		}
		s.step("remove " + bFile)
		s.step("write skills/d/SKILL.md y")
		s.step("wait 1m")
		s.step("remove skills/d")
		s.step("wait 1m")
		newest := s.w.Generation()
		b := <-s.w.Batches()
		if want := []string{s.at(aFile), s.at(bFile)}; !slices.Equal(b.Changed, want) || b.Dirs != nil || b.Generation != newest || newest < working+2 {
			t.Errorf("got %+v, want %v as generation %d", b, want, newest)
		}
		s.none()
	})
}

// TestSame: content that the receiver knows is not reported; new files and
// missing ones are, whatever they hold.
func TestSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		known := "x"
		s := start(t, newFake(), watch.Options{Same: func(path string) bool {
			asked = append(asked, path)
			data, err := os.ReadFile(path)
			return err == nil && string(data) == known
		}}, aFile)
		s.step("remove " + aFile)
		s.step("write " + aFile + " x")
		s.none()
		s.step("write " + aFile + " y")
		s.step("wait 1m")
		s.expect([]string{aFile})
		if want := []string{s.at(aFile), s.at(aFile)}; !slices.Equal(asked, want) {
			t.Errorf("asked %v, want %v", asked, want)
		}
		s.step("remove " + aFile)
		s.expect([]string{aFile})
		known = "x"
		s.step("write " + aFile + " x")
		s.expect([]string{aFile})
	})
}

// TestDegrade: whatever happens to native events, changes are found, and a
// person is told once.
func TestDegrade(t *testing.T) {
	limit := func(err error) func(string, int) error {
		return func(_ string, n int) error {
			if n >= 2 {
				return fmt.Errorf("watch: %w", err)
			}
			return nil
		}
	}
	for name, tt := range map[string]struct {
		fake   *fake
		then   func(*fake)
		notice string // none if empty
	}{
		"no instance":   {fake: &fake{opening: syscall.EMFILE}, notice: "fs.inotify.max_user_instances"},
		"no watch":      {fake: &fake{refuse: limit(syscall.ENOSPC)}, notice: "fs.inotify.max_user_watches"},
		"some trouble":  {fake: &fake{refuse: limit(errors.New("it is raining"))}, notice: "it is raining"},
		"not permitted": {fake: &fake{refuse: limit(fs.ErrPermission)}},
		"one error":     {then: func(f *fake) { f.hint(watch.Hint{Err: syscall.EIO}) }},
		"lost events":   {then: func(f *fake) { f.hint(watch.Hint{Err: watch.ErrOverflow}) }},
		"many errors": {then: func(f *fake) {
			for range 100 {
				f.hint(watch.Hint{Err: syscall.EIO})
			}
		}, notice: "input/output"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var notices []string
				f := cmp.Or(tt.fake, new(fake))
				f.dirs = make(map[string]bool)
				s := start(t, f, watch.Options{Notice: func(n string) { notices = append(notices, n) }}, aFile, bFile)
				s.fake = nil // no more hints from here on
				s.must(os.Remove(s.at(aFile)))
				if tt.then != nil {
					tt.then(f)
				}
				s.expect([]string{aFile})
				s.step("wait 1h")
				switch {
				case tt.notice == "" && len(notices) > 0,
					tt.notice != "" && (len(notices) != 1 || !strings.Contains(notices[0], tt.notice)):
					t.Errorf("notices %q, want one with %q", notices, tt.notice)
				}
				st := s.w.Status()
				if st.Native == (tt.notice != "") || tt.notice != "" && (st.Err == "" || st.Watches != 0 || st.Polled != 1) {
					t.Errorf("%+v", st)
				}
				if tt.notice != "" && f.opening == nil && f.closed != 1 {
					t.Errorf("the backend was closed %d times", f.closed)
				}
				s.must(os.Remove(s.at(bFile)))
				if tt.then != nil && tt.notice == "" {
					f.happened(s.at(bFile), watch.Other)
				}
				s.expect([]string{bFile})
			})
		})
	}
}

// TestRoots: roots are replaced; new ones are known, old ones forgotten, and
// what stays loses nothing.
func TestRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := start(t, f, watch.Options{}, aFile, "more/c/SKILL.md")
		s.step("write " + aFile + " y")
		roots := []watch.Root{{Path: s.at("skills")}, {Path: s.at("more")}, {Path: s.at("more")}}
		s.must(s.w.SetRoots(t.Context(), roots))
		s.after(1300*time.Millisecond, aFile)
		s.step("write more/c/SKILL.md y")
		s.expect([]string{"more/c/SKILL.md"})
		s.must(s.w.SetRoots(t.Context(), roots[1:]))
		s.step("write " + aFile + " z")
		s.none()
		for _, d := range f.watched() {
			if strings.HasPrefix(d, s.at("skills")) {
				t.Errorf("%s is still watched", d)
			}
		}
		s.must(s.w.SetRoots(t.Context(), nil))
		if got := f.watched(); len(got) > 0 || s.w.Status() != (watch.Status{Native: true}) {
			t.Errorf("no roots, but %v is watched: %+v", got, s.w.Status())
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.w.SetRoots(done, roots); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		s.w.Close()
		if err := s.w.SetRoots(t.Context(), roots); err == nil {
			t.Error("a closed watcher took roots")
		}
		if _, ok := <-s.w.Batches(); ok {
			t.Error("a closed watcher reported something")
		}
	})
}

// TestIdle: with native events there is no clock; time passes without a look.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newFake(), watch.Options{}, aFile)
		s.must(os.Remove(s.at(aFile))) // which nobody tells
		s.step("wait 1000h")
		s.none()
	})
}

// TestFewWatches: what belongs to a skill is not watched, however much it is.
func TestFewWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		files := []string{aFile, "project/notes.txt"}
		for i := range 200 {
			files = append(files, fmt.Sprintf("skills/a/.venv/lib/p%d/x.py", i), fmt.Sprintf("skills/a/runtime/p%d/SKILL.md", i))
		}
		s := start(t, f, watch.Options{}, files...)
		want := []string{s.top, s.at("skills"), s.at("skills/a")}
		if up := filepath.Dir(s.top); !slices.Equal(f.watched(), append([]string{up}, want...)) {
			t.Errorf("watched: %v", f.watched())
		}
		for i := range 37_000 {
			f.hint(watch.Hint{Path: s.at(fmt.Sprintf("skills/a/icon%d.svg", i)), Op: watch.Write})
		}
		s.none()
	})
}
