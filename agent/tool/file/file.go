// Package file holds the tools that read and change single files: Read, Write,
// Edit and MultiEdit (spec A-3). They touch regular files only and never wait
// for a pipe or a device.
//
// A file can only be changed by an agent that has seen what it says now: [Seen]
// remembers that, and is the only state here. Everything is safe for concurrent
// use.
package file

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
)

// Seen remembers which files each agent of a session has read, and what they
// said. Agents do not share it: what one has read, another has not.
type Seen struct {
	// write is held while a file is compared and replaced, so that of two
	// agents that change it the second notices the first.
	write sync.Mutex

	mu    sync.Mutex // guards what follows
	files map[session.AgentID]map[string]stamp
}

// A stamp is the content of a file at one time.
type stamp [sha256.Size]byte

func stampOf(content []byte) stamp { return sha256.Sum256(content) }

// NewSeen returns the memory of a new session: nothing was read yet.
func NewSeen() *Seen { return &Seen{files: map[session.AgentID]map[string]stamp{}} }

// EndAgent forgets what an agent has read (spec I-10).
func (s *Seen) EndAgent(a session.AgentID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, a)
}

// note remembers that an agent knows a file, by its real path.
func (s *Seen) note(a session.AgentID, path string, st stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[a] == nil {
		s.files[a] = map[string]stamp{}
	}
	s.files[a][path] = st
}

// of returns what an agent knows of a file.
func (s *Seen) of(a session.AgentID, path string) (stamp, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.files[a][path]
	return st, ok
}

// Tools returns Read, Write, Edit and MultiEdit with one memory.
func Tools(base tool.Base, seen *Seen) []agent.Tool {
	return []agent.Tool{NewRead(base, seen), NewWrite(base, seen), NewEdit(base, seen), NewMultiEdit(base, seen)}
}

// plan is a call that changes the file at path; run says what it has done.
func plan(base tool.Base, name, path string, run func(agent.CallEnv, permission.Request) (string, error)) (agent.Plan, error) {
	req, err := request(base, name, path)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{
		Ask:     req,
		Touches: []string{req.Input.Path},
		Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
			if err := ctx.Err(); err != nil {
				return agent.Result{}, err
			}
			text, err := run(env, req)
			if err != nil {
				return failed(err)
			}
			return agent.Result{Text: text}, nil
		},
	}, nil
}

// failed is a result that tells the model what went wrong.
func failed(err error) (agent.Result, error) {
	return agent.Result{Text: err.Error(), IsError: true}, nil
}
