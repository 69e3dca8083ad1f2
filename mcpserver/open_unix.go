//go:build unix

package mcpserver

import "syscall"

// nonBlocking keeps opening a file from waiting when it is a pipe.
const nonBlocking = syscall.O_NONBLOCK
