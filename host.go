package knack

import (
	"context"
	"errors"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/turn"
)

// Announce returns the message that tells an agent which skills there are
// (spec L-1, L-6): the whole listing the first time, later only what is new,
// changed or gone. ok is false when there is nothing to tell. The session notes
// that the agent was told, so the message must be sent. It may be called for
// several agents at once, but for one agent by one goroutine at a time.
func (e *Engine) Announce(agent session.AgentID) (m turn.Message, ok bool) {
	return e.announce(agent, e.Entries())
}

// AnnounceFor is [Engine.Announce] for an agent that is about to read prompt:
// skills that match it keep more of their text when not all fits (spec L-5).
// The error is that of ctx; nobody was told anything then.
func (e *Engine) AnnounceFor(ctx context.Context, agent session.AgentID, prompt string) (m turn.Message, ok bool, err error) {
	now, err := e.EntriesFor(ctx, prompt)
	if err != nil {
		return turn.Message{}, false, err
	}
	m, ok = e.announce(agent, now)
	return m, ok, nil
}

func (e *Engine) announce(agent session.AgentID, now []listing.Entry) (m turn.Message, ok bool) {
	told := e.session.Told(agent)
	delta := listing.Diff(told, now)
	if delta.Empty() {
		return turn.Message{}, false
	}
	l := listing.FormatDelta(delta, e.ListingOptions())
	if len(told) == 0 {
		l = listing.Format(now, e.ListingOptions())
	}
	known := make(map[string]skill.Summary, len(now))
	for _, entry := range now {
		known[entry.ID] = entry.Summary
	}
	e.session.Tell(agent, known, delta.Removed...)
	return turn.Message{Role: turn.User, Text: l.Text, Meta: true}, true
}

// Command reports whether name is a skill, and whether others may follow it on
// the same line (spec I-4). With it an Engine is the slash.Names of a host that
// has no commands of its own.
func (e *Engine) Command(name string) (exists, stackable bool) {
	entry, err := e.Snapshot().Resolve(name)
	if err != nil {
		// Invoking a name that is claimed twice says which ids are meant.
		_, ambiguous := errors.AsType[*catalog.AmbiguousError](err)
		return ambiguous, false
	}
	visible, _ := e.Snapshot().VisibleToUser(entry)
	shadowed := entry.Winner != nil && entry.State != catalog.Disabled && !entry.Trigger.HiddenFromUser
	return true, entry.Run.Mode != skill.Fork && (visible || shadowed)
}
