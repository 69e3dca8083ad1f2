package mcpclient

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/knack-skills/knack/mcpconfig"
)

// A startError is a server that cannot be started, today or in a second.
type startError struct{ err error }

func (e *startError) Error() string { return "it cannot be started: " + e.err.Error() }

// Unwrap returns what the system says.
func (e *startError) Unwrap() error { return e.err }

// A process is a server that was started. It is the stream of its messages:
// what else it prints goes to what it has said.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	line *lines
	said *ring

	heard  chan struct{} // closed at the end of what it says beside its messages
	once   sync.Once
	exited chan struct{} // closed when it is gone
	status error         // how it ended; read after exited
}

// start runs the command of an entry, in a process group of its own.
func start(c mcpconfig.Server, o Options) (*process, error) {
	if c.Data != "" {
		if err := os.MkdirAll(c.Data, 0o700); err != nil {
			return nil, &startError{err}
		}
	}
	cmd := exec.Command(c.Command, c.Args...)
	cmd.Dir = o.Dir
	if c.Dir != "" {
		cmd.Dir = c.Dir
	}
	cmd.Env = append(cmd.Env, o.Env...)
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	// A path is relative to where the server runs; a name is looked up as usual.
	if strings.ContainsRune(c.Command, filepath.Separator) && !filepath.IsAbs(c.Command) {
		cmd.Path, cmd.Err = filepath.Join(cmd.Dir, c.Command), nil
	}
	ownGroup(cmd)
	p := &process{cmd: cmd, said: &ring{}, heard: make(chan struct{}), exited: make(chan struct{})}
	in, out, err := pipes(cmd)
	if err != nil {
		return nil, err
	}
	// A file of its own, and no goroutine that waits for grandchildren.
	errOut, errIn, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	cmd.Stderr = errIn
	p.in, p.out = in, out
	p.line = newLines(out, p.said)
	if err := cmd.Start(); err != nil {
		for _, c := range []io.Closer{in, out, errIn, errOut} {
			_ = c.Close() // nobody has them
		}
		return nil, &startError{err}
	}
	_ = errIn.Close() // the process has its own
	go func() {
		_, _ = io.Copy(p.said, errOut) // ends with the group
		_ = errOut.Close()
		close(p.heard)
	}()
	go func() {
		p.status = waitProcess(cmd)
		close(p.exited)
	}()
	return p, nil
}

func pipes(cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser, err error) {
	if in, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, out, nil
}

// waitProcess waits for the process alone: what it has printed may still be read.
func waitProcess(cmd *exec.Cmd) error {
	st, err := cmd.Process.Wait()
	if err != nil {
		return err
	}
	if !st.Success() {
		return errors.New(st.String())
	}
	return nil
}

// Read returns messages, one a line.
func (p *process) Read(b []byte) (int, error) { return p.line.Read(b) }

// Write sends a message.
func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the process. It does not wait.
func (p *process) Close() error {
	go p.end()
	return nil
}

const (
	leaveGrace = 300 * time.Millisecond // after the end of its input
	termGrace  = 300 * time.Millisecond // after it was told to end
)

// end ends the process and all that it has started, and returns when it is gone.
func (p *process) end() { p.endWithin(leaveGrace) }

// abort is end for a server that has never answered: it has nothing to finish,
// and nobody waits for it to notice that its input has ended.
func (p *process) abort() { p.endWithin(0) }

func (p *process) endWithin(leave time.Duration) {
	p.once.Do(func() {
		_ = p.in.Close() // a server ends with its input
		if !p.gone(leave) {
			terminate(p.cmd)
			p.gone(termGrace)
		}
		kill(p.cmd) // and what it has left running
		_ = p.out.Close()
	})
	<-p.exited
}

func (p *process) gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// explain adds how the process ended and what it said last.
func (p *process) explain(err error) error {
	timer := time.NewTimer(leaveGrace) // something that has left the group may hold it open
	defer timer.Stop()
	select {
	case <-p.heard:
	case <-timer.C:
	}
	if p.status != nil {
		err = fmt.Errorf("%w (%v)", err, p.status)
	}
	if said := p.said.tail(); said != "" {
		err = fmt.Errorf("%w; it has said: %s", err, said)
	}
	return err
}
