package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/knack-skills/knack/llm"
)

// minOutput is the least that Responses takes as a limit of the answer.
const minOutput = 16

// responsesBody is a request of the Responses API.
type responsesBody struct {
	Model           string          `json:"model"`
	Instructions    string          `json:"instructions,omitempty"`
	Input           []any           `json:"input"`
	Tools           []responsesTool `json:"tools,omitempty"`
	Text            *responsesText  `json:"text,omitempty"`
	Reasoning       *reasoning      `json:"reasoning,omitempty"`
	MaxOutputTokens int             `json:"max_output_tokens,omitempty"`
	Include         []string        `json:"include,omitempty"`
	PromptCacheKey  string          `json:"prompt_cache_key,omitempty"`
	Store           bool            `json:"store"`
	Stream          bool            `json:"stream"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // absent would mean true
}

type responsesText struct {
	Format format `json:"format"`
}

type format struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// The items of a conversation.
type (
	messageItem struct {
		Type    string        `json:"type"`
		Role    string        `json:"role"`
		Content []contentPart `json:"content"`
	}
	contentPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	callItem struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	outputItem struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Output string `json:"output"`
	}
	// reasoningItem is what the server wants back, and the Opaque of a block.
	reasoningItem struct {
		Type      string        `json:"type"`
		ID        string        `json:"id,omitempty"`
		Summary   []contentPart `json:"summary"`
		Encrypted string        `json:"encrypted_content"`
	}
)

func responsesRequest(r llm.Request) *responsesBody {
	b := &responsesBody{
		Model:          r.Model,
		Instructions:   r.System,
		Input:          make([]any, 0, 2*len(r.Messages)),
		PromptCacheKey: cacheKey(r),
		Stream:         true,
	}
	if r.MaxTokens > 0 {
		b.MaxOutputTokens = max(r.MaxTokens, minOutput)
	}
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, responsesTool{"function", t.Name, t.Description, parameters(t.InputSchema), false})
	}
	if len(r.Schema) > 0 {
		b.Text = &responsesText{format{"json_schema", "answer", r.Schema, strict(r.Schema)}}
	}
	thinks := reasons(r.Model)
	if thinks {
		b.Include = []string{"reasoning.encrypted_content"}
		if effort := level(r.Effort, ceiling(r.Model)); effort != "" {
			b.Reasoning = &reasoning{Effort: effort, Summary: "auto"}
		}
	}
	for _, m := range r.Messages {
		b.Input = appendItems(b.Input, m, thinks)
	}
	return b
}

// appendItems appends the items of a message. Texts beside each other are one
// message, as the server made them.
func appendItems(items []any, m llm.Message, thinks bool) []any {
	part := "input_text"
	if m.Role == llm.Assistant {
		part = "output_text"
	}
	for i, block := range m.Content {
		switch block.Type {
		case llm.Text:
			if block.Text == "" {
				continue
			}
			c := contentPart{part, block.Text}
			if i > 0 && m.Content[i-1].Type == llm.Text && len(items) > 0 {
				if last, ok := items[len(items)-1].(*messageItem); ok && last.Role == string(m.Role) {
					last.Content = append(last.Content, c)
					continue
				}
			}
			items = append(items, &messageItem{"message", string(m.Role), []contentPart{c}})
		case llm.ToolUse:
			items = append(items, callItem{"function_call", block.ToolUseID, block.Name, arguments(block.Input)})
		case llm.ToolResult:
			items = append(items, outputItem{"function_call_output", block.ToolUseID, result(block)})
		case llm.Thinking:
			if item, ok := reasoningOf(block); ok && thinks && followed(m.Content[i+1:]) {
				items = append(items, item)
			}
		}
	}
	return items
}

// reasoningOf reads the item that a block keeps. The blocks of other providers
// keep something else.
func reasoningOf(b llm.Block) (reasoningItem, bool) {
	var item reasoningItem
	if len(b.Opaque) == 0 || json.Unmarshal(b.Opaque, &item) != nil || item.Type != "reasoning" || item.Encrypted == "" {
		return reasoningItem{}, false
	}
	if item.Summary == nil {
		item.Summary = []contentPart{}
	}
	return item, true
}

// followed reports whether something was said after reasoning; the server
// refuses reasoning that an interrupted answer left alone.
func followed(rest []llm.Block) bool {
	return slices.ContainsFunc(rest, func(b llm.Block) bool {
		return b.Type == llm.ToolUse || b.Type == llm.Text && b.Text != ""
	})
}

// giveWay implements body.
func (b *responsesBody) giveWay(message string) bool {
	switch says := saying(message); {
	case says("could not be verified", "invalid_encrypted_content") && b.forgetReasoning():
	case says("encrypted content", "encrypted_content") && b.Include != nil:
		b.Include = nil
	case says("reasoning.summary", "reasoning summaries") && b.Reasoning != nil && b.Reasoning.Summary != "":
		b.Reasoning.Summary = ""
	case says("reasoning.effort", "reasoning_effort") && b.Reasoning != nil:
		b.Reasoning.Effort = lower(b.Reasoning.Effort)
		if b.Reasoning.Effort == "" {
			b.Reasoning = nil
		}
	case says("prompt_cache_key") && b.PromptCacheKey != "":
		b.PromptCacheKey = ""
	default:
		return false
	}
	return true
}

// forgetReasoning drops what the model thought, which may be of another
// organization, or of a model that is gone. It reports whether there was any.
func (b *responsesBody) forgetReasoning() bool {
	n := len(b.Input)
	b.Input = slices.DeleteFunc(b.Input, func(item any) bool { _, is := item.(reasoningItem); return is })
	return len(b.Input) < n
}

// saying returns a function that looks for words in a message.
func saying(message string) func(words ...string) bool {
	message = strings.ToLower(message)
	return func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) })
	}
}
