package sandbox

import (
	"fmt"
	"os"
)

// ownImage is the program that runs, whatever its file has become. A command may
// be able to replace the file: it can lie in the working directory.
const ownImage = "/proc/self/exe"

// itself returns how self is started again.
func itself(self string) string {
	if own, err := os.Executable(); err == nil && own == self {
		return ownImage
	}
	return self
}

// sameImage returns the file of the program, if it is still the same.
func sameImage() (string, error) {
	file, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	running, err := os.Stat(ownImage)
	if err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	if now, err := os.Stat(file); err != nil || !os.SameFile(running, now) {
		return "", fmt.Errorf("sandbox: %s is no longer the program that runs: start it again", file)
	}
	return file, nil
}
