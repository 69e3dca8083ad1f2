package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// maxWhole is the largest file that is held in memory, and so the largest that
// can be changed.
const maxWhole = 32 << 20

// open opens a regular file for reading. It does not wait for a writer of a
// pipe, and does not open devices at all: opening one can already do something.
func open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, plain(path, err)
	}
	if err := regular(path, info.Mode()); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plain(path, err)
	}
	// It may have been replaced since.
	if info, err = f.Stat(); err == nil {
		err = regular(path, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// regular says what a file is that can be neither read nor written here.
func regular(path string, mode fs.FileMode) error {
	what := ""
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a directory: list it with Glob, or with ls in Bash", path)
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	default:
		what = "no regular file"
	}
	return fmt.Errorf("%s is %s, and only regular files can be read and written", path, what)
}

// plain words the errors of the operating system for the model.
func plain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: look for it with Glob", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: the operating system refuses access to it", path)
	}
	return err
}

// readAll returns the content of a file of at most maxWhole bytes; big is true
// for a larger one, of which that much is returned.
func readAll(f io.Reader) (content []byte, big bool, err error) {
	content, err = io.ReadAll(io.LimitReader(f, maxWhole+1))
	if len(content) > maxWhole {
		return content[:maxWhole], true, err
	}
	return content, false, err
}

// load reads a whole file that is to be changed.
func load(path string) (content []byte, mode fs.FileMode, err error) {
	f, err := open(path)
	if err != nil {
		return nil, 0, err
	}
	content, big, err := readAll(f)
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return nil, 0, err
	}
	if big {
		return nil, 0, fmt.Errorf("%s has more than %d MiB and cannot be changed with this tool", path, maxWhole>>20)
	}
	return content, info.Mode(), nil
}
