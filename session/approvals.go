package session

// Approve remembers for the rest of the session that the person let an agent
// run a skill that consists of what hash says (spec S-14). As the rules of
// [Session.Keep], this is the agent's own.
func (s *Session) Approve(a AgentID, skill, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	if st.approved == nil {
		st.approved = map[Copy]bool{}
	}
	st.approved[Copy{ID: skill, Hash: hash}] = true
}

// Approved reports whether exactly this was approved.
func (s *Session) Approved(a AgentID, skill, hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(a).approved[Copy{ID: skill, Hash: hash}]
}
