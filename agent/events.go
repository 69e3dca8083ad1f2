package agent

import (
	"encoding/json"
	"time"

	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
)

// An Event is something that happened in a conversation, for whoever shows or
// keeps it. Its dynamic type is one of the types in this file.
type Event interface{ agentEvent() }

// TextDelta is further text of an answer.
type TextDelta struct {
	Agent session.AgentID
	Text  string
}

// Message is a complete message that joined an agent's history.
type Message struct {
	Agent   session.AgentID
	Message llm.Message
	Meta    bool // not meant for the person
}

// TurnStarted and TurnEnded frame a turn of an agent: from what it is told to
// its answer.
type TurnStarted struct {
	Agent       session.AgentID
	Type, Skill string // of a subagent; the main agent may have a type
}

// TurnEnded is the end of a turn.
type TurnEnded struct {
	Agent  session.AgentID
	Answer Answer
	Err    error
}

// ToolStarted and ToolEnded frame a tool call that was let through.
type ToolStarted struct {
	Agent    session.AgentID
	ID, Name string
	Input    json.RawMessage // as the model wrote it
}

// ToolEnded is the end of a tool call.
type ToolEnded struct {
	Agent    session.AgentID
	ID, Name string
	IsError  bool
}

// InvocationStarted says that a skill is about to be invoked; an [Invoked]
// follows.
type InvocationStarted struct {
	Agent session.AgentID
	By    invoke.Caller
	Name  string // as it was called
}

// Invoked is a skill that was invoked, or that could not be (spec I-13).
type Invoked struct {
	Agent    session.AgentID
	By       invoke.Caller
	Name     string         // as it was called
	Result   *invoke.Result // nil when Err is not
	Err      error
	Duration time.Duration
}

// Progress says what a running call or subagent is doing (spec I-8).
type Progress struct {
	Agent session.AgentID
	Text  string // of a running call; the tool that was called last
	Calls int    // tool calls of the subagent so far; zero from within a call
}

// Notice is something the person should know.
type Notice struct {
	Agent session.AgentID
	Text  string
}

// Compacted says that an agent's history was replaced by a summary.
type Compacted struct {
	Agent   session.AgentID
	Before  int // messages
	Tokens  int // that the history had taken
	Summary string
	Asked   bool // by the person; else the window was nearly full
	// Instructions are what the person asked the summary to keep in mind.
	Instructions string
	Restored     session.Restored // the skills that were put back
}

// AgentStarted and AgentEnded frame a subagent.
type AgentStarted struct {
	Agent, Parent session.AgentID
	Type, Skill   string
}

// AgentEnded is the end of a subagent.
type AgentEnded struct {
	Agent session.AgentID
	Err   error
}

func (TextDelta) agentEvent()         {}
func (Message) agentEvent()           {}
func (TurnStarted) agentEvent()       {}
func (TurnEnded) agentEvent()         {}
func (ToolStarted) agentEvent()       {}
func (ToolEnded) agentEvent()         {}
func (InvocationStarted) agentEvent() {}
func (Invoked) agentEvent()           {}
func (Progress) agentEvent()          {}
func (Notice) agentEvent()            {}
func (Compacted) agentEvent()         {}
func (AgentStarted) agentEvent()      {}
func (AgentEnded) agentEvent()        {}
