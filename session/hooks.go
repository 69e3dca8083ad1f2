package session

import (
	"slices"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// A Hook is one handler that is registered for an agent.
type Hook struct {
	Owner   string       // who declared it, such as a skill's id
	Origin  skill.Origin // where that comes from: directories, trust
	Event   hook.Event
	Matcher string
	Handler hook.Handler // shared, not to be changed
	Serial  uint64       // names this handler of this registration in the session
}

// registration holds the hooks of one owner.
type registration struct {
	owner string
	hooks []Hook
}

// Register adds the hooks of an owner to those of an agent, which has them
// until it ends (spec H-8). Registering the same owner again replaces its hooks
// where they stand, never doubles them, and brings back handlers that had done
// their one run. An empty config takes the owner's hooks away.
func (s *Session) Register(a AgentID, owner string, from skill.Origin, c hook.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	r := registration{owner: owner}
	for _, g := range c {
		for _, h := range g.Handlers {
			s.serial++
			r.hooks = append(r.hooks, Hook{owner, from, g.Event, g.Matcher, h, s.serial})
		}
	}
	i := slices.IndexFunc(st.hooks, func(r registration) bool { return r.owner == owner })
	if i < 0 {
		st.hooks = append(st.hooks, r)
	} else {
		st.hooks[i] = r
	}
}

// Hooks returns an agent's hooks, owners in the order in which they first
// registered, handlers as they were written.
func (s *Session) Hooks(a AgentID) []Hook {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Hook
	for _, r := range s.of(a).hooks {
		out = append(out, r.hooks...)
	}
	return out
}

// Spend takes away a handler that is to run once, after it succeeded (spec
// H-8), and reports whether it did. It leaves any other handler, and a newer
// registration of the same one.
func (s *Session) Spend(a AgentID, h Hook) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	for i, r := range st.hooks {
		j := slices.IndexFunc(r.hooks, func(o Hook) bool { return o.Serial == h.Serial && o.Handler.Once })
		if j >= 0 {
			st.hooks[i].hooks = slices.Delete(slices.Clone(r.hooks), j, j+1)
			return true
		}
	}
	return false
}
