package bash

import "github.com/knack-skills/knack/session"

// Wait waits for a job to end.
func (s *Shells) Wait(a session.AgentID, id string) error {
	j, err := s.find(a, id)
	if err != nil {
		return err
	}
	<-j.done
	return nil
}
