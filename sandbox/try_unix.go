//go:build unix

package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// patience bounds a connection that nobody answers.
const patience = time.Second

func reach(kind, address string) func() error {
	return func() error {
		c, err := net.DialTimeout(kind, address, patience)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Write([]byte("breach"))
		return err
	}
}

func (t trial) network() string {
	return succeeded(attempt{"a TCP connection", reach("tcp", t.TCP)}, attempt{"a UDP packet", reach("udp", t.UDP)})
}

func (t trial) sockets() string {
	list := []attempt{{"connecting to a socket in the file system", reach("unix", t.Unix)}}
	if t.Abstract != "" {
		list = append(list, attempt{"connecting to an abstract socket", reach("unix", t.Abstract)})
	}
	return succeeded(list...)
}

func (t trial) processes() string {
	proc := fmt.Sprintf("/proc/%d", t.Parent)
	return succeeded(
		attempt{"signalling a process", func() error { return syscall.Kill(t.Parent, 0) }},
		attempt{"opening the memory of a process", func() error { return change(proc+"/mem", os.O_RDWR) }},
		attempt{"reading the environment of a process", func() error {
			text, err := os.ReadFile(proc + "/environ")
			if err == nil && len(text) == 0 {
				return os.ErrNotExist
			}
			return err
		}},
		attempt{"reading the memory of the sandbox", func() error {
			if os.Getpid() == 1 || os.Getppid() != 1 {
				return os.ErrNotExist // there is no process of the sandbox here
			}
			return change("/proc/1/mem", os.O_RDWR)
		}},
	)
}

// children starts a child in a session of its own and leaves it behind.
func (t trial) children() string {
	t.Child = true
	text, err := json.Marshal(t)
	if err != nil {
		return err.Error()
	}
	self, err := os.Executable()
	if err != nil {
		return err.Error()
	}
	cmd := exec.Command(self, argTry, string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err.Error()
	}
	if text, err := io.ReadAll(said); err != nil || string(text) != childSaid {
		return "a child could not try"
	}
	if _, err := os.Stat(t.Outside + "/child"); err == nil {
		return "a child wrote a file"
	}
	return ""
}
