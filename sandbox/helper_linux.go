package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// keptCapabilities stay with the superuser, who would otherwise not be able to
// write files of others in the working directory. In namespaces of their own
// they reach no further than it.
const keptCapabilities = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID

// run ties the hands of the process and becomes argv, or waits for it. Limits of
// Linux belong to threads, and what is started inherits those of the thread
// that starts it: everything happens on one.
func (p plan) run(argv []string) (int, error) {
	runtime.LockOSThread()
	if p.Mounts {
		if err := p.view(); err != nil {
			return 0, err
		}
	}
	if err := dropCapabilities(); err != nil {
		return 0, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("no_new_privs: %w", err)
	}
	writable, terminals := p.Roots, devices
	if p.Init { // memory and terminals are those of the namespace
		if _, err := os.Stat("/dev/shm"); err == nil {
			writable = append([]string{"/dev/shm"}, writable...)
		}
		terminals = append([]string{"/dev/pts"}, terminals...)
	}
	if err := landlock(writable, terminals, p.Network); err != nil {
		return 0, err
	}
	if err := seccomp(p.Network); err != nil {
		return 0, err
	}
	if p.Init {
		return reap(argv)
	}
	return 0, fmt.Errorf("%s: %w", argv[0], syscall.Exec(argv[0], argv[1:], os.Environ()))
}

// dropCapabilities leaves none but those that the superuser keeps.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	keep := uint32(keptCapabilities)
	if os.Getuid() != 0 {
		keep = 0
	}
	// The bounding set is what a superuser gets back by starting a program. It
	// can be changed only with the capability to; without, there is nothing more
	// to get, for no_new_privs is set.
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if c >= 32 || keep&(1<<c) == 0 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		}
	}
	left := [2]unix.CapUserData{{Effective: have[0].Effective & keep, Permitted: have[0].Permitted & keep}}
	if err := unix.Capset(&header, &left[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}
