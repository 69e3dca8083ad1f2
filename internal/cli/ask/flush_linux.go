package ask

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed before there was a question.
func flush(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }

// hide switches the echo of a terminal off.
func hide(f *os.File) (restore func(), ok bool) {
	before, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil, false
	}
	silent := *before
	silent.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, &silent) != nil {
		return nil, false
	}
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, before) }, true
}
