package shell

import (
	"fmt"
	"os/exec"
)

// A MissingError reports that an interpreter is not installed (spec P-13).
type MissingError struct{ Shell string }

// Error names the program that was looked for and what to install.
func (e *MissingError) Error() string {
	i, ok := interpreters[e.Shell]
	if !ok {
		return fmt.Sprintf("unknown shell %q: use bash or powershell", e.Shell)
	}
	return fmt.Sprintf("%s was not found on PATH: install %s", i.program, i.install)
}

// An interpreter is a program that runs command lines.
type interpreter struct {
	program string
	install string // what a person has to install
	argv    func(c Command) (args, env []string)
}

// interpreters lists what [Command.Shell] may name.
var interpreters = map[string]interpreter{
	"":           {"bash", "bash (on Windows: Git for Windows)", bashArgs},
	"bash":       {"bash", "bash (on Windows: Git for Windows)", bashArgs},
	"powershell": {"pwsh", "PowerShell 7", powershellArgs},
	"pwsh":       {"pwsh", "PowerShell 7", powershellArgs},
}

// find returns the interpreter called shell and the path of its program. A
// program that only the working directory offers does not count as installed:
// it came with the repository.
func find(shell string) (interpreter, string, error) {
	i, ok := interpreters[shell]
	if !ok {
		return i, "", &MissingError{Shell: shell}
	}
	path, err := exec.LookPath(i.program)
	if err != nil {
		return i, "", &MissingError{Shell: shell}
	}
	return i, path, nil
}

// Available returns a [*MissingError] when the interpreter is not installed.
func (Exec) Available(shell string) error {
	_, _, err := find(shell)
	return err
}
