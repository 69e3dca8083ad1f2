//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package transcript

import "os"

// tryLock does nothing where the system has no lock that ends with its process:
// there, sessions are not kept from each other.
func tryLock(*os.File) (ok bool, err error) { return true, nil }

// removable reports that a lock file may be removed while it is locked.
const removable = true
