// Package session owns everything that must be remembered of one conversation
// between turns, per agent, and nothing else does (spec M-1).
package session

import (
	"sync"
	"time"

	"github.com/knack-skills/knack/skill"
)

// An AgentID names one agent of a session.
type AgentID string

// Main is the agent the person talks to.
const Main AgentID = "main"

// An Invoked is a skill that ran, kept so that nothing of it is lost later.
type Invoked struct {
	ID   string // catalog id
	Path string // SKILL.md; empty if none
	Text string // the full compiled text
	At   time.Time
}

// A Session is one conversation. It is safe for concurrent use.
type Session struct {
	ID string // fixed at creation

	mu        sync.Mutex // guards everything below
	agents    map[AgentID]*agent
	activated map[string]bool // conditional skills; only ever grows (spec D-3)
}

// agent is what belongs to one agent and goes when it ends.
type agent struct {
	invoked []Invoked
	told    map[string]skill.Summary // what the agent was told of each skill
}

// New returns an empty session with its main agent.
func New(id string) *Session {
	return &Session{ID: id, agents: map[AgentID]*agent{}, activated: map[string]bool{}}
}

// of returns the state of a, making it on first use. The caller holds mu.
func (s *Session) of(a AgentID) *agent {
	st := s.agents[a]
	if st == nil {
		st = &agent{told: map[string]skill.Summary{}}
		s.agents[a] = st
	}
	return st
}

// Record remembers an invocation by an agent. It reports whether the agent
// already holds the very same text of that skill (spec I-7).
func (s *Session) Record(a AgentID, i Invoked) (repeat bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	for _, o := range st.invoked {
		if o.ID == i.ID && o.Text == i.Text {
			repeat = true
			break
		}
	}
	st.invoked = append(st.invoked, i)
	return repeat
}

// Invoked returns what an agent invoked, oldest first.
func (s *Session) Invoked(a AgentID) []Invoked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Invoked(nil), s.of(a).invoked...)
}

// EndAgent drops everything that belongs to an agent.
func (s *Session) EndAgent(a AgentID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.agents, a)
}

// Activate makes conditional skills visible for the rest of the session.
func (s *Session) Activate(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.activated[id] = true
	}
}

// Active reports whether a conditional skill was activated.
func (s *Session) Active(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.activated[id]
}

// Activations counts the conditional skills that were activated. It only
// grows, so what was derived from it is stale exactly when it has changed.
func (s *Session) Activations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.activated)
}

// Told returns a copy of what an agent was told of each skill, by id (spec L-6).
func (s *Session) Told(a AgentID) map[string]skill.Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]skill.Summary, len(s.of(a).told))
	for id, sum := range s.of(a).told {
		out[id] = sum
	}
	return out
}

// Tell notes that an agent knows summaries now, by id, and was told that the
// removed ones are gone.
func (s *Session) Tell(a AgentID, known map[string]skill.Summary, removed ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.of(a).told
	for id, sum := range known {
		told[id] = sum
	}
	for _, id := range removed {
		delete(told, id)
	}
}
