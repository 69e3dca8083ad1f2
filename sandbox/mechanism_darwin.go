package sandbox

import (
	"os"
	"os/exec"
)

const sandboxExec = "/usr/bin/sandbox-exec"

func mechanisms() []mechanism {
	return []mechanism{{name: "sandbox-exec", absent: noSandboxExec, wrap: seatbelt}}
}

func noSandboxExec() string {
	if _, err := os.Stat(sandboxExec); err != nil {
		return sandboxExec + " is missing"
	}
	return ""
}

// seatbelt has sandbox-exec become the interpreter under a profile.
func seatbelt(cmd *exec.Cmd, su setup) error {
	cmd.Args = append([]string{"sandbox-exec", "-p", profile(su), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = sandboxExec
	return nil
}
