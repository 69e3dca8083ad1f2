// Package fsnotify gives package watch native events: inotify on Linux, kqueue
// on macOS and BSD, ReadDirectoryChangesW on Windows.
//
// It knows single directories and nothing else; which ones, and what an event
// means, is decided by its caller.
package fsnotify

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/fsnotify/fsnotify"

	"github.com/knack-skills/knack/watch"
)

// perFile are the systems on which a watched directory costs an open file for
// each of its entries.
var perFile = map[string]bool{
	"darwin": true, "ios": true, "freebsd": true, "netbsd": true, "openbsd": true, "dragonfly": true,
}

// maxOpen bounds those open files.
const maxOpen = 4_000

// errTooMany asks for polling on such a system.
var errTooMany = errors.New("the watched directories have too many entries")

// A backend is a [watch.Backend].
type backend struct {
	w    *fsnotify.Watcher
	hint func(watch.Hint)
	done sync.WaitGroup
	open int            // entries of all watched directories, where they cost
	each map[string]int // by directory
}

// Open is a [watch.Native].
func Open(hint func(watch.Hint)) (watch.Backend, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	b := &backend{w: w, hint: hint, each: make(map[string]int)}
	b.done.Go(b.forward)
	return b, nil
}

// forward passes on events until the watcher is closed. Both channels are
// drained all the time: an unread error would hold up the events.
func (b *backend) forward() {
	for {
		select {
		case e, ok := <-b.w.Events:
			if !ok {
				return
			}
			b.hint(watch.Hint{Path: e.Name, Op: op(e.Op)})
		case err, ok := <-b.w.Errors:
			switch {
			case !ok:
				return
			case errors.Is(err, fsnotify.ErrEventOverflow):
				err = watch.ErrOverflow
			}
			b.hint(watch.Hint{Err: err})
		}
	}
}

// op says what an event means. Several things can have happened at once; the
// one that says least about the content wins.
func op(o fsnotify.Op) watch.Op {
	switch {
	case o.Has(fsnotify.Remove) || o.Has(fsnotify.Rename):
		return watch.Other
	case o.Has(fsnotify.Create):
		// Only inotify tells each write after that.
		if runtime.GOOS == "linux" {
			return watch.Create
		}
		return watch.Other
	case o.Has(fsnotify.Write):
		return watch.Write
	case o.Has(fsnotify.Chmod):
		return watch.Attrib
	}
	return watch.Other
}

// Watch implements [watch.Backend].
func (b *backend) Watch(dir string) error {
	if perFile[runtime.GOOS] {
		n, err := count(dir, maxOpen-b.open)
		if err != nil {
			return err
		}
		b.open += n
		b.each[dir] += n
		if b.open >= maxOpen {
			return fmt.Errorf("watch %s: %w", dir, errTooMany)
		}
	}
	if err := b.w.Add(dir); err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	return nil
}

// count returns how many entries a directory has, at most most.
func count(dir string, most int) (int, error) {
	f, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	names, err := f.Readdirnames(max(1, most))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return len(names) + 1, err
}

// Unwatch implements [watch.Backend]. Its only error says that the watch is
// gone already, which is the aim.
func (b *backend) Unwatch(dir string) {
	_ = b.w.Remove(dir)
	b.open -= b.each[dir]
	delete(b.each, dir)
}

// Close implements [watch.Backend].
func (b *backend) Close() error {
	err := b.w.Close()
	b.done.Wait()
	return err
}
