package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replace puts content in the place of a file, or creates it, at once: nobody
// ever sees half of it, and after a failure the old content is there. path has
// no links in it. mode is that of the old file; zero means there is none.
func replace(path string, content []byte, mode fs.FileMode) (err error) {
	if mode != 0 {
		// The new file takes the name from the old one, which the rights of the
		// directory alone decide on. A file nobody may write stays as it is.
		if mode&0o200 == 0 {
			return fmt.Errorf("%s is read-only (mode %o)", path, mode.Perm())
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return plain(path, err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	temp := filepath.Join(filepath.Dir(path), ".knack-"+rand.Text()+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // the umask applies
	if err != nil {
		return plain(path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s was not changed: %w", path, errors.Join(err, os.Remove(temp)))
		}
	}()
	_, err = f.Write(content)
	if err == nil && mode != 0 {
		err = keepRights(f, path, mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
