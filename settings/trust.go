package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A TrustStore remembers which workspaces are trusted, in the state directory
// (spec S-9, M-5). It is safe for concurrent use, also by several processes.
//
// The answers are in trust.json, by the link-free path of the root. A file that
// is not readable is no answer, and an error that names it.
type TrustStore struct{ Dir string }

const (
	trustFile = "trust.json"
	trustLock = "trust.lock"
)

// answers is the text of the file.
type answers struct {
	Workspaces map[string]bool `json:"workspaces"`
}

// Trusted returns the stored answer for root; known is false when nobody was
// asked. A root that does not exist is not known.
func (t TrustStore) Trusted(root string) (trusted, known bool, err error) {
	key, err := realPath(root)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("trust of %s: %w", root, err)
	}
	a, err := t.read()
	if err != nil {
		return false, false, err
	}
	trusted, known = a.Workspaces[key]
	return trusted, known, nil
}

// Store keeps the answer for root. A file that is not readable is kept as
// trust.json.broken, and a new one is begun: every other workspace is then
// asked about again.
func (t TrustStore) Store(root string, trusted bool) (err error) {
	key, err := realPath(root)
	if err != nil {
		return fmt.Errorf("trust of %s: %w", root, err)
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return fmt.Errorf("trust store: %w", err)
	}
	unlock, err := lock(filepath.Join(t.Dir, trustLock))
	if err != nil {
		return fmt.Errorf("trust store: lock: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	a, err := t.read()
	if _, broken := errors.AsType[*brokenError](err); broken {
		err = os.Rename(t.path(), t.path()+".broken")
		a = answers{}
	}
	if err != nil {
		return err
	}
	if a.Workspaces == nil {
		a.Workspaces = map[string]bool{}
	}
	a.Workspaces[key] = trusted
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return fmt.Errorf("trust store: %w", err)
	}
	if err := replace(t.target(), append(text, '\n')); err != nil {
		return fmt.Errorf("trust store: %w", err)
	}
	return nil
}

func (t TrustStore) path() string { return filepath.Join(t.Dir, trustFile) }

// target is the file itself when trust.json is a link: replacing would destroy
// the link.
func (t TrustStore) target() string {
	if real, err := filepath.EvalSymlinks(t.path()); err == nil {
		return real
	}
	return t.path()
}

// A brokenError says that the file is there and means nothing.
type brokenError struct {
	path string
	err  error
}

func (e *brokenError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.path, e.err) }
func (e *brokenError) Unwrap() error { return e.err }

func (t TrustStore) read() (answers, error) {
	var a answers
	data, err := readFile(t.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, nil
	case errors.Is(err, errNotPlain), errors.Is(err, errTooLarge):
		return a, &brokenError{t.path(), err}
	case err != nil:
		return a, fmt.Errorf("trust store: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return answers{}, &brokenError{t.path(), err}
	}
	if a.Workspaces == nil {
		return answers{}, &brokenError{t.path(), errors.New("there are no workspaces in it")}
	}
	return a, nil
}

// realPath is the absolute path of root without links: a workspace reached in
// two ways is one workspace.
func realPath(root string) (string, error) {
	if root == "" {
		return "", errors.New("no workspace is named")
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// StateDir returns $KNACK_STATE_DIR, else $XDG_STATE_HOME/knack, else
// ~/.local/state/knack (spec M-5). A relative XDG_STATE_HOME does not count, as
// its specification says; a relative KNACK_STATE_DIR starts at the working
// directory.
func StateDir() (string, error) {
	if dir := os.Getenv("KNACK_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "knack"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("state directory: %w (set KNACK_STATE_DIR)", err)
	}
	return filepath.Join(home, ".local", "state", "knack"), nil
}
