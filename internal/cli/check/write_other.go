//go:build !windows

package check

import (
	"io/fs"

	"github.com/google/renameio/v2"
)

// writeFile replaces a file in one step.
func writeFile(path string, data []byte, perm fs.FileMode) error {
	return renameio.WriteFile(path, data, perm)
}
