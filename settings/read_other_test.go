//go:build !unix

package settings_test

// special are files that only some systems have.
var special = map[string]func(path string) error{}
