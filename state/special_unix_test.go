//go:build unix

package state_test

import "syscall"

// special are files that only some systems have.
var special = map[string]func(path string) error{
	"pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
}
