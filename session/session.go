// Package session owns everything that must be remembered of one conversation
// between turns, per agent, and nothing else does (spec M-1): which skills were
// invoked, what an agent was told of the skills there are, its hooks and
// approvals; and for the whole session, which conditional skills are active.
//
// It keeps no messages: those are the host's. What survives when they are
// replaced by a summary is decided here ([Session.Restore], spec M-2), and
// package session/transcript brings a session back in another process.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// An AgentID names one agent of a session.
type AgentID string

// Main is the agent the person talks to.
const Main AgentID = "main"

// An Invoked is a skill that ran, kept so that nothing of it is lost later.
type Invoked struct {
	ID   string // catalog id
	Path string // SKILL.md; empty if none
	Args string // as they were given; they belong to that one request
	Text string // the full compiled text
	Hash string // SHA-256 of Text in hexadecimal; Record fills it in when it is empty
	At   time.Time
}

// A Copy names a text of a skill that stands in an agent's history.
type Copy struct {
	ID   string // catalog id
	Hash string // as in Invoked
}

// A Session is one conversation. It is safe for concurrent use.
type Session struct {
	ID string // fixed at creation

	mu        sync.Mutex // guards everything below
	agents    map[AgentID]*memory
	started   []AgentID         // by StartAgent, and not ended
	ended     map[AgentID]Agent // started once, and ended
	activated map[string]bool   // conditional skills (spec D-3)
	changes   int               // of activated
	below     []string          // directories with skills of their own (spec D-1)
	serial    uint64            // of the latest hook that was registered
}

// memory is what belongs to one agent and goes when it ends.
type memory struct {
	agent   Agent
	invoked []record
	whole   map[Copy]bool            // texts that stand unshortened in its history
	told    map[string]skill.Summary // what the agent was told of each skill
	hooks   []registration
	kept    permission.Rules

	approved map[Copy]bool // contents of skills, see Approve
}

// record is an Invoked with what was found out when it was recorded.
type record struct {
	Invoked
	tokens int
	repeat bool // the text itself did not enter the history again
}

// New returns an empty session with its main agent.
func New(id string) *Session {
	return &Session{ID: id, agents: map[AgentID]*memory{}, ended: map[AgentID]Agent{}, activated: map[string]bool{}}
}

func newMemory(a Agent) *memory {
	return &memory{agent: a, whole: map[Copy]bool{}, told: map[string]skill.Summary{}}
}

// of returns the memory of a, making it on first use. What is noted in the
// memory of an agent that has ended is lost. The caller holds mu.
func (s *Session) of(a AgentID) *memory {
	st := s.agents[a]
	if st == nil {
		was, ended := s.ended[a]
		was.ID = a
		st = newMemory(was)
		if !ended {
			s.agents[a] = st
		}
	}
	return st
}

// Record remembers an invocation by an agent. It reports whether the very same
// text of that skill stands whole in the agent's history (spec I-7), which a
// compaction may have ended ([Session.Restore]).
func (s *Session) Record(a AgentID, i Invoked) (repeat bool) {
	if i.Hash == "" {
		sum := sha256.Sum256([]byte(i.Text))
		i.Hash = hex.EncodeToString(sum[:])
	}
	r := record{Invoked: i, tokens: text.Tokens(i.Text)}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	r.repeat = st.whole[r.copy()]
	st.whole[r.copy()] = true
	st.invoked = append(st.invoked, r)
	return r.repeat
}

// Holds returns the latest invocation of a skill whose text the agent has in its
// history, whole.
func (s *Session) Holds(a AgentID, id string) (i Invoked, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.of(a)
	for _, r := range slices.Backward(st.invoked) {
		if r.ID == id && st.whole[r.copy()] {
			return r.Invoked, true
		}
	}
	return Invoked{}, false
}

// Invoked returns what an agent invoked, oldest first.
func (s *Session) Invoked(a AgentID) []Invoked {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Invoked
	for _, r := range s.of(a).invoked {
		out = append(out, r.Invoked)
	}
	return out
}

// Activate makes conditional skills visible for the rest of the session: only
// [Session.Forget] takes it back. A skill is named by the id that it keeps, see
// catalog.Entry.LastingID.
func (s *Session) Activate(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if !s.activated[id] {
			s.activated[id] = true
			s.changes++
		}
	}
}

// Active reports whether a conditional skill was activated.
func (s *Session) Active(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.activated[id]
}

// Activations counts how often the set of active skills changed. It only grows,
// so what was derived from the set is stale exactly when it has changed.
func (s *Session) Activations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// Forget begins the conversation anew, as /clear does: no skill is active any
// more (spec D-3), and the main agent was told and invoked nothing. What was
// approved for the session still is, hooks stay until their agent ends, and
// directories that were found keep their skills.
func (s *Session) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.activated) > 0 {
		clear(s.activated)
		s.changes++
	}
	st := s.of(Main)
	st.invoked = nil
	clear(st.whole)
	clear(st.told)
}

// FoundBelow remembers directories below the working directory that have skills
// of their own (spec D-1), so that a session that is resumed has them as well.
func (s *Session) FoundBelow(dirs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range dirs {
		if !slices.Contains(s.below, d) {
			s.below = append(s.below, d)
		}
	}
}

// Below returns the directories of [Session.FoundBelow], oldest first.
func (s *Session) Below() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.below)
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

// Untell makes an agent one that was told nothing, so that the next
// announcement is the whole listing (spec L-7, "full").
func (s *Session) Untell(a AgentID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.of(a).told)
}

// Keep remembers rules that the person gave for the rest of the session (spec
// M-1). They are the agent's own: a subagent has none of its parent's, and
// leaves it none. Rules that are kept already are not kept twice.
func (s *Session) Keep(a AgentID, rules permission.Rules) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := &s.of(a).kept
	kept.Deny = union(kept.Deny, rules.Deny)
	kept.Ask = union(kept.Ask, rules.Ask)
	kept.Allow = union(kept.Allow, rules.Allow)
}

// Kept returns a copy of the rules that were kept for an agent.
func (s *Session) Kept(a AgentID) permission.Rules {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.of(a).kept
	return permission.Rules{Deny: slices.Clone(kept.Deny), Ask: slices.Clone(kept.Ask), Allow: slices.Clone(kept.Allow)}
}

func union(rules, more []permission.Rule) []permission.Rule {
	for _, r := range more {
		if !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	return rules
}
