package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// devices are those that a command may write.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}

// A tree is a copy of the mounts below a path, not attached yet.
type tree struct {
	fd   int
	path string
}

// take copies the mounts below a path as they are now.
func take(path string) (tree, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return tree{}, fmt.Errorf("open_tree %s: %w", path, err)
	}
	return tree{fd, path}, nil
}

// put attaches a tree where it was taken.
func (t tree) put() error {
	defer unix.Close(t.fd)
	if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, t.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount %s: %w", t.path, err)
	}
	return nil
}

// view makes everything read-only but what the plan gives, for a process in
// namespaces of its own. What is given is taken first, as writable as it is.
func (p plan) view() error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	var given []tree
	for _, d := range p.Roots {
		t, err := take(d)
		if err != nil {
			return err
		}
		given = append(given, t)
	}
	for _, d := range devices {
		if d == "/dev/ptmx" {
			continue
		}
		if t, err := take(d); err == nil { // a machine need not have all of them
			given = append(given, t)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	sealed := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &sealed); err != nil {
		return fmt.Errorf("read-only mounts: %w", err)
	}
	if err := private(); err != nil {
		return err
	}
	for _, t := range given {
		if err := t.put(); err != nil {
			return err
		}
	}
	// The device that makes terminals has to be the one of the new directory.
	if t, err := take("/dev/pts/ptmx"); err == nil {
		t.path = "/dev/ptmx"
		if err := t.put(); err != nil {
			return err
		}
	}
	if err := p.seal(); err != nil {
		return err
	}
	if err := os.Chdir(cwd); err != nil { // the old one lies below the sealed mounts
		return err
	}
	return nil
}

// private replaces what commands share by memory and terminals of their own.
func private() error {
	for _, m := range []struct{ at, kind, data string }{
		{"/dev/shm", "tmpfs", "mode=1777,size=512m"},
		{"/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=620"},
	} {
		if _, err := os.Stat(m.at); err != nil {
			continue
		}
		if err := unix.Mount(m.kind, m.at, m.kind, unix.MS_NOSUID|unix.MS_NOEXEC, m.data); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	return nil
}

// seal makes protected paths read-only. As mounts of their own they can be
// neither renamed nor removed.
func (p plan) seal() error {
	for _, path := range p.ReadOnly {
		t, err := take(path)
		if err != nil {
			return err
		}
		ro := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(t.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &ro); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
		if err := t.put(); err != nil {
			return err
		}
	}
	return nil
}
