package ask

import (
	"os"

	"golang.org/x/sys/unix"
)

// flush drops what was typed before there was a question.
func flush(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
