//go:build !unix

package state_test

// special are files that only some systems have.
var special = map[string]func(path string) error{}
