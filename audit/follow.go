package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"
)

// A Follower reads what is appended to a log, over and over. It goes on when
// the file is moved away and made anew, when it is emptied, and when it does
// not exist yet. One goroutine may use it at a time.
type Follower struct {
	path   string
	filter Filter

	file    *os.File // nil while there is none
	offset  int64    // of what was read
	line    int      // lines that were read
	rest    []byte   // the beginning of a line whose end is not there yet
	leaving bool     // the file was moved away
}

// NewFollower returns a follower of the records that f wants. It begins with
// what is appended from now on.
func NewFollower(path string, f Filter) (*Follower, error) {
	w := &Follower{path: path, filter: f}
	file, err := openRead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, fmt.Errorf("following the audit log: %w", err)
	}
	w.file = file
	fi, err := file.Stat()
	if err == nil {
		w.offset = fi.Size()
		w.line, err = countLines(io.NewSectionReader(file, 0, w.offset))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("following the audit log: %w", err), file.Close())
	}
	return w, nil
}

// Close ends the follower.
func (w *Follower) Close() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}

// Step passes on what has been appended since the last step, and reports
// whether yield wants more.
func (w *Follower) Step(yield func(Entry) bool) (more bool, err error) {
	for {
		if w.file == nil {
			if err := w.reopen(); err != nil || w.file == nil {
				return true, err
			}
		}
		// Whether the file has lost its name is looked up before it is read, and
		// it is left only one step later: whoever had it open may still write.
		left := w.leaving
		if w.leaving, err = w.moved(); err != nil {
			return true, err
		}
		if more, err := w.drain(yield); !more || err != nil {
			return more, err
		}
		if !left || !w.leaving {
			return true, nil
		}
		if len(w.rest) > 0 && !w.pass(w.rest, false, yield) {
			return false, nil
		}
		if err := w.Close(); err != nil {
			return true, err
		}
	}
}

// reopen begins with the file that has the name now, if there is one.
func (w *Follower) reopen() error {
	file, err := openRead(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("following the audit log: %w", err)
	}
	w.file, w.offset, w.line, w.rest, w.leaving = file, 0, 0, nil, false
	return nil
}

// moved reports whether another file, or none, has the name.
func (w *Follower) moved() (bool, error) {
	mine, err := w.file.Stat()
	if err != nil {
		return false, fmt.Errorf("following the audit log: %w", err)
	}
	if mine.Size() < w.offset { // it was emptied
		w.offset, w.line, w.rest = 0, 0, nil
	}
	now, err := os.Stat(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("following the audit log: %w", err)
	}
	return err != nil || !os.SameFile(mine, now), nil
}

// drain reads to the end of the file.
func (w *Follower) drain(yield func(Entry) bool) (more bool, err error) {
	block := make([]byte, 64<<10)
	for {
		n, err := w.file.ReadAt(block, w.offset)
		w.offset += int64(n)
		for data := block[:n]; len(data) > 0; {
			part, rest, whole := bytes.Cut(data, []byte("\n"))
			data = rest
			w.rest = append(w.rest, part[:min(len(part), tooLong+1-len(w.rest))]...)
			if !whole {
				break
			}
			line := w.rest
			w.rest = w.rest[:0]
			if !w.pass(line, true, yield) {
				w.offset -= int64(len(data)) // a later step goes on with the next line
				return false, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, fmt.Errorf("following the audit log: %w", err)
		}
	}
}

// pass hands on one line.
func (w *Follower) pass(line []byte, whole bool, yield func(Entry) bool) bool {
	w.line++
	e := parse(line, whole)
	if !wanted(&e, &w.filter) {
		return true
	}
	e.Line = w.line
	return yield(e)
}

// Follow yields what a log gains, looking for it at intervals, until ctx ends,
// which is no error, or the loop does. Raw and Record are valid until the next
// entry.
func Follow(ctx context.Context, w *Follower, every time.Duration) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			more, err := w.Step(func(e Entry) bool { return ctx.Err() == nil && yield(e, nil) })
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if !more {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}
