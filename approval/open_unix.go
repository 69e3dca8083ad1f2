//go:build unix

package approval

import "syscall"

// nonBlocking keeps opening a file from waiting when it is a pipe by now.
const nonBlocking = syscall.O_NONBLOCK
