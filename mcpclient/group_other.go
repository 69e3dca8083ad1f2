//go:build !unix

package mcpclient

import (
	"os/exec"
	"strconv"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill ends the process and those that descend from it.
func kill(cmd *exec.Cmd) {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() != nil {
		_ = cmd.Process.Kill()
	}
}
