//go:build !unix && !windows

package shell

import (
	"os"
	"syscall"
)

func detached() *syscall.SysProcAttr { return nil }

// killGroup ends the process alone: this system has no process groups.
func killGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return os.ErrProcessDone
	}
	return p.Kill()
}

func exitStatus(s *os.ProcessState) int { return s.ExitCode() }

// killLeftovers does nothing: children cannot be found here.
func killLeftovers(int) {}

// diedKilled cannot tell; a command that was to be killed counts as killed.
func diedKilled(*os.ProcessState) bool { return true }
