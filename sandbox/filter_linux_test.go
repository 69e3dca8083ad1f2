package sandbox

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// decide runs a filter as the kernel does.
func decide(t *testing.T, p []unix.SockFilter, arch, nr uint32, args ...uint64) uint32 {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data[0:], nr)
	binary.LittleEndian.PutUint32(data[4:], arch)
	for i, a := range args {
		binary.LittleEndian.PutUint64(data[16+8*i:], a)
	}
	var a uint32
	for pc := 0; pc < len(p); pc++ {
		in := p[pc]
		is := false
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = binary.LittleEndian.Uint32(data[in.K:])
			continue
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			is = a == in.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			is = a >= in.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			is = a&in.K != 0
		default:
			t.Fatalf("instruction %d: unknown code %#x", pc, in.Code)
		}
		if is {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestFilter(t *testing.T) {
	const arch = unix.AUDIT_ARCH_X86_64
	off, on := filter(arch, true, false), filter(arch, true, true)
	for _, tt := range []struct {
		name    string
		arch    uint32
		nr      uint32
		args    []uint64
		off, on uint32
	}{
		{"read", arch, unix.SYS_READ, nil, retAllow, retAllow},
		{"another architecture", unix.AUDIT_ARCH_I386, unix.SYS_READ, nil, retRefuse, retRefuse},
		{"x32", arch, 0x40000000 | unix.SYS_READ, nil, retRefuse, retRefuse},
		{"ptrace", arch, unix.SYS_PTRACE, nil, retRefuse, retRefuse},
		{"fork", arch, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, retAllow, retAllow},
		{"thread", arch, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, retAllow, retAllow},
		{"namespace", arch, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, retRefuse, retRefuse},
		{"clone3", arch, unix.SYS_CLONE3, nil, retUnknown, retUnknown},
		{"tcp", arch, unix.SYS_SOCKET, []uint64{unix.AF_INET}, retRefuse, retAllow},
		{"tcp6", arch, unix.SYS_SOCKET, []uint64{unix.AF_INET6}, retRefuse, retAllow},
		{"tcp with rubbish above", arch, unix.SYS_SOCKET, []uint64{1<<32 | unix.AF_INET}, retRefuse, retAllow},
		{"netlink", arch, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK}, retRefuse, retAllow},
		{"unix", arch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, retRefuse, retRefuse},
		{"packet", arch, unix.SYS_SOCKET, []uint64{unix.AF_PACKET}, retRefuse, retRefuse},
		{"vsock", arch, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK}, retRefuse, retRefuse},
		{"pair", arch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX}, retAllow, retAllow},
		{"typing for the person", arch, unix.SYS_IOCTL, []uint64{1, unix.TIOCSTI}, retRefuse, retRefuse},
		{"window size", arch, unix.SYS_IOCTL, []uint64{1, unix.TIOCGWINSZ}, retAllow, retAllow},
		{"io_uring", arch, unix.SYS_IO_URING_SETUP, nil, retRefuse, retRefuse},
	} {
		if got := decide(t, off, tt.arch, tt.nr, tt.args...); got != tt.off {
			t.Errorf("%s, network off: %#x, want %#x", tt.name, got, tt.off)
		}
		if got := decide(t, on, tt.arch, tt.nr, tt.args...); got != tt.on {
			t.Errorf("%s, network on: %#x, want %#x", tt.name, got, tt.on)
		}
	}
}

// Older kernels are asked for nothing that they do not know.
func TestHandledRights(t *testing.T) {
	one := handled(1, false)
	if one.Handled_access_fs != changeFiles || one.Handled_access_net != 0 || one.Scoped != 0 {
		t.Errorf("version 1: %+v", one)
	}
	for version := 2; version < 12; version++ {
		before, now := handled(version-1, false), handled(version, false)
		if before.Handled_access_fs&^now.Handled_access_fs != 0 || before.Scoped&^now.Scoped != 0 {
			t.Errorf("version %d handles less than the one before", version)
		}
		if now.Handled_access_fs&(unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_READ_DIR|unix.LANDLOCK_ACCESS_FS_EXECUTE) != 0 {
			t.Errorf("version %d limits reading", version)
		}
		if handled(version, true).Handled_access_net != 0 {
			t.Errorf("version %d limits an allowed network", version)
		}
	}
	if handled(4, false).Handled_access_net == 0 || handled(6, false).Scoped == 0 {
		t.Error("versions 4 and 6 brought the network and scopes")
	}
}

func TestBubblewrapArgs(t *testing.T) {
	su := setup{self: "/usr/bin/knack", roots: []string{"/w", "/t"}}
	p := plan{Roots: su.roots, ReadOnly: []string{"/w/.git"}}
	got := strings.Join(bubblewrapArgs(su, p, "/w/sub", false), " ")
	want := "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent --ro-bind / / --dev /dev --proc /proc " +
		"--unshare-net --bind /w /w --bind /t /t --ro-bind /w/.git /w/.git --chdir /w/sub"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	su.network = true
	root := bubblewrapArgs(su, p, "", true)
	if slices.Contains(root, "--unshare-user") || slices.Contains(root, "--unshare-net") || !strings.Contains(strings.Join(root, " "), "--cap-drop ALL") {
		t.Errorf("superuser with network: %q", root)
	}
}
