package mcp

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/hookexec"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/mcpserver"
	"github.com/knack-skills/knack/session"
)

// hookGrace is how long hooks in the background may go on when a client or the
// server ends.
const hookGrace = 5 * time.Second

// hooks runs the hooks of the workspace for the clients of a server. Each client
// is a session: a hook that is to run once runs once for each.
type hooks struct {
	engine *knack.Engine
	log    *slog.Logger
	ending sync.WaitGroup // runners of clients that are gone

	mu      sync.Mutex // guards the fields below
	runners map[*session.Session]*hookexec.Runner
	closed  bool
}

var _ mcpserver.Hooks = (*hooks)(nil)

func newHooks(e *knack.Engine, log *slog.Logger) *hooks {
	return &hooks{engine: e, log: log, runners: map[*session.Session]*hookexec.Runner{}}
}

// Run runs the global hooks, then those that the client's skills registered
// (spec H-7).
func (h *hooks) Run(ctx context.Context, s *session.Session, in hook.Input) hook.Outcome {
	groups := chat.HooksFor(h.engine, s, session.Main, false)
	if !slices.ContainsFunc(slices.Concat(groups...), func(e hookexec.Entry) bool { return e.Event == in.Event }) {
		return hook.Outcome{} // most workspaces have none, and a call is to be quick
	}
	in.SessionID, in.CWD = s.ID, h.engine.Dir()
	r := h.runner(s)
	if r == nil {
		return hook.Outcome{Block: true, Opinion: hook.Deny, Reason: "the server is stopping, and hooks could not speak"}
	}
	return r.Run(ctx, groups, in)
}

// runner is the one of a client; nil when the server stops.
func (h *hooks) runner(s *session.Session) *hookexec.Runner {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	r := h.runners[s]
	if r == nil {
		r = hookexec.New(chat.HookOptions(h.engine))
		h.runners[s] = r
	}
	return r
}

// End lets what runs in the background for a client come to its end.
func (h *hooks) End(s *session.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.runners[s]; r != nil {
		delete(h.runners, s)
		h.ending.Go(func() { h.finish(r) })
	}
}

// close ends the hooks of all clients and waits for them.
func (h *hooks) close() {
	h.mu.Lock()
	h.closed = true
	for s, r := range h.runners {
		delete(h.runners, s)
		h.ending.Go(func() { h.finish(r) })
	}
	h.mu.Unlock()
	h.ending.Wait()
}

func (h *hooks) finish(r *hookexec.Runner) {
	ctx, stop := context.WithTimeout(context.Background(), hookGrace)
	defer stop()
	for _, n := range r.Close(ctx) {
		h.log.Warn(n)
	}
}
