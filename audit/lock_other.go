//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package audit

import "os"

// openFlags are none where the system cannot refuse links; open looks for them.
const openFlags = 0

// tryLock says that there is no lock that ends with its process.
func tryLock(*os.File) (unlock func(), held, busy bool) { return func() {}, false, false }

// readFlags are none where there are no pipes in place of files.
const readFlags = 0
