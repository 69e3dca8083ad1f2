package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// long is a conversation of n messages: questions, calls and their results.
func long(n int) llm.Request {
	r := llm.Request{AgentID: "main", Model: "claude-opus-5-5", Effort: "high", System: strings.Repeat("You are careful. ", 200), CacheAt: []int{n / 2, n - 1}}
	for i := range 20 {
		r.Tools = append(r.Tools, llm.ToolSpec{Name: fmt.Sprintf("Tool%d", i), Description: strings.Repeat("Does things. ", 30),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"file_path":{"type":"string","description":"the file"},"limit":{"type":"integer"}},"required":["file_path"]}`)})
	}
	for i := range n {
		id := fmt.Sprintf("toolu_%d", i/4)
		var m llm.Message
		switch i % 4 {
		case 0:
			m = llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.Text, Text: "Please look at the \"next\" file & tell me <what> it does."}}}
		case 1:
			m = llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: "I will read it."},
				{Type: llm.ToolUse, ToolUseID: id, Name: "Tool1", Input: json.RawMessage(`{"file_path":"/src/main.go","limit":200}`)}}}
		case 2:
			m = llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: id,
				Text: strings.Repeat("\tif err != nil { return fmt.Errorf(\"x: %w\", err) }\n", 10)}}}
		case 3:
			m = llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: strings.Repeat("It wraps an error. ", 10)}}}
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}

// BenchmarkRequest1000: the body of a request with 1,000 messages.
func BenchmarkRequest1000(b *testing.B) {
	r := long(1000)
	body, _, err := encode(r)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, _, err := encode(r); err != nil {
			b.Fatal(err)
		}
	}
}
