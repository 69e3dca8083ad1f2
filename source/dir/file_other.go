//go:build !unix

package dir

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/knack-skills/knack/source/index"
)

// A handle is an open file.
type handle struct{ f *os.File }

const listFlags = 0

// openFile opens path for reading. It does not follow a link in the last
// element, and opens nothing but regular files.
func openFile(path string) (handle, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return handle{}, err
	}
	if st.Mode()&fs.ModeSymlink != 0 {
		return handle{}, errLink
	}
	if !st.Mode().IsRegular() {
		return handle{}, refuse(notRegular, "%s is not a regular file", st.Name())
	}
	f, err := os.Open(path)
	return handle{f}, err
}

var errLink = errors.New("is a link")

func (h handle) stat(in *info) error {
	st, err := h.f.Stat()
	if err != nil {
		return err
	}
	in.fill(st)
	return nil
}

// lstat asks about path without opening it, and follows no link in its last
// element.
func lstat(path string, in *info) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	in.fill(st)
	return nil
}

func (in *info) fill(st fs.FileInfo) {
	*in = info{
		regular: st.Mode().IsRegular(),
		Stamp:   index.Stamp{Size: st.Size(), ModTime: st.ModTime().UnixNano()},
	}
}

// read returns 0 at the end of the file.
func (h handle) read(p []byte) (int, error) {
	n, err := h.f.Read(p)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (h handle) close() { h.f.Close() }

func isLoop(error) bool { return false }
