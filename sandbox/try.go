package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A trial is what the probe asks a sandboxed helper to attempt.
type trial struct {
	Inside, Outside, Temp string
	Parent                int    // process that must be out of reach
	TCP, UDP              string // addresses of listeners
	Unix, Abstract        string // names of listeners; empty where there is none
	Alive, Stop           string // pipes of what tries to outlive its parent
	Child                 bool   // the process is a child of the helper
}

// try runs a trial and prints what came of each promise: "" when it held, else
// what was possible.
func try(args []string) int {
	var t trial
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return failed
	}
	if t.Child {
		return t.child()
	}
	got := map[Promise]string{
		Working: t.working(), Writes: t.writes(), Links: t.links(), Attributes: t.attributes(), Protected: t.protected(),
		Network: t.network(), Sockets: t.sockets(), Processes: t.processes(), Privileges: t.privileges(), Children: t.children(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		return failed
	}
	return 0
}

// An attempt must fail.
type attempt struct {
	what string
	do   func() error
}

// succeeded names the first attempt that did not fail.
func succeeded(list ...attempt) string {
	for _, a := range list {
		if a.do() == nil {
			return a.what + " worked"
		}
	}
	return ""
}

func write(path string) error { return os.WriteFile(path, []byte("breach\n"), 0o600) }

// change writes to an existing file.
func change(path string, flag int) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("breach\n")
	return err
}

func (t trial) working() string {
	for _, p := range []string{filepath.Join(t.Inside, "new"), filepath.Join(t.Temp, "new"), os.DevNull} {
		if err := write(p); err != nil {
			return err.Error()
		}
	}
	if err := os.Rename(filepath.Join(t.Inside, "new"), filepath.Join(t.Inside, "sub", "new")); err != nil {
		return err.Error()
	}
	return ""
}

func (t trial) file() string { return filepath.Join(t.Outside, "file") }

func (t trial) writes() string {
	return succeeded(
		attempt{"making a file", func() error { return write(filepath.Join(t.Outside, "new")) }},
		attempt{"making a directory", func() error { return os.Mkdir(filepath.Join(t.Outside, "d"), 0o700) }},
		attempt{"writing a file", func() error { return change(t.file(), os.O_WRONLY) }},
		attempt{"appending to a file", func() error { return change(t.file(), os.O_WRONLY|os.O_APPEND) }},
		attempt{"truncating a file", func() error { return os.Truncate(t.file(), 0) }},
		attempt{"renaming a file", func() error { return os.Rename(t.file(), t.file()+"2") }},
		attempt{"moving a file in", func() error { return os.Rename(t.file(), filepath.Join(t.Inside, "moved")) }},
		attempt{"removing a file", func() error { return os.Remove(t.file()) }},
		attempt{"removing the working directory", func() error { return os.Rename(t.Inside, t.Inside+"2") }},
	)
}

func (t trial) links() string {
	link, hard := filepath.Join(t.Inside, "link2"), filepath.Join(t.Inside, "hard")
	return succeeded(
		attempt{"writing through a link", func() error { return write(filepath.Join(t.Inside, "link", "new")) }},
		attempt{"writing through a new link", func() error {
			return errors.Join(os.Symlink(t.file(), link), change(link, os.O_WRONLY))
		}},
		attempt{"writing through a hard link", func() error { return errors.Join(os.Link(t.file(), hard), change(hard, os.O_WRONLY)) }},
		attempt{"opening a file again for writing", func() error {
			f, err := os.Open(t.file())
			if err != nil {
				return err
			}
			defer f.Close()
			return change(fmt.Sprintf("/dev/fd/%d", f.Fd()), os.O_WRONLY)
		}},
	)
}

func (t trial) attributes() string {
	old, err := os.Stat(t.file())
	if err != nil {
		return err.Error()
	}
	return succeeded(
		attempt{"changing a mode", func() error { return os.Chmod(t.file(), 0o666) }},
		attempt{"changing a time", func() error { return os.Chtimes(t.file(), old.ModTime().Add(1e9), old.ModTime().Add(1e9)) }},
		attempt{"changing an owner", func() error { return os.Chown(t.file(), os.Getuid(), os.Getgid()) }},
	)
}

func (t trial) protected() string {
	git := filepath.Join(t.Inside, ".git")
	return succeeded(
		attempt{"writing .git/hooks", func() error { return write(filepath.Join(git, "hooks", "post-checkout")) }},
		attempt{"changing .git/config", func() error { return change(filepath.Join(git, "config"), os.O_WRONLY) }},
		attempt{"renaming .git", func() error { return os.Rename(git, git+"2") }},
	)
}

func (t trial) privileges() string {
	status, err := os.ReadFile("/proc/self/status")
	if errors.Is(err, os.ErrNotExist) { // elsewhere than on Linux: ps belongs to root
		return succeeded(attempt{"starting a program with the rights of its owner", func() error { return exec.Command("/bin/ps").Run() }})
	}
	if err != nil {
		return err.Error()
	}
	if !strings.Contains(string(status), "NoNewPrivs:\t1\n") {
		return "no_new_privs is not set"
	}
	return ""
}

// childSaid tells the parent of a child that it has tried and lives on.
const childSaid = "tried\n"

// child is the process that tries to write and then to outlive its parent, which
// it does until its pipe is closed.
func (t trial) child() int {
	_ = write(filepath.Join(t.Outside, "child")) // the parent looks whether it did
	alive, err := os.OpenFile(t.Alive, os.O_WRONLY, 0)
	if err != nil {
		return failed
	}
	defer alive.Close()
	stop, err := os.Open(t.Stop)
	if err != nil {
		return failed
	}
	fmt.Print(childSaid)
	os.Stdout.Close() // the parent waits for that
	_, _ = io.Copy(io.Discard, stop)
	return 0
}
