//go:build unix

package scan

import "syscall"

// noFollow keeps a file that became a link since it was listed from being
// followed, and a pipe from being waited for.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
