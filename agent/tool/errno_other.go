//go:build !unix

package tool

// isNotDir: elsewhere such a path simply does not exist.
func isNotDir(error) bool { return false }
