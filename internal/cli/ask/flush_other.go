//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package ask

import "os"

func flush(*os.File) {}

func hide(*os.File) (restore func(), ok bool) { return nil, false }
