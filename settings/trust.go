package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/knack-skills/knack/state"
)

// A TrustStore remembers which workspaces are trusted, in the state directory
// (spec S-9, M-5). It is safe for concurrent use, also by several processes.
//
// The answers are in trust.json, by the link-free path of the root. A file that
// is not readable is no answer, and an error that names it. Without a Dir
// nothing is known, and nothing can be stored.
type TrustStore struct{ Dir string }

// answers is the text of the file.
type answers struct {
	Workspaces map[string]bool `json:"workspaces"`
}

func (t TrustStore) file() state.File[answers] {
	return state.File[answers]{Path: filepath.Join(t.Dir, "trust.json"), Check: func(a answers) error {
		if a.Workspaces == nil {
			return errors.New("there are no workspaces in it")
		}
		return nil
	}}
}

// Trusted returns the stored answer for root; known is false when nobody was
// asked. A root that does not exist is not known.
func (t TrustStore) Trusted(root string) (trusted, known bool, err error) {
	if t.Dir == "" {
		return false, false, nil
	}
	key, err := state.RealPath(root)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("trust of %s: %w", root, err)
	}
	a, err := t.file().Read()
	if err != nil {
		return false, false, fmt.Errorf("trust store: %w", err)
	}
	trusted, known = a.Workspaces[key]
	return trusted, known, nil
}

// Store keeps the answer for root. A file that is not readable is kept as
// trust.json.broken, and a new one is begun: every other workspace is then
// asked about again.
func (t TrustStore) Store(root string, trusted bool) error {
	if t.Dir == "" {
		return errors.New("trust store: there is no state directory; set KNACK_STATE_DIR to one of your own")
	}
	key, err := state.RealPath(root)
	if err != nil {
		return fmt.Errorf("trust of %s: %w", root, err)
	}
	err = t.file().Update(func(a *answers) error {
		if a.Workspaces == nil {
			a.Workspaces = map[string]bool{}
		}
		a.Workspaces[key] = trusted
		return nil
	})
	if err != nil {
		return fmt.Errorf("trust store: %w", err)
	}
	return nil
}
