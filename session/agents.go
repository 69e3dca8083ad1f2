package session

import (
	"crypto/rand"
	"slices"
	"strings"
)

// The limits of subagents (spec I-10). Whoever starts them keeps these limits;
// the session supplies the facts: [Session.Agent] and [Session.Running].
const (
	MaxDepth  = 3  // the main agent is at depth 0
	MaxAgents = 20 // subagents at once
)

// An Agent says where an agent of a session came from.
type Agent struct {
	ID     AgentID
	Parent AgentID // empty for the main agent; it may have ended before its child
	Type   string  // agent type; empty for the main agent
	Skill  string  // catalog id of the skill that runs in it; empty if none
	Depth  int     // the main agent is at 0
	// Chain has the skills that run as forks from the main agent down to this
	// one, outermost first. None of them may be forked again below it (spec I-10).
	Chain []string
}

// StartAgent makes a subagent with an empty memory of its own (spec M-1, I-8)
// and returns its id, which no agent of this session had before, nor will have,
// also after the session is resumed. It ends with [Session.EndAgent]. agentType
// names its kind; forked is the catalog id of the skill that it runs, or empty.
func (s *Session) StartAgent(parent AgentID, agentType, forked string) AgentID {
	if parent == "" {
		parent = Main
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.of(parent).agent
	a := Agent{
		ID: s.freshID(), Parent: parent, Type: agentType, Skill: forked,
		Depth: from.Depth + 1, Chain: slices.Clone(from.Chain),
	}
	if forked != "" {
		a.Chain = append(a.Chain, forked)
	}
	s.agents[a.ID] = newMemory(a)
	s.started = append(s.started, a.ID)
	return a.ID
}

// freshID is random, not counted, so that a session that is resumed does not
// mistake what an earlier subagent left in the transcript for its own.
func (s *Session) freshID() AgentID {
	for {
		id := AgentID("agent-" + strings.ToLower(rand.Text()[:12]))
		if _, ended := s.ended[id]; !ended && s.agents[id] == nil {
			return id
		}
	}
}

// EndAgent drops everything that belongs to an agent: records, hooks,
// approvals, what it was told (spec I-10). What is noted for a subagent after
// its end is lost, so that a late call leaves nothing behind.
func (s *Session) EndAgent(a AgentID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.started, a); i >= 0 {
		s.started = slices.Delete(s.started, i, i+1)
		s.ended[a] = s.agents[a].agent
	}
	delete(s.agents, a)
}

// Agent describes an agent that has not ended. An id that was never started is
// known from its first use on; it counts as an agent beside the main one.
func (s *Session) Agent(id AgentID) (a Agent, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.agents[id]
	if st == nil {
		return Agent{ID: id}, id == Main
	}
	a = st.agent
	a.Chain = slices.Clone(a.Chain)
	return a, true
}

// Running returns the subagents that were started and have not ended, in the
// order in which they were started.
func (s *Session) Running() []AgentID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.started)
}
