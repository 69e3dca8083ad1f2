package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// A HeldError says that another process has a session open.
type HeldError struct {
	ID  string
	PID int // zero when it is not known yet
}

func (e *HeldError) Error() string {
	who := "another process"
	if e.PID > 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("session %s is open in %s: end it there, or continue a copy (--fork-session)", e.ID, who)
}

// A lock is held as long as a session is open.
type lock struct{ file *os.File }

// acquire takes the lock file at path, and writes into it who has it.
func acquire(path, id string) (lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return lock{}, fmt.Errorf("lock: %w", err)
		}
		ok, err := tryLock(f)
		if err != nil {
			return lock{}, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if !ok {
			return lock{}, errors.Join(&HeldError{id, holder(f)}, f.Close())
		}
		// The holder before may have removed the file between our two calls;
		// then others lock another file of this name.
		if !current(f, path) {
			if err := f.Close(); err != nil {
				return lock{}, err
			}
			continue
		}
		err = f.Truncate(0)
		if err == nil {
			_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
		}
		if err != nil {
			return lock{}, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		return lock{f}, nil
	}
}

// release gives the lock back. The file goes first, while nobody else can have
// it.
func (l lock) release() error {
	if removable {
		if err := os.Remove(l.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, l.file.Close())
		}
		return l.file.Close()
	}
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

func current(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// holder reads who has the lock.
func holder(f *os.File) int {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}
