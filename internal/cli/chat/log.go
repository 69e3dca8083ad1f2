package chat

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/session/transcript"
	"github.com/knack-skills/knack/skill"
)

// write appends an entry to the transcript.
func (h *Host) write(id session.AgentID, p transcript.Payload) error {
	if h.log == nil {
		return nil
	}
	return h.log.Append(id, p)
}

// keep is write for places that cannot fail; the first failure is told at the
// end of the turn.
func (h *Host) keep(id session.AgentID, p transcript.Payload) {
	h.failed(h.write(id, p))
}

// failed remembers the first failure; agents run side by side.
func (h *Host) failed(err error) {
	h.logMu.Lock()
	defer h.logMu.Unlock()
	if h.logErr == nil {
		h.logErr = err
	}
}

// observe writes down what happens, then passes it on.
func (h *Host) observe(e agent.Event) {
	switch e := e.(type) {
	case agent.Message:
		if data, err := json.Marshal(e.Message); err == nil {
			h.keep(e.Agent, transcript.Message{Message: data})
		}
		// The messages that carry a skill's text are written now, so its
		// invocation may follow.
		if e.Message.Role == llm.User {
			for _, i := range h.waiting[e.Agent] {
				h.keep(e.Agent, i)
			}
			delete(h.waiting, e.Agent)
		}
		h.keepTodos()
	case agent.Invoked:
		if e.Err == nil {
			h.noteInvocation(e.Agent, e.By, e.Result)
		}
	case agent.Compacted:
		trigger := "auto"
		if e.Asked {
			trigger = "manual"
		}
		c := transcript.CompactedOf(trigger, e.Instructions, e.Summary, e.Restored)
		c.PreTokens = e.Tokens
		h.keep(e.Agent, c)
	case agent.AgentStarted:
		h.keep(e.Agent, transcript.Subagent{ID: e.Agent, Parent: e.Parent, Type: e.Type, Skill: e.Skill})
	case agent.AgentEnded:
		h.keep(e.Agent, transcript.Subagent{ID: e.Agent, Ended: true})
		delete(h.waiting, e.Agent)
		h.tools.endAgent(e.Agent)
	}
	if h.o.Observe != nil {
		h.o.Observe(e)
	}
}

// noteInvocation counts an invocation, and keeps an inline one to be written
// after the messages that carry its text.
func (h *Host) noteInvocation(id session.AgentID, by invoke.Caller, r *invoke.Result) {
	h.failed(h.Engine.RecordUse(r.Entry))
	list := h.Engine.Session().Invoked(id)
	if r.Mode == skill.Fork || len(list) == 0 {
		return
	}
	i := transcript.InvocationOf(list[len(list)-1])
	i.By, i.Source = string(by), string(r.Entry.Origin.Source)
	h.waiting[id] = append(h.waiting[id], i)
}

// Prompt writes down what the person said, as they said it.
func (h *Host) Prompt(text string) { h.keep(session.Main, transcript.Prompt{Text: text}) }

// Submit runs one turn and makes sure that it is on the disk.
func (h *Host) Submit(ctx context.Context, in agent.Input) (agent.Answer, error) {
	ans, err := h.Talk.Submit(ctx, in)
	h.Sync()
	return ans, err
}

// Sync makes sure that what happened is on the disk, as at the end of a turn.
func (h *Host) Sync() {
	if h.log != nil {
		h.failed(h.log.Sync())
	}
}

// touched tells the engine of files, keeps what followed (spec D-3, M-4), and
// returns what the person is told of it (spec D-5).
func (h *Host) touched(ctx context.Context, files []string) []string {
	d, err := h.Engine.Discover(ctx, files...)
	if err != nil {
		return []string{"skills of the touched directories were not read: " + err.Error()}
	}
	if a := (transcript.Activated{IDs: d.Lasting(), Below: d.Below()}); len(a.IDs)+len(a.Below) > 0 {
		h.keep(session.Main, a)
	}
	if h.o.NoSkills {
		return nil
	}
	return d.Notices()
}

// Problems returns what is wrong with agent types, memory files and the
// transcript, in the order in which it was met.
func (h *Host) Problems() []skill.Problem {
	h.logMu.Lock()
	defer h.logMu.Unlock()
	out := append([]skill.Problem(nil), h.problem...)
	if h.logErr != nil {
		out = append(out, skill.Problem{Code: "transcript-unwritable", Severity: skill.Warning,
			Message: "this session is not kept whole: " + h.logErr.Error(), Fix: "free some space, or set KNACK_STATE_DIR"})
	}
	return out
}

// Tools names the tools of the session.
func (h *Host) Tools() []string {
	var out []string
	for _, t := range h.tools.all {
		out = append(out, t.Spec().Name)
	}
	return out
}

// Close ends background work and the transcript.
func (h *Host) Close() error {
	if h.unwatch != nil {
		h.unwatch()
	}
	if h.Talk != nil {
		h.Talk.Close()
		for _, n := range EndHooks(h.hooks.runner, h.Talk.Finish) {
			h.observe(agent.Notice{Agent: session.Main, Text: n})
		}
	}
	err := h.Servers.Close()
	if h.tools.shells != nil {
		err = errors.Join(err, h.tools.shells.Close())
	}
	if h.log != nil {
		err = errors.Join(err, h.log.Close())
	}
	err = errors.Join(err, h.Engine.Close())
	return err
}
