//go:build unix

package tool

import (
	"errors"
	"syscall"
)

// isNotDir reports that a path goes on below something that is no directory.
// The tool itself says so better, with the path.
func isNotDir(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
