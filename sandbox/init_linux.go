package sandbox

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// grace is how long output of children is awaited when the command has
	// ended, as [shell.Exec] does; then they end with this process.
	grace = time.Second
	// glance is how often is looked whether there is still somebody to await.
	glance = 5 * time.Millisecond
)

// reap starts argv and stays as the first process of the namespace until it has
// ended. All that is left in the namespace ends with this process.
func reap(argv []string) (int, error) {
	// Its other threads are not bound: nobody may write into this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, err
	}
	signal.Notify(make(chan os.Signal, 1)) // what a command sends here is not obeyed
	pid, err := syscall.ForkExec(argv[0], argv[1:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, &os.PathError{Op: "start", Path: argv[0], Err: err}
	}
	outputs := letGo()
	code := await(pid)
	for end := time.Now().Add(grace); left() && held(outputs) && time.Now().Before(end); {
		time.Sleep(glance)
	}
	return code, nil
}

// letGo closes the streams, which belong to the command, and returns the names
// of the pipes that its output goes to.
func letGo() map[string]bool {
	out := map[string]bool{}
	for _, fd := range []string{"1", "2"} {
		if name, err := os.Readlink("/proc/self/fd/" + fd); err == nil {
			out[name] = true
		}
	}
	if null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		for fd := range 3 {
			_ = unix.Dup3(null, fd, 0) // it stays open: the output then ends later
		}
	}
	return out
}

// await reaps children until pid has ended and returns its exit status as
// shells count it.
func await(pid int) int {
	for {
		var status syscall.WaitStatus
		who, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR || who != pid && err == nil:
		case err != nil:
			return failed
		case status.Signaled():
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// left reaps what has ended and reports whether children remain.
func left() bool {
	for {
		who, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR || who > 0 {
			continue
		}
		return err == nil
	}
}

// held reports whether a process has one of the pipes open. One that cannot be
// looked into counts as having it.
func held(pipes map[string]bool) bool {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return true
	}
	for _, dir := range dirs {
		if dir == "/proc/1" {
			continue
		}
		fds, err := os.ReadDir(dir + "/fd")
		if err != nil && !os.IsNotExist(err) && !strings.Contains(err.Error(), syscall.ESRCH.Error()) {
			return true
		}
		for _, fd := range fds {
			if name, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil && pipes[name] {
				return true
			}
		}
	}
	return false
}
