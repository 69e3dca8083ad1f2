package sandbox

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// A mechanism is one way to put a sandbox in front of a process.
type mechanism struct {
	name string
	// absent says why the machine does not have it, or ""; nil is always there.
	absent func() string
	// wrap changes cmd, which is about to start in su.
	wrap func(cmd *exec.Cmd, su setup) error
}

// plan returns what a helper does for su.
func (su setup) plan() plan {
	p := plan{Roots: su.roots, Network: su.network}
	for _, path := range su.protected {
		if fi, err := os.Lstat(path); err == nil && fi.Mode()&fs.ModeSymlink == 0 {
			p.ReadOnly = append(p.ReadOnly, path)
		}
	}
	return p
}

// prepend makes cmd start the helper, which then starts what cmd was.
func (su setup) prepend(cmd *exec.Cmd, p plan) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	cmd.Args = append([]string{filepath.Base(su.self), argRun, string(text), cmd.Path}, cmd.Args...)
	cmd.Path = su.self
	cmd.Env = append(cmd.Env, guardVar+"=1")
	return nil
}
