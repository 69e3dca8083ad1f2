package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killSession kills the processes of the session that pid leads, or led. It
// finds those that job control ("set -m") has put into groups of their own.
func killSession(pid int) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return
	}
	for _, dir := range dirs {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it has ended meanwhile
		}
		// "pid (name) state ppid group session …"; the name may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 4 || string(fields[3]) != strconv.Itoa(pid) {
			continue
		}
		if member, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			_ = syscall.Kill(member, syscall.SIGKILL) // it may have ended meanwhile
		}
	}
}
