package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// background runs a subagent whose result becomes a message for the agent that
// started it, or for the session when that one has ended (spec I-11).
//
// It outlives the call that started it; outer only says to what it belongs.
func (c *Conversation) background(outer context.Context, a *agent, starter session.AgentID, r invoke.ForkRequest) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(outer))
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		stop()
		err := errors.New("the session is ending")
		c.end(a, err)
		return err
	}
	c.tasks[a.id] = stop
	c.mu.Unlock()
	go func() {
		defer stop()
		text, err := a.runAlone(ctx, r)
		c.end(a, err)
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, alive := c.opts.Session.Agent(starter); !alive {
			starter = session.Main
		}
		c.pending[starter] = append(c.pending[starter], turn.Message{Role: turn.User, Meta: true, Text: taskNote(a, text, err)})
		delete(c.tasks, a.id)
		close(c.ended)
		c.ended = make(chan struct{})
	}()
	return nil
}

func taskNote(a *agent, text string, err error) string {
	head := fmt.Sprintf("Background task %s (%s)", a.id, first(a.skill, a.kind()))
	switch {
	case err != nil:
		return head + " failed: " + err.Error()
	case strings.TrimSpace(text) == "":
		return head + " completed without a text."
	}
	return head + " completed.\n\nResult:\n" + text
}

// takePending returns the results that wait for an agent.
func (c *Conversation) takePending(id session.AgentID) []turn.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.pending[id]
	delete(c.pending, id)
	return out
}

// Tasks returns the ids of the background subagents that run now.
func (c *Conversation) Tasks() []session.AgentID {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []session.AgentID
	for id := range c.tasks {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// StopTask ends a background subagent; its failure is delivered like a result.
func (c *Conversation) StopTask(id session.AgentID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop, ok := c.tasks[id]
	if ok {
		stop()
	}
	return ok
}

// Wait returns when no background subagent runs any more, or ctx ends. pending
// reports whether results wait for the next turn.
func (c *Conversation) Wait(ctx context.Context) (pending bool, err error) {
	for {
		c.mu.Lock()
		running, ended := len(c.tasks), c.ended
		pending = len(c.pending[session.Main]) > 0
		c.mu.Unlock()
		if running == 0 {
			return pending, nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// Close stops every background subagent and waits for it. No other begins.
func (c *Conversation) Close() {
	c.mu.Lock()
	c.closed = true
	for _, stop := range c.tasks {
		stop()
	}
	c.mu.Unlock()
	_, _ = c.Wait(context.Background()) // which does not end
}
