package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights to change files, by the version of Landlock that knows them. Reading
// and executing are never handled: they stay as they are.
const (
	changeFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	// changeDevice is what a command may do to a device like /dev/null.
	changeDevice = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// makeNodes are rights that no directory gives: a node is a way to a device.
	makeNodes = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// handled is what a kernel with the given version of Landlock can refuse.
func handled(version int, network bool) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: changeFiles}
	for _, more := range []struct {
		since      int
		fs         uint64
		net, scope uint64
	}{
		{since: 2, fs: unix.LANDLOCK_ACCESS_FS_REFER},
		{since: 3, fs: unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{since: 4, net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{since: 5, fs: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{since: 6, scope: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
		{since: 9, fs: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
	} {
		if version >= more.since {
			a.Handled_access_fs |= more.fs
			a.Scoped |= more.scope
			if !network {
				a.Handled_access_net |= more.net
			}
		}
	}
	return a
}

// landlockVersion returns 0 where there is none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlock binds the calling thread and what it starts. Without Landlock in the
// kernel it does nothing: the probe tells whether something else holds.
func landlock(dirs, devices []string, network bool) error {
	version := landlockVersion()
	if version == 0 {
		return nil
	}
	attr := handled(version, network)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, d := range dirs {
		if err := allow(int(fd), d, attr.Handled_access_fs&^makeNodes); err != nil {
			return err
		}
	}
	for _, d := range devices {
		if err := allow(int(fd), d, attr.Handled_access_fs&changeDevice); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// allow gives rights below a path.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %s: %w", path, errno)
	}
	return nil
}
