//go:build unix

package sandbox

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// outlived is how long the end of what a command left behind is awaited.
const outlived = 300 * time.Millisecond

// A fixture is a place to break out of, with what lies around it.
type fixture struct {
	trial
	base      string
	before    os.FileInfo
	listeners []io.Closer
	alive     *os.File // read end: its end is the end of what was left behind
	stop      *os.File // its closing ends it
}

const content = "untouched\n"

func newFixture(temp string) (*fixture, error) {
	base, err := os.MkdirTemp(temp, "knack-probe-")
	if err != nil {
		return nil, err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	f := &fixture{base: base}
	f.Inside, f.Outside, f.Temp = filepath.Join(base, "in"), filepath.Join(base, "out"), filepath.Join(base, "tmp")
	f.Parent = os.Getpid()
	f.Alive, f.Stop = filepath.Join(f.Temp, "alive"), filepath.Join(f.Temp, "stop")
	if err := errors.Join(f.files(), f.pipes(), f.listen()); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *fixture) files() error {
	git := filepath.Join(f.Inside, ".git")
	var errs []error
	for _, d := range []string{filepath.Join(f.Inside, "sub"), filepath.Join(git, "hooks"), f.Outside, f.Temp} {
		errs = append(errs, os.MkdirAll(d, 0o700))
	}
	errs = append(errs,
		os.WriteFile(filepath.Join(git, "config"), []byte(content), 0o600),
		os.WriteFile(f.file(), []byte(content), 0o600),
		os.Symlink(f.Outside, filepath.Join(f.Inside, "link")))
	var err error
	f.before, err = os.Stat(f.file())
	return errors.Join(append(errs, err)...)
}

func (f *fixture) pipes() error {
	err := errors.Join(syscall.Mkfifo(f.Alive, 0o600), syscall.Mkfifo(f.Stop, 0o600))
	if err != nil {
		return err
	}
	if f.alive, err = os.OpenFile(f.Alive, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return err
	}
	f.stop, err = os.OpenFile(f.Stop, os.O_RDWR, 0) // as a reader too, it does not wait for one
	return err
}

func (f *fixture) listen() error {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.TCP, f.listeners = tcp.Addr().String(), append(f.listeners, tcp)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.UDP, f.listeners = udp.LocalAddr().String(), append(f.listeners, udp)
	f.Unix = filepath.Join(f.Outside, "s")
	unix, err := net.Listen("unix", f.Unix)
	if err != nil {
		return err
	}
	f.listeners = append(f.listeners, unix)
	if runtime.GOOS != "linux" {
		return nil
	}
	f.Abstract = "@knack-" + rand.Text()
	abstract, err := net.Listen("unix", f.Abstract)
	if err != nil {
		return err
	}
	f.listeners = append(f.listeners, abstract)
	return nil
}

// seen looks from outside at what the trial has done, whatever it says itself.
func (f *fixture) seen() map[Promise]string {
	out := map[Promise]string{}
	if names, err := os.ReadDir(f.Outside); err != nil || len(names) != 2 { // the file and the socket
		out[Writes] = "files outside were made or removed"
	}
	if text, err := os.ReadFile(f.file()); err != nil || string(text) != content {
		out[Writes] = "a file outside was changed"
	}
	if fi, err := os.Stat(f.file()); err == nil && (fi.Mode() != f.before.Mode() || !fi.ModTime().Equal(f.before.ModTime())) {
		if _, ok := out[Writes]; !ok {
			out[Attributes] = "the mode or time of a file outside was changed"
		}
	}
	if names, err := os.ReadDir(filepath.Join(f.Inside, ".git", "hooks")); err != nil || len(names) > 0 {
		out[Protected] = ".git/hooks was changed"
	}
	if err := f.alive.SetReadDeadline(time.Now().Add(outlived)); err != nil {
		out[Leftovers] = err.Error()
	} else if _, err := io.Copy(io.Discard, f.alive); err != nil {
		out[Leftovers] = "a child in a session of its own goes on"
	}
	return out
}

// close ends what the trial left behind and removes its files.
func (f *fixture) close() error {
	for _, c := range f.listeners {
		_ = c.Close()
	}
	for _, p := range []*os.File{f.stop, f.alive} {
		if p != nil {
			_ = p.Close()
		}
	}
	return os.RemoveAll(f.base)
}

// ownSession gives a process a session of its own, as commands have.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
