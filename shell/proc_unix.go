//go:build unix

package shell

import (
	"os"
	"syscall"
)

// detached makes the command the leader of a session, hence of a process
// group, without a terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// killGroup kills the process group that pid leads, or led.
func killGroup(pid int) error {
	err := syscall.Kill(-pid, syscall.SIGKILL)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// killLeftovers kills what an ended command left running in its group. That
// there is nothing left is the usual case and not an error.
func killLeftovers(pid int) { _ = killGroup(pid) }

// diedKilled reports whether the command was ended by a signal, and not by
// itself just before the signal came.
func diedKilled(s *os.ProcessState) bool { return !s.Exited() }

// exitStatus follows the convention of shells: 128+n for signal n.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
