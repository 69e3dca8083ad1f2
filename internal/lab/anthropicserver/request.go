package anthropicserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// The request as the API documents it; other fields are refused.
type (
	wireRequest struct {
		Model        string        `json:"model"`
		MaxTokens    int           `json:"max_tokens"`
		Stream       bool          `json:"stream"`
		System       []wireBlock   `json:"system"`
		Messages     []wireMessage `json:"messages"`
		Tools        []wireTool    `json:"tools"`
		OutputConfig struct {
			Effort string `json:"effort"`
			Format *struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
		Thinking *struct {
			Type         string `json:"type"`
			BudgetTokens int    `json:"budget_tokens"`
			Display      string `json:"display"`
		} `json:"thinking"`
	}
	wireMessage struct {
		Role    llm.Role        `json:"role"`
		Content []wireBlockJSON `json:"content"`
	}
	wireBlockJSON struct {
		wireBlock
		raw json.RawMessage
	}
	wireBlock struct {
		Type         string          `json:"type"`
		Text         string          `json:"text"`
		ID           string          `json:"id"`
		Name         string          `json:"name"`
		Input        json.RawMessage `json:"input"`
		ToolUseID    string          `json:"tool_use_id"`
		Content      wireText        `json:"content"`
		IsError      bool            `json:"is_error"`
		Thinking     string          `json:"thinking"`
		Signature    string          `json:"signature"`
		Data         string          `json:"data"`
		CacheControl *struct {
			Type string `json:"type"`
		} `json:"cache_control"`
	}
	// A wireText is the content of a tool result: a text, or blocks of text.
	wireText string
	wireTool struct {
		Name         string          `json:"name"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"input_schema"`
		CacheControl *struct {
			Type string `json:"type"`
		} `json:"cache_control"`
	}
)

// UnmarshalJSON keeps the text beside what it says.
func (b *wireBlockJSON) UnmarshalJSON(data []byte) error {
	b.raw = slices.Clone(data)
	return strict(data, &b.wireBlock)
}

// UnmarshalJSON reads either form.
func (c *wireText) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*c = wireText(text)
		return nil
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := strict(data, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		if b.Type != "text" {
			return fmt.Errorf("content.type: %q", b.Type)
		}
		*c += wireText(b.Text)
	}
	return nil
}

func strict(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// read understands a request, or says why the API would refuse it.
func read(body []byte) (seen llmtest.Seen, fault string) {
	var w wireRequest
	if err := strict(body, &w); err != nil {
		return seen, err.Error()
	}
	for _, check := range []func(wireRequest) string{checkTop, checkThinking, checkTools, checkMarks, checkMessages} {
		if fault := check(w); fault != "" {
			return seen, fault
		}
	}
	seen = llmtest.Seen{Model: w.Model}
	for _, b := range w.System {
		seen.System += b.Text
	}
	for _, t := range w.Tools {
		seen.Tools = append(seen.Tools, llm.ToolSpec{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	for _, m := range w.Messages {
		for _, b := range m.Content {
			seen.Blocks = append(seen.Blocks, b.ours())
		}
	}
	return seen, ""
}

func (b wireBlockJSON) ours() llm.Block {
	switch b.Type {
	case "tool_use":
		return llm.Block{Type: llm.ToolUse, ToolUseID: b.ID, Name: b.Name, Input: b.Input}
	case "tool_result":
		return llm.Block{Type: llm.ToolResult, ToolUseID: b.ToolUseID, Text: string(b.Content), IsError: b.IsError}
	case "thinking", "redacted_thinking":
		return llm.Block{Type: llm.Thinking, Text: b.Thinking, Opaque: b.raw}
	}
	return llm.Block{Type: llm.Text, Text: b.Text}
}

func checkTop(w wireRequest) string {
	switch {
	case w.Model == "" || strings.ContainsAny(w.Model, "[]"):
		return fmt.Sprintf("model: %q", w.Model)
	case w.MaxTokens < 1:
		return "max_tokens: must be at least 1"
	case !w.Stream:
		return "stream: the agent always streams"
	case len(w.Messages) == 0:
		return "messages: at least one message is required"
	case !slices.Contains([]string{"", "low", "medium", "high", "xhigh", "max"}, w.OutputConfig.Effort):
		return fmt.Sprintf("output_config.effort: %q", w.OutputConfig.Effort)
	}
	if f := w.OutputConfig.Format; f != nil && (f.Type != "json_schema" || !json.Valid(f.Schema) || string(f.Schema) == "null") {
		return "output_config.format: a schema is required"
	}
	return ""
}

func checkThinking(w wireRequest) string {
	switch t := w.Thinking; {
	case t == nil || t.Type == "adaptive" && t.BudgetTokens == 0:
		return ""
	case t.Type != "enabled":
		return fmt.Sprintf("thinking.type: %q", t.Type)
	case t.BudgetTokens < 1024 || t.BudgetTokens >= w.MaxTokens:
		return "thinking.budget_tokens: must be at least 1024 and less than max_tokens"
	}
	return ""
}

func checkTools(w wireRequest) string {
	names := map[string]bool{}
	for _, t := range w.Tools {
		var s struct {
			Type string `json:"type"`
		}
		if t.Name == "" || names[t.Name] || json.Unmarshal(t.InputSchema, &s) != nil || s.Type != "object" {
			return fmt.Sprintf("tools: %q needs a name of its own and an input_schema of type object", t.Name)
		}
		names[t.Name] = true
	}
	return ""
}

func checkMarks(w wireRequest) string {
	n := 0
	for _, t := range w.Tools {
		if t.CacheControl != nil {
			n++
		}
	}
	for _, b := range w.System {
		if b.CacheControl != nil {
			n++
		}
	}
	for _, m := range w.Messages {
		for _, b := range m.Content {
			if b.CacheControl != nil {
				n++
			}
			if b.CacheControl != nil && (b.Type == "thinking" || b.Type == "redacted_thinking") {
				return "cache_control: thinking cannot have one"
			}
		}
	}
	if n > 4 {
		return fmt.Sprintf("a maximum of 4 blocks with cache_control may be provided. Found %d", n)
	}
	return ""
}

// checkMessages: alternating roles, no empty text, every call answered at once.
func checkMessages(w wireRequest) string {
	id := regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	var open []string // calls that wait for their results
	for i, m := range w.Messages {
		want := llm.User
		if i%2 == 1 {
			want = llm.Assistant
		}
		if m.Role != want || len(m.Content) == 0 {
			return fmt.Sprintf("messages.%d: role %q with %d blocks", i, m.Role, len(m.Content))
		}
		results, over := []string{}, false
		for _, b := range m.Content {
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) == "":
				return fmt.Sprintf("messages.%d: text content blocks must contain non-whitespace text", i)
			case b.Type == "tool_result" && over:
				return fmt.Sprintf("messages.%d: tool_result blocks must come first", i)
			case b.Type == "tool_result":
				results = append(results, b.ToolUseID)
				continue
			}
			over = true
		}
		slices.Sort(open)
		slices.Sort(results)
		if !slices.Equal(open, results) {
			return fmt.Sprintf("messages.%d: the calls %q have the results %q", i, open, results)
		}
		open = nil
		for _, b := range m.Content {
			if b.Type != "tool_use" {
				continue
			}
			if m.Role != llm.Assistant || !id.MatchString(b.ID) || !bytes.HasPrefix(b.Input, []byte("{")) {
				return fmt.Sprintf("messages.%d: bad tool_use %q with input %s", i, b.ID, b.Input)
			}
			open = append(open, b.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("the calls %q have no results", open)
	}
	return ""
}
