package state

import (
	"errors"
	"path/filepath"
)

// Dir returns the state directory (spec M-5): $KNACK_STATE_DIR, else
// $XDG_STATE_HOME/knack, else .local/state/knack in home. A relative
// XDG_STATE_HOME does not count, as its specification says; a relative
// KNACK_STATE_DIR starts at the working directory.
func Dir(getenv func(string) string, home string) (string, error) {
	if dir := getenv("KNACK_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "knack"), nil
	}
	if home == "" {
		return "", errors.New("state directory: there is no home directory (set KNACK_STATE_DIR)")
	}
	return filepath.Join(home, ".local", "state", "knack"), nil
}

// RealPath returns the absolute path of dir without links, by which things are
// remembered: a directory reached in two ways is one directory.
func RealPath(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no directory is named")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
