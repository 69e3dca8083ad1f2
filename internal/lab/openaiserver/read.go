package openaiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// decode refuses fields that v does not have, as the API does.
func decode(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// spec checks a declaration of a function.
func (f function) spec() (llm.ToolSpec, error) {
	var schema struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(f.Parameters, &schema) != nil || schema.Type != "object" || schema.Properties == nil {
		return llm.ToolSpec{}, fmt.Errorf("invalid schema for function '%s': object schema missing properties", f.Name)
	}
	return llm.ToolSpec{Name: f.Name, Description: f.Description, InputSchema: f.Parameters}, nil
}

type responsesRequest struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions"`
	Input        []json.RawMessage `json:"input"`
	Tools        []struct {
		function
		Type   string `json:"type"`
		Strict *bool  `json:"strict"`
	} `json:"tools"`
	Text      json.RawMessage `json:"text"`
	Reasoning json.RawMessage `json:"reasoning"`
	Max       *int            `json:"max_output_tokens"`
	Include   []string        `json:"include"`
	CacheKey  string          `json:"prompt_cache_key"`
	Store     *bool           `json:"store"`
	Stream    bool            `json:"stream"`
}

func readResponses(body []byte) (seen llmtest.Seen, err error) {
	var r responsesRequest
	if err := decode(body, &r); err != nil {
		return seen, err
	}
	switch {
	case !r.Stream || r.Store == nil || *r.Store:
		return seen, errors.New("these tests want stream and no store")
	case r.Max != nil && *r.Max < 16:
		return seen, errors.New("invalid 'max_output_tokens': integer below minimum value")
	case len(r.CacheKey) > 64:
		return seen, errors.New("invalid 'prompt_cache_key': string too long")
	}
	seen.Model, seen.System = r.Model, r.Instructions
	for _, t := range r.Tools {
		spec, err := t.spec()
		if err != nil || t.Type != "function" || t.Strict == nil || *t.Strict {
			return seen, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		seen.Tools = append(seen.Tools, spec)
	}
	open := map[string]bool{} // calls without a result
	for i, raw := range r.Input {
		blocks, err := readItem(raw, open)
		if err != nil {
			return seen, fmt.Errorf("input[%d]: %w", i, err)
		}
		seen.Blocks = append(seen.Blocks, blocks...)
	}
	for id := range open {
		return seen, fmt.Errorf("no tool output found for function call %s", id)
	}
	return seen, nil
}

type item struct {
	Type      string              `json:"type"`
	Role      string              `json:"role"`
	Content   []map[string]string `json:"content"`
	CallID    string              `json:"call_id"`
	Name      string              `json:"name"`
	Arguments *string             `json:"arguments"`
	Output    *string             `json:"output"`
	ID        string              `json:"id"`
	Summary   []map[string]string `json:"summary"`
	Encrypted string              `json:"encrypted_content"`
}

func readItem(raw json.RawMessage, open map[string]bool) (out []llm.Block, err error) {
	var it item
	if err := decode(raw, &it); err != nil {
		return nil, err
	}
	switch it.Type {
	case "message":
		want := map[string]string{"user": "input_text", "assistant": "output_text"}[it.Role]
		for _, c := range it.Content {
			if c["type"] != want {
				return nil, fmt.Errorf("invalid value: '%s'", c["type"])
			}
			out = append(out, llm.Block{Type: llm.Text, Text: c["text"]})
		}
		return out, nil
	case "function_call":
		if it.Arguments == nil || it.CallID == "" || it.Name == "" {
			return nil, errors.New("missing required parameter")
		}
		open[it.CallID] = true
		return []llm.Block{{Type: llm.ToolUse, ToolUseID: it.CallID, Name: it.Name, Input: []byte(*it.Arguments)}}, nil
	case "function_call_output":
		if it.Output == nil || !open[it.CallID] {
			return nil, fmt.Errorf("no tool call found for function call output with call_id %s", it.CallID)
		}
		delete(open, it.CallID)
		return []llm.Block{{Type: llm.ToolResult, ToolUseID: it.CallID, Text: *it.Output}}, nil
	case "reasoning":
		if it.Summary == nil || it.Encrypted == "" {
			return nil, errors.New("missing required parameter")
		}
		return []llm.Block{{Type: llm.Thinking}}, nil
	}
	return nil, fmt.Errorf("invalid value: '%s'", it.Type)
}

type chatRequest struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	} `json:"tools"`
	Choice        string          `json:"tool_choice"`
	Format        json.RawMessage `json:"response_format"`
	Effort        string          `json:"reasoning_effort"`
	MaxTokens     int             `json:"max_tokens"`
	MaxCompletion int             `json:"max_completion_tokens"`
	CacheKey      string          `json:"prompt_cache_key"`
	Stream        bool            `json:"stream"`
	Options       json.RawMessage `json:"stream_options"`
}

type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	ID        string          `json:"tool_call_id"`
	Calls     []struct {
		Index    *int   `json:"index"` // of the stream; clients send it back
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func readChat(body []byte) (seen llmtest.Seen, err error) {
	var r chatRequest
	if err := decode(body, &r); err != nil {
		return seen, err
	}
	if !r.Stream || len(r.Messages) == 0 {
		return seen, errors.New("these tests want stream and messages")
	}
	if !slices.Contains([]string{"", "auto"}, r.Choice) {
		return seen, fmt.Errorf("these tests leave the choice of tools to the model, not %q", r.Choice)
	}
	seen.Model = r.Model
	for _, t := range r.Tools {
		spec, err := t.Function.spec()
		if err != nil || t.Type != "function" {
			return seen, fmt.Errorf("tool %s: %w", t.Function.Name, err)
		}
		seen.Tools = append(seen.Tools, spec)
	}
	var open []string // calls without a result; only results may follow
	for i, m := range r.Messages {
		texts, err := m.texts()
		switch {
		case err != nil:
			return seen, fmt.Errorf("messages[%d]: %w", i, err)
		case m.Role == "system" && i == 0:
			seen.System = texts[0].Text
			continue
		case m.Role == "tool":
			at := slices.Index(open, m.ID)
			if at < 0 || len(texts) != 1 {
				return seen, errors.New("messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
			}
			open = slices.Delete(open, at, at+1)
			seen.Blocks = append(seen.Blocks, llm.Block{Type: llm.ToolResult, ToolUseID: m.ID, Text: texts[0].Text})
			continue
		case len(open) > 0:
			return seen, errors.New("an assistant message with 'tool_calls' must be followed by tool messages")
		case m.Role != "user" && m.Role != "assistant":
			return seen, fmt.Errorf("invalid value: '%s'", m.Role)
		case len(texts) == 0 && len(m.Calls) == 0:
			return seen, fmt.Errorf("messages[%d]: content is missing", i)
		}
		seen.Blocks = append(seen.Blocks, texts...)
		for _, c := range m.Calls {
			open = append(open, c.ID)
			seen.Blocks = append(seen.Blocks, llm.Block{Type: llm.ToolUse, ToolUseID: c.ID, Name: c.Function.Name, Input: []byte(c.Function.Arguments)})
		}
	}
	if len(open) > 0 {
		return seen, errors.New("an assistant message with 'tool_calls' must be followed by tool messages")
	}
	return seen, nil
}

func (m chatMessage) texts() ([]llm.Block, error) {
	var (
		one   string
		parts []map[string]string
		out   []llm.Block
	)
	switch {
	case len(m.Content) == 0, string(m.Content) == "null":
		return nil, nil
	case json.Unmarshal(m.Content, &one) == nil:
		return []llm.Block{{Type: llm.Text, Text: one}}, nil
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p["type"] != "text" || p["text"] == "" {
			return nil, fmt.Errorf("part %v", p)
		}
		out = append(out, llm.Block{Type: llm.Text, Text: p["text"]})
	}
	return out, nil
}
