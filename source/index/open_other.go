//go:build !unix

package index

import (
	"io/fs"
	"os"
)

// openPlain opens path for reading, and no link.
func openPlain(path string) (*os.File, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, ErrUnusable
	}
	return os.Open(path)
}

// private is always true: here the rights of the state directory decide.
func private(fs.FileInfo) bool { return true }
