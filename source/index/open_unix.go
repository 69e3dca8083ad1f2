//go:build unix

package index

import (
	"io/fs"
	"os"
	"syscall"
)

// openPlain opens path for reading, follows no link, and does not wait for
// somebody to write into a pipe.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// private reports whether a file belongs to this person, and nobody else may
// read or write it.
func private(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid() && st.Mode().Perm()&0o077 == 0
}
