package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are system calls that no command needs and that lead out: into
// other processes, into other namespaces, around the checks of files.
var refusedCalls = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // opens sockets past this filter
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_QUOTACTL,
}

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Offsets in the data that a filter sees. Arguments are 64 bits wide; the low
// half comes first on the architectures below.
const (
	offCall = 0
	offArch = 4
	offArg0 = 16
	offArg1 = 24
)

// architectures are those whose calls the filter knows.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

const (
	retAllow  = unix.SECCOMP_RET_ALLOW
	retRefuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// retUnknown makes the C library fall back on clone, whose flags can be seen.
	retUnknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

func load(off uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
}

func ret(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }

// jump skips yes instructions when the test holds, and no when it does not.
func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | test, K: k, Jt: yes, Jf: no}
}

// filter is the program that decides about system calls. Sockets are refused by
// family and not by address: a filter does not see addresses. Socket pairs,
// which lead nowhere, stay.
func filter(arch uint32, x32, network bool) []unix.SockFilter {
	p := []unix.SockFilter{load(offArch), jump(unix.BPF_JEQ, arch, 1, 0), ret(retRefuse), load(offCall)}
	if x32 { // a second table of calls under the same architecture
		p = append(p, jump(unix.BPF_JGE, 0x40000000, 0, 1), ret(retRefuse))
	}
	for _, nr := range refusedCalls {
		p = append(p, jump(unix.BPF_JEQ, nr, 0, 1), ret(retRefuse))
	}
	p = append(p, jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), ret(retUnknown),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4),
		load(offArg0), jump(unix.BPF_JSET, newNamespaces, 0, 1), ret(retRefuse), ret(retAllow),
		jump(unix.BPF_JEQ, unix.SYS_IOCTL, 0, 4),
		load(offArg1), jump(unix.BPF_JEQ, unix.TIOCSTI, 0, 1), ret(retRefuse), ret(retAllow))
	var families []uint32
	if network {
		families = []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	}
	p = append(p, jump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, uint8(2+2*len(families))), load(offArg0))
	for _, f := range families {
		p = append(p, jump(unix.BPF_JEQ, f, 0, 1), ret(retAllow))
	}
	return append(p, ret(retRefuse), ret(retAllow))
}

// seccomp binds the calling thread and what it starts; it needs no_new_privs.
// Without a filter for the architecture it does nothing, as [landlock].
func seccomp(network bool) error {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil
	}
	p := filter(arch, runtime.GOARCH == "amd64", network)
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 && errno != unix.ENOSYS {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
