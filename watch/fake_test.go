package watch_test

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/knack-skills/knack/watch"
)

// A fake is a backend whose events are sent by the test that causes them, as
// inotify would send them.
type fake struct {
	mu      sync.Mutex
	hint    func(watch.Hint)
	dirs    map[string]bool
	refuse  func(dir string, n int) error // by directory and number of watches
	opening error
	closed  int
	most    int
}

func newFake() *fake { return &fake{dirs: make(map[string]bool)} }

func (f *fake) open(hint func(watch.Hint)) (watch.Backend, error) {
	if f.opening != nil {
		return nil, f.opening
	}
	f.hint = hint
	return f, nil
}

func (f *fake) Watch(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		if err := f.refuse(dir, len(f.dirs)); err != nil {
			return err
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return errors.Join(errors.New("not a real directory: "+dir), err)
	}
	f.dirs[dir] = true
	f.most = max(f.most, len(f.dirs))
	return nil
}

func (f *fake) Unwatch(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.dirs, dir)
}

func (f *fake) Close() error {
	f.closed++
	return nil
}

// watched returns the directories that are watched.
func (f *fake) watched() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for d := range f.dirs {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}

// happened sends what inotify would send. A nil fake does nothing.
func (f *fake) happened(path string, op watch.Op) {
	if f == nil {
		return
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	f.mu.Lock()
	tell := f.dirs[filepath.Dir(path)]
	if self := f.dirs[path]; self && op == watch.Other {
		delete(f.dirs, path)
		tell = true
	}
	f.mu.Unlock()
	if tell {
		f.hint(watch.Hint{Path: path, Op: op})
	}
}
