//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A lock file of a process that died is taken over after staleAfter; holders
// need it for milliseconds.
const (
	staleAfter = 30 * time.Second
	retryEvery = 10 * time.Millisecond
	giveUpOn   = time.Minute
)

// lock waits until this is the only caller that holds path, where the system
// has no lock that ends with its process: whoever creates the file holds it.
func lock(path string) (unlock func() error, err error) {
	for deadline := time.Now().Add(giveUpOn); ; time.Sleep(retryEvery) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() error { return errors.Join(f.Close(), os.Remove(path)) }, nil
		}
		// While it is being removed, Windows denies access to it.
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		if fi, err := os.Stat(path); err == nil && time.Since(fi.ModTime()) > staleAfter {
			os.Remove(path)
			continue
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s is held by another process; if none runs, remove it", path)
		}
	}
}
