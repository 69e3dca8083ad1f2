//go:build unix

package dir

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/knack-skills/knack/source/index"
)

// A handle is an open file. Opening, reading and closing thousands of small
// files is what loading costs, so this is done without an os.File each: no
// finalizer, no poller (spec C-11).
type handle int

// listFlags keep opening a directory from blocking when it is a FIFO by now.
const listFlags = syscall.O_NONBLOCK

// openFile opens path for reading. It does not follow a link in the last
// element, and does not wait when path is a FIFO.
func openFile(path string) (handle, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return handle(fd), err
		}
	}
}

func (h handle) stat(in *info) error {
	return in.fill(func(st *unix.Stat_t) error { return unix.Fstat(int(h), st) })
}

// lstat asks about path without opening it, and follows no link in its last
// element.
func lstat(path string, in *info) error {
	return in.fill(func(st *unix.Stat_t) error { return unix.Lstat(path, st) })
}

func (in *info) fill(stat func(*unix.Stat_t) error) error {
	var st unix.Stat_t
	for {
		err := stat(&st)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		*in = info{
			regular: st.Mode&unix.S_IFMT == unix.S_IFREG,
			links:   uint64(st.Nlink),
			Stamp: index.Stamp{
				Size:       st.Size,
				ModTime:    st.Mtim.Nano(),
				ChangeTime: st.Ctim.Nano(),
				Device:     uint64(st.Dev),
				Inode:      uint64(st.Ino),
			},
		}
		return nil
	}
}

// read returns 0 at the end of the file.
func (h handle) read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(h), p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func (h handle) close() { syscall.Close(int(h)) }

func isLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }
