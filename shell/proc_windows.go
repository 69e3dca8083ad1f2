package shell

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// detached puts the command into a process group without a console window.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP,
		HideWindow:    true,
	}
}

// killGroup ends the process and all that descend from it. Windows has no
// process groups to signal; taskkill walks the tree.
func killGroup(pid int) error {
	if err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run(); err != nil {
		return os.ErrProcessDone
	}
	return nil
}

func exitStatus(s *os.ProcessState) int { return s.ExitCode() }

// killLeftovers does nothing: the number of an ended process may be another
// process by now, and the tree below it can no longer be found.
func killLeftovers(int) {}

// diedKilled cannot tell; a command that was to be killed counts as killed.
func diedKilled(*os.ProcessState) bool { return true }
