package watch

import "syscall"

const mountedLocally = 0x1000 // MNT_LOCAL

// isRemote reports whether path lies on a network file system.
func isRemote(path string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(path, &st) == nil && st.Flags&mountedLocally == 0
}
