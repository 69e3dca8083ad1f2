package mcpconfig

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/knack-skills/knack/state"
)

// A Store remembers which servers of repositories the person allowed or refused,
// each bound to its entry: one that changes is asked about again (spec S-14). It
// is a value, and safe for concurrent use, also by several processes. Without a
// Dir nothing is known, and nothing can be stored.
type Store struct{ Dir string }

// answers is the text of the file: workspace, server, answer.
type answers struct {
	Workspaces map[string]map[string]answer `json:"workspaces"`
}

type answer struct {
	Hash  string `json:"hash"`
	Allow bool   `json:"allow"`
}

func (s Store) file() state.File[answers] {
	return state.File[answers]{Path: filepath.Join(s.Dir, "mcp-servers.json"), Check: func(a answers) error {
		if a.Workspaces == nil {
			return errors.New("there are no workspaces in it")
		}
		return nil
	}}
}

// Verdicts returns what is known of the servers of a workspace. With an error
// nothing is known: a file that is damaged is no approval.
func (s Store) Verdicts(root string) (func(name, hash string) Verdict, error) {
	nothing := func(string, string) Verdict { return Unknown }
	if s.Dir == "" {
		return nothing, nil
	}
	key, err := state.RealPath(root)
	if err != nil {
		return nothing, fmt.Errorf("approvals of MCP servers: %w", err)
	}
	a, err := s.file().Read()
	if err != nil {
		return nothing, fmt.Errorf("approvals of MCP servers: %w", err)
	}
	known := a.Workspaces[key]
	return func(name, hash string) Verdict {
		switch v, there := known[name]; {
		case !there || v.Hash != hash:
			return Unknown
		case v.Allow:
			return Allowed
		}
		return Refused
	}, nil
}

// Answer remembers the person's word about a server as it is written now.
func (s Store) Answer(root, name, hash string, allow bool) error {
	if s.Dir == "" {
		return errors.New("approvals of MCP servers: there is no state directory; set KNACK_STATE_DIR to one of your own")
	}
	key, err := state.RealPath(root)
	if err != nil {
		return fmt.Errorf("approvals of MCP servers: %w", err)
	}
	err = s.file().Update(func(a *answers) error {
		if a.Workspaces == nil {
			a.Workspaces = map[string]map[string]answer{}
		}
		if a.Workspaces[key] == nil {
			a.Workspaces[key] = map[string]answer{}
		}
		a.Workspaces[key][name] = answer{Hash: hash, Allow: allow}
		return nil
	})
	if err != nil {
		return fmt.Errorf("approvals of MCP servers: %w", err)
	}
	return nil
}
