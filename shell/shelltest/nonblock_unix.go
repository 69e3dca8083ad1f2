//go:build unix

package shelltest

import "syscall"

// nonblock lets the reader of a FIFO open it before there is a writer.
const nonblock = syscall.O_NONBLOCK
