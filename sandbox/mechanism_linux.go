package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// mechanisms lists what Linux has, in the order in which it is tried. Namespaces
// come first because they hold everything and need nothing that may not be
// installed; bubblewrap is for machines where only it may make namespaces.
func mechanisms() []mechanism {
	return []mechanism{
		{name: "namespaces, landlock, seccomp", wrap: namespaces},
		{name: "bubblewrap, landlock, seccomp", absent: noBubblewrap, wrap: bubblewrap},
		{name: "landlock, seccomp", absent: noLandlock, wrap: landlockAlone},
	}
}

func noLandlock() string {
	if landlockVersion() == 0 {
		return "the kernel has no Landlock: it takes Linux 5.13 with landlock among the security modules (6.2 for truncation)"
	}
	return ""
}

func noBubblewrap() string {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return "bwrap was not found on PATH: install bubblewrap"
	}
	return ""
}

// landlockAlone needs no namespace. Modes, times and protected paths are not
// held, and what escapes its process group outlives the command.
func landlockAlone(cmd *exec.Cmd, su setup) error { return su.prepend(cmd, su.plan()) }

// namespaces starts the helper as the superuser of namespaces of its own. It
// sets up its view of the files and gives the privileges back.
func namespaces(cmd *exec.Cmd, su setup) error {
	p := su.plan()
	p.Mounts, p.Init = true, true
	attr := cmd.SysProcAttr
	attr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if !su.network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	attr.UidMappings, attr.GidMappings = one(os.Getuid()), one(os.Getgid())
	if os.Geteuid() == 0 && mayMapAll() {
		// Otherwise the superuser could not write what belongs to others.
		attr.UidMappings, attr.GidMappings = all("/proc/self/uid_map"), all("/proc/self/gid_map")
	}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	return su.prepend(cmd, p)
}

func one(id int) []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
}

// all maps every id to itself that exists here.
func all(file string) []syscall.SysProcIDMap {
	f, err := os.Open(file)
	if err != nil {
		return one(0)
	}
	defer f.Close()
	var out []syscall.SysProcIDMap
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var inside, outside, size int
		if n, _ := fmt.Sscan(lines.Text(), &inside, &outside, &size); n == 3 {
			out = append(out, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	if len(out) == 0 {
		return one(0)
	}
	return out
}

// mayMapAll reports whether the process has the capabilities for it.
func mayMapAll() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	const both = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	return unix.Capget(&header, &have[0]) == nil && have[0].Effective&both == both
}

// bubblewrap has bwrap make the namespaces and start the helper in them.
func bubblewrap(cmd *exec.Cmd, su setup) error {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	p := su.plan()
	p.Init = true
	// In the sandbox /proc/self/exe is bwrap: it needs the name of the file, and
	// that file must still be this program.
	if su.self == ownImage {
		if su.self, err = sameImage(); err != nil {
			return err
		}
	}
	args := bubblewrapArgs(su, p, cmd.Dir, os.Geteuid() == 0)
	if err := su.prepend(cmd, p); err != nil {
		return err
	}
	cmd.Args = append(append([]string{"bwrap"}, args...), append([]string{"--", su.self}, cmd.Args[1:]...)...)
	cmd.Path = bwrap
	return nil
}

// bubblewrapArgs are the options of bwrap.
func bubblewrapArgs(su setup, p plan, dir string, root bool) []string {
	args := strings.Fields("--unshare-user --unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent " +
		"--ro-bind / / --dev /dev --proc /proc")
	if root { // in a namespace of one user it could not write what belongs to others
		args = append(args[1:], strings.Fields("--cap-drop ALL --cap-add CAP_CHOWN --cap-add CAP_DAC_OVERRIDE "+
			"--cap-add CAP_FOWNER --cap-add CAP_FSETID --cap-add CAP_SETPCAP")...)
	}
	if !su.network {
		args = append(args, "--unshare-net")
	}
	for _, d := range p.Roots {
		args = append(args, "--bind", d, d)
	}
	for _, d := range p.ReadOnly {
		args = append(args, "--ro-bind", d, d)
	}
	if dir != "" {
		args = append(args, "--chdir", dir)
	}
	return args
}
