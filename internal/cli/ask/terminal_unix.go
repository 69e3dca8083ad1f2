//go:build unix

package ask

import (
	"os"

	"golang.org/x/sys/unix"
)

// openTerminal opens the terminal that controls the process. A process in the
// background would be stopped when it reads, so it has none.
func openTerminal() (in, out *os.File, err error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	if group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		f.Close()
		return nil, nil, os.ErrClosed
	}
	return f, f, nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}
