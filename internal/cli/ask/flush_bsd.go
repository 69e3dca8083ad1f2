//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package ask

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed before there was a question.
func flush(f *os.File) {
	const read = 1 // FREAD
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}

// hide switches the echo of a terminal off.
func hide(f *os.File) (restore func(), ok bool) {
	before, err := unix.IoctlGetTermios(int(f.Fd()), unix.TIOCGETA)
	if err != nil {
		return nil, false
	}
	silent := *before
	silent.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(int(f.Fd()), unix.TIOCSETA, &silent) != nil {
		return nil, false
	}
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), unix.TIOCSETA, before) }, true
}
