package state

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// ErrNotPlain and ErrTooLarge are why a file is not read to its end.
var (
	ErrNotPlain = errors.New("it is not a plain file")
	ErrTooLarge = errors.New("it is too large")
)

// ReadFile reads a plain file of at most limit bytes. It never waits for
// somebody to write into a pipe.
func ReadFile(path string, limit int) ([]byte, error) {
	if fi, err := os.Stat(path); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, ErrNotPlain
	}
	// Non-blocking, in case that the file is another one by now.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, ErrNotPlain
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, ErrTooLarge
	}
	return data, nil
}
