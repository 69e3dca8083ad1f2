package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// FileName is the log's name in the state directory (spec S-12).
const FileName = "audit.jsonl"

// A Log appends to an audit log. The file and its directory, 0600 and 0700,
// appear with the first record; a Log that gets none touches nothing. The zero
// Log with a Path is ready. It is safe for concurrent use, as the file is for
// several processes.
//
// Each record is one write at the end of the file. What a process that was
// killed left of a line stays a line of its own, so that a crash loses at most
// the record that was being written. A Log does not wait for the disk to have
// the record for good: when the whole machine fails, the last seconds may be
// missing.
type Log struct {
	Path string
	Now  func() time.Time // for records without a time; nil means time.Now

	mu     sync.Mutex // guards the fields below
	file   *os.File   // nil before the first record
	closed bool
	stuck  bool // somebody holds the lock and does nothing
}

var (
	errTooLong  = errors.New("it is too long")
	errClosed   = errors.New("it is closed")
	errNotPlain = errors.New("it is not a plain file")
	errLink     = errors.New("it is a link")
)

// Write appends a record. Its error says what to do; the record is lost then,
// and the next one is tried as if nothing had happened.
func (l *Log) Write(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Time.IsZero() {
		r.Time = l.now()
	}
	line, err := encode(r)
	if err != nil {
		return err
	}
	if err := l.append(line); err != nil {
		return fmt.Errorf("the audit log has lost a record: %w (%s)", err, remedy(err))
	}
	return nil
}

func (l *Log) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

// append writes a line at the end of the file that has the name now.
func (l *Log) append(line []byte) error {
	if l.closed {
		return fmt.Errorf("%s: %w", l.Path, errClosed)
	}
	for range maxReopen {
		if l.file == nil {
			f, err := open(l.Path)
			if err != nil {
				return err
			}
			l.file = f
		}
		done, err := l.appendTo(l.file, line)
		if done || err != nil {
			return err
		}
		// Somebody has moved the file away: what is written from now on belongs
		// into a new one.
		_ = l.file.Close() // nothing is buffered
		l.file = nil
	}
	return fmt.Errorf("%s: it is replaced again and again", l.Path)
}

// maxReopen bounds the fight with somebody who replaces the file all the time.
const maxReopen = 10

// appendTo reports false when f has lost its name.
func (l *Log) appendTo(f *os.File, line []byte) (done bool, err error) {
	unlock, held := l.lock(f)
	defer unlock()
	now, err := os.Lstat(l.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	mine, serr := f.Stat()
	if serr != nil {
		return false, serr
	}
	if err != nil || !os.SameFile(now, mine) {
		return false, nil
	}
	// Nobody else writes while the lock is held, so one look tells whether the
	// last line is whole. Without a lock it may break after the look; then each
	// line brings the newline before it along, and readers skip empty lines.
	if !held || torn(f, mine.Size()) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	return true, err
}

// Holders of the lock need it for microseconds. One that was stopped in the
// middle must not stop everybody else: after patience they write without it.
const (
	patience   = time.Second / 4
	retryEvery = time.Millisecond
)

// lock makes this the only writer of f, in all processes, and reports whether
// it did. The system gives the lock back when a process dies.
func (l *Log) lock(f *os.File) (unlock func(), held bool) {
	for waited := time.Duration(0); ; waited += retryEvery {
		unlock, held, busy := tryLock(f)
		if !busy {
			l.stuck = false
			return unlock, held
		}
		if l.stuck || waited >= patience {
			l.stuck = true
			return func() {}, false
		}
		time.Sleep(retryEvery)
	}
}

// torn reports whether the last line was left without its end.
func torn(f *os.File, size int64) bool {
	if size == 0 {
		return false
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil && !errors.Is(err, io.EOF) {
		return true // an empty line more harms nobody
	}
	return last[0] != '\n'
}

// open opens the file for appending, and makes it and its directory when they
// are missing. It follows no link at the file's name and waits for nobody.
func open(path string) (*os.File, error) {
	f, err := openAppend(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		f, err = openAppend(path)
	}
	return plain(f, err)
}

// plain returns what opening gave, if it is a regular file.
func plain(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", f.Name(), errNotPlain)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func openAppend(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|openFlags, 0o600)
	if fi, lerr := os.Lstat(path); lerr == nil && fi.Mode()&fs.ModeSymlink != 0 {
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return nil, fmt.Errorf("%s: %w", path, errLink)
	}
	return f, err
}

// remedy says what a person can do about an error.
func remedy(err error) string {
	for _, r := range []struct {
		is  error
		say string
	}{
		{syscall.ENOSPC, "free some space on the disk, or set KNACK_STATE_DIR to a directory on another one"},
		{syscall.EDQUOT, "your quota is used up: remove something, or set KNACK_STATE_DIR to another directory"},
		{syscall.EFBIG, "it is as large as a file may be: move it away"},
		{errLink, "links are not followed here: remove it, and set KNACK_STATE_DIR to move the whole directory"},
		{errNotPlain, "move it away"},
		{errClosed, "the session has ended"},
		{fs.ErrPermission, "make it writable for you, or set KNACK_STATE_DIR to another directory"},
		{syscall.EROFS, "set KNACK_STATE_DIR to a directory that can be written"},
	} {
		if errors.Is(err, r.is) {
			return r.say
		}
	}
	return "or set KNACK_STATE_DIR to another directory"
}

// Close ends the log. Later records are lost, with an error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// Tell returns a sink that passes records on, and tells of the first one that
// is lost; the others are lost in silence, since they would say the same. tell
// is called at most once, by the goroutine that writes.
func Tell(s Sink, tell func(error)) Sink { return &telling{sink: s, tell: tell} }

type telling struct {
	sink Sink
	tell func(error)
	once sync.Once
}

// Write implements [Sink].
func (t *telling) Write(r Record) error {
	err := t.sink.Write(r)
	if err != nil {
		t.once.Do(func() { t.tell(err) })
	}
	return err
}
