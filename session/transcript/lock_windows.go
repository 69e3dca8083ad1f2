package transcript

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks f for this process, unless somebody has it. The system gives
// the lock back when f is closed or the process dies. What is locked lies
// behind the text of the file, which others must be able to read.
func tryLock(f *os.File) (ok bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// removable reports that a lock file may be removed while it is locked.
const removable = false
