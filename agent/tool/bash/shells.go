// Package bash holds the tools that run shell commands: Bash, and BashOutput and
// KillShell for what it leaves running (spec A-3). Whether a command may run is
// decided by the rules before; how it runs is the business of a [shell.Runner].
//
// Every command starts in the working directory of the session, and a "cd" ends
// with it. A directory that followed the model around would change what
// relative names in permission rules mean, and commands that run side by side
// would move it under each other; the result of a command that ends in a "cd"
// says so instead.
package bash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
)

// maxRunning is how many commands run in the background at once; maxKept is how
// many are remembered, with those that have ended.
const (
	maxRunning = 20
	maxKept    = 200
)

// Options say where and how commands run.
type Options struct {
	Base   tool.Base
	Runner shell.Runner
	// Env returns the complete environment of a command that begins; nil, also as
	// its answer, means the process's own.
	Env func() []string
	// Spill is the directory for output that is too long to keep in memory;
	// empty drops it.
	Spill string
}

// Shells are the background commands of one session. They are safe for
// concurrent use. [Shells.Close] must be called at its end.
type Shells struct {
	o Options // fixed at creation

	mu     sync.Mutex // guards what follows
	jobs   []*job     // in the order in which they were started
	last   int
	closed bool
	wg     sync.WaitGroup
}

// NewShells returns the shells of a new session.
func NewShells(o Options) *Shells { return &Shells{o: o} }

// Tools returns Bash, BashOutput and KillShell.
func (s *Shells) Tools() []agent.Tool { return []agent.Tool{&Bash{s}, &BashOutput{s}, &KillShell{s}} }

// A job is one command in the background.
type job struct {
	id    string
	agent session.AgentID
	line  string
	stop  context.CancelFunc
	log   log
	done  chan struct{} // closed when it has ended; what follows is set before
	how   string        // how it ended
}

// ended reports whether the command has ended.
func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// state says what the command is doing.
func (j *job) state() string {
	if j.ended() {
		return j.how
	}
	return "running"
}

// start runs a command in the background. It outlives the call and its turn.
func (s *Shells) start(ctx context.Context, a session.AgentID, c shell.Command) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the session is ending: nothing is started any more")
	}
	running := slices.DeleteFunc(slices.Clone(s.jobs), (*job).ended)
	if len(running) >= maxRunning {
		return nil, fmt.Errorf("%d commands run in the background already: end one with KillShell", len(running))
	}
	if len(s.jobs) >= maxKept {
		s.jobs = slices.Delete(s.jobs, 0, max(slices.IndexFunc(s.jobs, (*job).ended), 0)+1)
	}
	s.last++
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	j := &job{id: fmt.Sprintf("bash_%d", s.last), agent: a, line: c.Line, stop: stop, done: make(chan struct{})}
	c.Follow = &j.log
	s.jobs = append(s.jobs, j)
	s.wg.Go(func() {
		defer stop()
		out, err := s.o.Runner.Run(run, c)
		j.log.end(out.Stderr) // of a runner that does not merge
		j.how = ending(out, err)
		close(j.done)
	})
	return j, nil
}

// ending says how a background command ended.
func ending(out shell.Output, err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "killed"
	case err != nil:
		return "could not run: " + err.Error()
	case out.TimedOut:
		return "killed after its timeout"
	}
	return fmt.Sprintf("ended with exit code %d", out.Exit)
}

// find returns a job of an agent. Agents do not see each other's.
func (s *Shells) find(a session.AgentID, id string) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var known []string
	for _, j := range s.jobs {
		if j.agent != a {
			continue
		}
		if j.id == id {
			return j, nil
		}
		known = append(known, j.id)
	}
	if known == nil {
		return nil, fmt.Errorf("there is no background command %q: none was started", id)
	}
	return nil, fmt.Errorf("there is no background command %q: there are %s", id, strings.Join(known, ", "))
}

// EndAgent kills what an agent left running and forgets it (spec I-10).
func (s *Shells) EndAgent(a session.AgentID) {
	s.mu.Lock()
	var gone []*job
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		if j.agent == a {
			gone = append(gone, j)
		}
		return j.agent == a
	})
	s.mu.Unlock()
	for _, j := range gone {
		j.stop()
		<-j.done
	}
}

// Close kills everything that still runs and waits until it is gone. Nothing
// starts afterwards. It may be called more than once.
func (s *Shells) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, j := range s.jobs {
		j.stop()
	}
	s.mu.Unlock()
	s.wg.Wait()
	return nil
}
