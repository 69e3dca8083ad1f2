package openai

import (
	"encoding/json"
	"strings"

	"github.com/knack-skills/knack/llm"
)

// chatBody is a request of the Chat Completions API. Fields that are not in the
// oldest form of the API are left out where they say nothing.
type chatBody struct {
	Model               string         `json:"model"`
	Messages            []chatMessage  `json:"messages"`
	Tools               []chatTool     `json:"tools,omitempty"`
	ResponseFormat      *chatFormat    `json:"response_format,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`

	limitMoved bool // the limit has been tried under its other name
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // string, []contentPart, or null
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type chatFormat struct {
	Type       string     `json:"type"`
	JSONSchema chatSchema `json:"json_schema"`
}

type chatSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chatThought is the Opaque of a block whose text goes back to the server.
type chatThought struct {
	Type string `json:"type"`
}

// chatThoughtType marks reasoning that came in clear.
const chatThoughtType = "reasoning_content"

// chatRequest builds a request; own says that OpenAI gets it.
func chatRequest(r llm.Request, own bool) *chatBody {
	b := &chatBody{
		Model:         r.Model,
		Messages:      make([]chatMessage, 0, len(r.Messages)+len(r.Messages)/2+1),
		Stream:        true,
		StreamOptions: &streamOptions{IncludeUsage: true},
	}
	if own {
		b.MaxCompletionTokens = r.MaxTokens
		b.PromptCacheKey = cacheKey(r)
		b.ReasoningEffort = level(r.Effort, ceiling(r.Model))
	} else {
		b.MaxTokens = r.MaxTokens
		b.ReasoningEffort = level(r.Effort, "high") // what the others know of
	}
	for _, t := range r.Tools {
		tool := chatTool{Type: "function"}
		tool.Function.Name, tool.Function.Description, tool.Function.Parameters = t.Name, t.Description, parameters(t.InputSchema)
		b.Tools = append(b.Tools, tool)
	}
	if len(r.Schema) > 0 {
		b.ResponseFormat = &chatFormat{"json_schema", chatSchema{"answer", r.Schema, strict(r.Schema)}}
	}
	if r.System != "" {
		b.Messages = append(b.Messages, chatMessage{Role: "system", Content: r.System})
	}
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			b.Messages = appendAnswer(b.Messages, m)
		} else {
			b.Messages = appendUser(b.Messages, m)
		}
	}
	return b
}

// appendUser appends a person's message. Results of tools are messages of their
// own, and come first: the API wants them right behind the calls.
func appendUser(out []chatMessage, m llm.Message) []chatMessage {
	for _, b := range m.Content {
		if b.Type == llm.ToolResult {
			out = append(out, chatMessage{Role: "tool", Content: result(b), ToolCallID: b.ToolUseID})
		}
	}
	if content := texts(m); content != nil {
		out = append(out, chatMessage{Role: "user", Content: content})
	}
	return out
}

func appendAnswer(out []chatMessage, m llm.Message) []chatMessage {
	msg := chatMessage{Role: "assistant", Content: texts(m)}
	var thoughts []string
	for _, b := range m.Content {
		var t chatThought
		switch b.Type {
		case llm.ToolUse:
			msg.ToolCalls = append(msg.ToolCalls, chatCall{b.ToolUseID, "function", chatFunction{b.Name, arguments(b.Input)}})
		case llm.Thinking:
			if len(b.Opaque) > 0 && json.Unmarshal(b.Opaque, &t) == nil && t.Type == chatThoughtType {
				thoughts = append(thoughts, b.Text)
			}
		}
	}
	if msg.Content == nil && msg.ToolCalls == nil {
		return out
	}
	// Models that reason between calls want to read on where they were; what
	// led to a finished answer they do not.
	if msg.ToolCalls != nil {
		msg.Reasoning = strings.Join(thoughts, "\n\n")
	}
	return append(out, msg)
}

// texts is the content of a message: a string where one is enough, since not
// all servers know parts.
func texts(m llm.Message) any {
	var parts []contentPart
	for _, b := range m.Content {
		if b.Type == llm.Text && b.Text != "" {
			parts = append(parts, contentPart{"text", b.Text})
		}
	}
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0].Text
	}
	return parts
}

// giveWay implements body.
func (b *chatBody) giveWay(message string) bool {
	switch says := saying(message); {
	case says("max_completion_tokens") && b.MaxTokens > 0 && !b.limitMoved:
		b.MaxTokens, b.MaxCompletionTokens, b.limitMoved = 0, b.MaxTokens, true
	case says("max_completion_tokens") && b.MaxCompletionTokens > 0 && !b.limitMoved:
		b.MaxTokens, b.MaxCompletionTokens, b.limitMoved = b.MaxCompletionTokens, 0, true
	case says("stream_options", "include_usage") && b.StreamOptions != nil:
		b.StreamOptions = nil
	case says("reasoning_effort", "reasoning.effort", "not support thinking", "think value") && b.ReasoningEffort != "":
		b.ReasoningEffort = lower(b.ReasoningEffort)
	case says("reasoning_content") && b.forgetReasoning():
	case says("prompt_cache_key") && b.PromptCacheKey != "":
		b.PromptCacheKey = ""
	case says("response_format", "json_schema") && b.ResponseFormat != nil:
		b.tellSchema()
	default:
		return false
	}
	return true
}

func (b *chatBody) forgetReasoning() bool {
	had := false
	for i := range b.Messages {
		had = had || b.Messages[i].Reasoning != ""
		b.Messages[i].Reasoning = ""
	}
	return had
}

// tellSchema asks for the schema in words.
func (b *chatBody) tellSchema() {
	b.Messages = append(b.Messages, chatMessage{Role: "user", Content: "Answer with JSON alone, without a code fence, that is valid under this JSON Schema:\n" +
		string(b.ResponseFormat.JSONSchema.Schema)})
	b.ResponseFormat = nil
}
