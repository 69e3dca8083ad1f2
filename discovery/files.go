package discovery

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// Files is what discovery asks of a file system. Its methods may be called from
// several goroutines.
type Files interface {
	// Lstat describes a file or directory, and does not follow a link.
	Lstat(path string) (fs.FileInfo, error)
	// Read returns what a regular file, or the one behind a link, holds.
	Read(path string) ([]byte, error)
	// Real returns a path that exists without links and, where the file system
	// does not tell upper from lower case, as it is spelled there.
	Real(path string) (string, error)
}

// OS is the file system of the machine.
type OS struct{}

// maxRead is how much of a file is read; the index of a large repository has
// some ten megabytes.
const maxRead = 256 << 20

// Lstat is [os.Lstat].
func (OS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// Read reads a regular file and does not wait for a pipe.
func (OS) Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxRead))
}

// Real resolves links, then corrects the case of each name.
func (OS) Real(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	volume := filepath.VolumeName(real)
	at := volume + string(filepath.Separator)
	for name := range strings.SplitSeq(real[len(volume):], string(filepath.Separator)) {
		if name != "" {
			at = filepath.Join(at, spelled(at, name))
		}
	}
	return at, nil
}

// spelled returns name as the directory spells it. One look tells whether case
// matters there, so that most directories are never listed.
func spelled(dir, name string) string {
	other := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	if other == name {
		return name
	}
	swapped, err := os.Lstat(filepath.Join(dir, other))
	if err != nil {
		return name
	}
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil || !os.SameFile(info, swapped) {
		return name
	}
	entries, _ := os.ReadDir(dir) // what cannot be listed stays as it was said
	found := name
	for _, e := range entries {
		if e.Name() == name {
			return name
		}
		if strings.EqualFold(e.Name(), name) {
			found = e.Name()
		}
	}
	return found
}
