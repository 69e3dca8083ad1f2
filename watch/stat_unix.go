//go:build unix

package watch

import (
	"io/fs"
	"syscall"
)

func idOf(info fs.FileInfo) id {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return id{uint64(st.Dev), uint64(st.Ino)}
	}
	return id{}
}
