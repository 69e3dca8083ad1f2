//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package audit

import (
	"errors"
	"os"
	"syscall"
)

// openFlags refuse a link in place of the file, and do not wait for a reader of
// a pipe in place of it.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// tryLock takes the lock of f if it is free. busy says that somebody else has
// it; neither held nor busy, that the file system has no locks.
func tryLock(f *os.File) (unlock func(), held, busy bool) {
	fd := int(f.Fd())
	err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { _ = syscall.Flock(fd, syscall.LOCK_UN) }, true, false
	}
	return func() {}, false, errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
}

// readFlags keep a pipe in place of the file from making readers wait.
const readFlags = syscall.O_NONBLOCK
