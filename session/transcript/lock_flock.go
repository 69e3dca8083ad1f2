//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transcript

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f for this process, unless somebody has it. The system gives
// the lock back when f is closed or the process dies.
func tryLock(f *os.File) (ok bool, err error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// removable reports that a lock file may be removed while it is locked.
const removable = true
