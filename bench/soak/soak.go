package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/list"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/watch"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// patience is how long a change may take to count.
const patience = 30 * time.Second

// A soaking is one run.
type soaking struct {
	w     *world
	e     *knack.Engine
	talk  *talk
	done  chan knack.Change
	r     report
	wait  time.Duration // until a change counts
	marks int
	trail []string // of changes since the last quiet point
}

// engine opens the repository, as a session that has touched a file in it.
func (w *world) engine(ctx context.Context) (*knack.Engine, error) {
	e, err := knack.New(ctx, knack.Options{
		Dir: w.at("repo"), Home: w.at("home"), StateDir: w.at("state"), NoBundled: true, Trust: true,
		Getenv: func(k string) string {
			return map[string]string{"KNACK_MANAGED_DIR": w.at("etc"), "SLASH_COMMAND_TOOL_CHAR_BUDGET": "1000000"}[k]
		},
	})
	if err != nil {
		return nil, err
	}
	if _, err := e.Discover(ctx, "apps/web/index.html"); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// soak changes and compares until the time is over or something is wrong.
func soak(ctx context.Context, tmp string, o options) (r report, err error) {
	top, err := filepath.EvalSymlinks(tmp)
	if err != nil {
		return r, err
	}
	if err := warm(ctx, top); err != nil {
		return r, err
	}
	goroutines, files := runtime.NumGoroutine(), openFiles()
	s := &soaking{done: make(chan knack.Change, 10_000), r: report{changes: map[string]int{}}}
	if s.w, err = newWorld(top, o.seed); err != nil {
		return r, err
	}
	if err = s.run(ctx, o); errors.Is(err, context.Canceled) {
		err = nil
	}
	s.r.goroutines, s.r.files = [2]int{goroutines, settled(goroutines)}, [2]int{files, openFiles()}
	if err == nil && (s.r.goroutines[1] > goroutines || s.r.files[1] > files) {
		err = errors.New("something is left behind")
	}
	return s.r, err
}

// warm makes the runtime open what it keeps open.
func warm(ctx context.Context, top string) error {
	w, err := watch.Start(ctx, []watch.Root{{Path: top}}, watch.Options{Native: fsnotify.Open})
	if err == nil {
		w.Close()
	}
	return err
}

// settled waits a moment for goroutines that are ending.
func settled(want int) (n int) {
	for range 100 {
		if n = runtime.NumGoroutine(); n <= want {
			break
		}
		runtime.Gosched()
		time.Sleep(10 * time.Millisecond)
	}
	return n
}

// openFiles counts the open files of this process; zero where that is not told.
func openFiles() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

func (s *soaking) run(ctx context.Context, o options) (err error) {
	if s.e, err = s.w.engine(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.e.Close()) }()
	wo := knack.WatchOptions{Native: fsnotify.Open, Done: func(c knack.Change) { s.done <- c }}
	if o.poll {
		wo.Native = nil
	}
	if o.quick {
		wo.Stable, wo.Debounce, wo.Poll = 40*time.Millisecond, 20*time.Millisecond, 50*time.Millisecond
	}
	s.wait = wo.Stable + wo.Debounce + wo.Poll
	if s.wait == 0 {
		s.wait = watch.DefaultStable + watch.DefaultDebounce + watch.DefaultPoll
	}
	stop, err := s.e.Watch(ctx, wo)
	if err != nil {
		return err
	}
	defer stop()
	s.talk = newTalk(s.e)
	defer s.talk.c.Close()
	for end := time.Now().Add(o.length); time.Now().Before(end); {
		if err := s.burst(ctx); err != nil {
			return err
		}
		if err := s.compare(ctx); err != nil {
			return fmt.Errorf("after %s: %w", strings.Join(s.trail, ", "), err)
		}
	}
	return nil
}

// burst does some changes, and speaks in the middle of them.
func (s *soaking) burst(ctx context.Context) error {
	s.trail = nil
	for range 1 + s.w.r.IntN(1+s.w.r.IntN(25)) {
		name, err := s.w.change()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.r.changes[name]++
		s.trail = append(s.trail, name)
		switch s.w.r.IntN(12) {
		case 0:
			if err := s.say(ctx); err != nil {
				return err
			}
		case 1: // let the watcher see half of it
			select {
			case c := <-s.done:
				s.count(c)
			case <-time.After(time.Duration(s.w.r.IntN(200)) * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return ctx.Err()
}

func (s *soaking) say(ctx context.Context) error {
	s.r.messages++
	return s.talk.say(ctx)
}

func (s *soaking) count(knack.Change) { s.r.reloads++ }

// compare waits for a quiet point: until a mark that was made after all changes
// has been taken over, and nothing follows any more. Then everything must be as if
// it had just been loaded.
func (s *soaking) compare(ctx context.Context) error {
	s.marks++
	begin := time.Now()
	if err := s.w.put("home/.claude/skills/mark/SKILL.md", fmt.Sprintf("---\ndescription: Mark %d.\n---\n", s.marks)); err != nil {
		return err
	}
	late := time.After(patience)
	for seen := false; !seen; {
		select {
		case c := <-s.done:
			s.count(c)
			seen = slices.Contains(c.Added, "mark") || slices.Contains(c.Changed, "mark")
		case <-late:
			return errors.New("a new skill was never noticed")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	fresh, err := s.w.engine(ctx)
	if err != nil {
		return err
	}
	// What lies in a new directory is noticed after what was there to be watched.
	grace := time.After(10 * s.wait)
	for waiting := true; waiting && !bytes.Equal(rows(s.e), rows(fresh)); {
		select {
		case c := <-s.done:
			s.count(c)
		case <-grace:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	s.r.slowest = max(s.r.slowest, time.Since(begin))
	err = s.same(ctx, fresh)
	return errors.Join(err, fresh.Close())
}

func (s *soaking) same(ctx context.Context, fresh *knack.Engine) error {
	s.r.points++
	s.r.largest = max(s.r.largest, fresh.Snapshot().Len())
	got, want := rows(s.e), rows(fresh)
	if !bytes.Equal(got, want) {
		return fmt.Errorf("the snapshot is not that of a fresh load:\n%s", firstDifference(got, want))
	}
	if err := s.say(ctx); err != nil {
		return err
	}
	if d := s.talk.model.differs(fresh); d != "" {
		return errors.New("the model has been told something else:\n" + d)
	}
	s.r.announced = s.talk.model.diffs
	return nil
}

// rows is what `knack list --all --json` prints.
func rows(e *knack.Engine) []byte {
	var all []list.Row
	snap := e.Snapshot()
	for entry := range snap.All() {
		all = append(all, list.NewRow(snap, entry, e.Session().Active))
	}
	for entry := range snap.Shadowed() {
		all = append(all, list.NewRow(snap, entry, e.Session().Active))
	}
	var b bytes.Buffer
	if err := output.JSON(&b, all); err != nil {
		return []byte(err.Error())
	}
	return b.Bytes()
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("is   %s\nwant %s", g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
