//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package ask

import "os"

func flush(*os.File) {}
