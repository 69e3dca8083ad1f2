// Package state keeps what outlives a run: small JSON files of the state
// directory (spec M-5). Several processes may use one file at once. A reader
// sees the old text or the new one; writers take turns, by a lock that ends
// with its process; files are 0600 and directories 0700.
//
// What the files hold, and what is to be done when one is damaged, is left to
// the packages that keep something.
package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxSize is the size up to which a file of the state directory is read and
// written, in bytes.
const MaxSize = 4 << 20

// ErrNoDirectory reports that there is no directory to write to, and that none
// can be made.
var ErrNoDirectory = errors.New("there is no state directory")

// A BrokenError says that a file is there and means nothing. The next
// [File.Update] keeps it under the name Path + ".broken" and begins a new one.
type BrokenError struct {
	Path string
	Err  error
}

func (e *BrokenError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.Path, e.Err) }

// Unwrap returns what is wrong with the file.
func (e *BrokenError) Unwrap() error { return e.Err }

// A File is one JSON object, kept under a name that ends with ".json". Beside
// it lies its lock, under the same name with ".lock". A File has no state of
// its own and is safe for concurrent use, also by several processes.
type File[T any] struct {
	Path  string
	Check func(T) error // tells why a value that could be read means nothing; nil accepts all
}

// Read returns what the file holds, or the zero value when there is no file. A
// damaged file is a [*BrokenError].
func (f File[T]) Read() (T, error) {
	var v, none T
	data, err := ReadFile(f.Path, MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, nil
	case errors.Is(err, ErrNotPlain), errors.Is(err, ErrTooLarge):
		return none, &BrokenError{f.Path, err}
	case err != nil:
		return none, err
	}
	if err := decode(data, &v); err != nil {
		return none, &BrokenError{f.Path, err}
	}
	if f.Check != nil {
		if err := f.Check(v); err != nil {
			return none, &BrokenError{f.Path, err}
		}
	}
	return v, nil
}

// decode reads one object with known fields and nothing behind it. Whatever
// differs was not written here, and replacing it would lose it.
func decode(data []byte, v any) error {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return errors.New("it is no JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the JSON object")
	}
	return nil
}

// Update changes what the file holds, while every other Update of it waits.
// It makes the directory when there is none; when it cannot, the error is
// [ErrNoDirectory]. A change that returns an error leaves everything as it is.
// A damaged file changes from the zero value, and is kept as *.broken.
func (f File[T]) Update(change func(*T) error) (err error) {
	if f.Path == "" {
		return ErrNoDirectory
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrNoDirectory, err)
	}
	unlock, err := lock(strings.TrimSuffix(f.Path, ".json") + ".lock")
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	v, err := f.Read()
	_, broken := errors.AsType[*BrokenError](err)
	if err != nil && !broken {
		return err
	}
	if err := change(&v); err != nil {
		return err
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if len(text)+1 > MaxSize {
		return fmt.Errorf("%s: %w", f.Path, ErrTooLarge)
	}
	if broken {
		if err := os.Rename(f.Path, f.Path+".broken"); err != nil {
			return err
		}
	}
	return replace(f.target(), append(text, '\n'))
}

// target is the file that a link leads to: replacing would destroy the link.
func (f File[T]) target() string {
	if real, err := filepath.EvalSymlinks(f.Path); err == nil {
		return real
	}
	return f.Path
}

// Edit changes a file that people and other programs write as well, such as
// settings: change gets its text, or nothing when there is no file. Callers that
// name the same lock take turns; readers see the old text or the new one. A
// change that returns an error, or the same text, leaves the file as it is. The
// rights of the file stay.
func Edit(path, lockPath string, limit int, change func([]byte) ([]byte, error)) (err error) {
	for _, p := range []string{lockPath, path} {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			return err
		}
	}
	unlock, err := lock(lockPath)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	old, err := ReadFile(path, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := change(bytes.Clone(old))
	if err != nil || bytes.Equal(text, old) {
		return err
	}
	if len(text) > limit {
		return ErrTooLarge
	}
	mode := fs.FileMode(0o600)
	if fi, err := os.Stat(path); err == nil {
		mode = fi.Mode().Perm()
	}
	if err := replace(path, text); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
