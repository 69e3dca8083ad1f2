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
