// Package agent is the agent loop: ask the model, run its tool calls, repeat
// (spec A-1). It owns no policy of its own: rules, hooks, catalog and memory are
// handed to it, and it is the Forker of the skills it invokes.
package agent

import (
	"context"
	"encoding/json"

	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// A Tool is something a model can call (spec A-3). Implementations are safe for
// concurrent use: read-only calls of one answer run in parallel.
type Tool interface {
	// Spec describes the tool. It is the same for the whole session, so that
	// the cached prefix of requests never changes (spec L-1).
	Spec() llm.ToolSpec
	// Plan reads the input of a call. Its error is shown to the model, so it
	// says what is wrong with the input and how to mend it.
	Plan(input json.RawMessage) (Plan, error)
}

// A Plan is one call, understood but not begun: what it needs permission for,
// and how to do it.
type Plan struct {
	// Ask is judged by the rules before Run; an empty Tool needs no permission.
	Ask permission.Request
	// Free calls need no approval of their own; a rule that denies them or asks
	// still holds.
	Free bool
	// ReadOnly calls change nothing and may run beside others.
	ReadOnly bool
	// Person marks calls that only a person can answer; they fail in subagents
	// and headless (spec I-10).
	Person bool
	// Skill is the skill that the call is about, as the model named it; empty for
	// every tool but Skill.
	Skill string
	// Touches lists the files that the call reads or writes (spec D-1).
	Touches []string
	// Run does it. A failure that the tool has words for is a Result with
	// IsError; an error is told to the model as well, as the failure of the call.
	Run func(ctx context.Context, env CallEnv) (Result, error)
}

// CallEnv is what a running call may use.
type CallEnv struct {
	ID       string          // tool_use_id
	Agent    session.AgentID // who called
	Progress func(string)    // says what is going on; never nil
	// Invoke runs a skill as the calling agent, on the one road (spec I-1).
	Invoke func(ctx context.Context, name, args string) (*invoke.Result, error)
	// Spawn runs a subagent of the calling agent (spec I-8).
	Spawn func(ctx context.Context, r invoke.ForkRequest) (invoke.ForkResult, error)
}

// A Result goes back to the model.
type Result struct {
	Text     string
	IsError  bool
	Messages []turn.Message // follow the tool result (spec I-5)
	Override turn.Override  // joins the turn's settings
}

// MaxResult is how much of a tool result reaches the model, in characters; the
// rest is saved to a file that is named.
const MaxResult = 30_000
