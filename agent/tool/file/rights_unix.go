//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// keepRights gives f the owner and the mode of the file at path. The mode comes
// last: a change of owner takes setuid away.
func keepRights(f *os.File, path string, mode fs.FileMode) error {
	old, err := os.Stat(path)
	if err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	is, ok2 := mine.Sys().(*syscall.Stat_t)
	if ok && ok2 && (was.Uid != is.Uid || was.Gid != is.Gid) {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
}
