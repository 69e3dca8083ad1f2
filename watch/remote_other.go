//go:build !linux && !darwin

package watch

import "strings"

// isRemote reports whether path lies on a network file system, as far as its
// text tells.
func isRemote(path string) bool { return strings.HasPrefix(path, `\\`) }
