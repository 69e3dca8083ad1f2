// Package llm is the port through which an agent asks a language model (spec
// one request in, a stream of events out. Providers live in the packages
// below it; each maps these types to its wire protocol and back.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// A Model answers requests. Implementations are safe for concurrent use.
//
// Stream sends one request and yields events in order. The last event of a
// complete answer is a [Done]; a stream that ends without one yields an error,
// never a finished answer. After an error nothing follows. Stopping the
// iteration, or ending ctx, ends the request. Providers retry nothing that has
// already yielded an event; see [Retry].
type Model interface {
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// A Purpose says why a request is made (spec K-12).
type Purpose string

// The purposes.
const (
	Turn    Purpose = "turn"    // the agent's own work
	Summary Purpose = "summary" // compaction
	Hook    Purpose = "hook"    // a prompt or agent hook
)

// A Request is one call of a model. It is a value: providers never change it.
type Request struct {
	AgentID   string  // who asks; "main" for the main agent
	AgentType string  // agent type or skill id of a subagent; empty for the main agent
	Skill     string  // id of the skill that a subagent runs (spec I-8); empty for all others
	Purpose   Purpose // empty means Turn
	Model     string  // provider's model id, without the provider prefix
	Effort    string  // low, medium, high, xhigh, max or a number of thinking tokens; empty is the provider's default
	System    string  // system prompt; constant within a session
	Messages  []Message
	Tools     []ToolSpec // constant within a session (spec L-1)
	MaxTokens int        // of the answer; zero is the provider's default
	// CacheAt holds the indexes of messages after which a prompt cache mark may
	// stand, in ascending order, besides the ones after Tools and System.
	// Providers without marks ignore it.
	CacheAt []int
	// Schema asks for an answer that is JSON of this schema; nil asks for text.
	Schema json.RawMessage
}

// A Role says whose message it is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one entry of the conversation.
type Message struct {
	Role    Role    `json:"role"`
	Content []Block `json:"content"`
}

// A BlockType names what a block holds.
type BlockType string

// The block types.
const (
	Text       BlockType = "text"
	ToolUse    BlockType = "tool_use"
	ToolResult BlockType = "tool_result"
	Thinking   BlockType = "thinking" // kept because some providers want it back unchanged
)

// A Block is one part of a message (spec K-12). Only the fields of its type are
// set.
type Block struct {
	Type      BlockType       `json:"type"`
	Text      string          `json:"text,omitempty"`        // Text, ToolResult, Thinking
	Name      string          `json:"name,omitempty"`        // ToolUse: the tool
	Input     json.RawMessage `json:"input,omitempty"`       // ToolUse: a JSON object
	ToolUseID string          `json:"tool_use_id,omitempty"` // ToolUse and ToolResult
	IsError   bool            `json:"is_error,omitempty"`    // ToolResult
	Opaque    json.RawMessage `json:"opaque,omitempty"`      // Thinking: what the provider wants back
}

// A ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"` // a JSON Schema object
}

// An Event is one piece of an answer: a [TextDelta], [ThinkingDelta],
// [ToolCall], or at the end a [Done].
type Event interface{ event() }

// A TextDelta is further text of the answer.
type TextDelta struct{ Text string }

// A ThinkingDelta is further reasoning. Block is set on the last one of a block
// when the provider wants it back in later requests.
type ThinkingDelta struct {
	Text  string
	Block *Block
}

// A ToolCall is a complete tool call; providers put the pieces together. Input
// is the raw JSON as the model wrote it, which may be malformed.
type ToolCall struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// A Done ends an answer.
type Done struct {
	Stop  StopReason
	Usage Usage
	Model string // the model that answered, as the provider names it
}

func (TextDelta) event()     {}
func (ThinkingDelta) event() {}
func (ToolCall) event()      {}
func (Done) event()          {}

// A StopReason says why an answer ended.
type StopReason string

// The stop reasons.
const (
	EndTurn   StopReason = "end_turn"
	ToolCalls StopReason = "tool_use"
	MaxTokens StopReason = "max_tokens"
	Refusal   StopReason = "refusal"
)

// Usage counts tokens as the provider reports them (spec K-11).
type Usage struct {
	InputTokens              int `json:"input_tokens"` // not read from the cache
	OutputTokens             int `json:"output_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
}

// Add returns the sum of two counts.
func (u Usage) Add(v Usage) Usage {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheReadInputTokens += v.CacheReadInputTokens
	u.CacheCreationInputTokens += v.CacheCreationInputTokens
	return u
}

// Sub returns what u has more than v, an earlier count.
func (u Usage) Sub(v Usage) Usage {
	u.InputTokens -= v.InputTokens
	u.OutputTokens -= v.OutputTokens
	u.CacheReadInputTokens -= v.CacheReadInputTokens
	u.CacheCreationInputTokens -= v.CacheCreationInputTokens
	return u
}

// Context is how much of the context window the request took.
func (u Usage) Context() int {
	return u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens + u.OutputTokens
}
