//go:build !windows

package state

import "github.com/google/renameio/v2"

// replace writes a file so that readers see the old text or the new one, also
// after a crash (spec M-5).
func replace(path string, text []byte) error {
	return renameio.WriteFile(path, text, 0o600)
}
