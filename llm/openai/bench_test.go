package openai

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

func splitLines(in []byte) [][]byte { return bytes.Split(in, []byte("\n")) }

// long is a conversation of 1,000 messages, half of them calls and results.
func long() llm.Request {
	r := llm.Request{Model: "gpt-5.2", System: "Be brief.", Effort: "high"}
	for i := range 20 {
		r.Tools = append(r.Tools, llm.ToolSpec{Name: fmt.Sprintf("Tool%d", i), Description: "Does something useful.",
			InputSchema: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Where."}},"required":["path"]}`)})
	}
	text := string(bytes.Repeat([]byte("some words "), 20))
	for i := range 500 {
		id := fmt.Sprintf("call_%d", i)
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: text},
				{Type: llm.ToolUse, ToolUseID: id, Name: "Tool1", Input: []byte(`{"path":"a/b/c.go","limit":100}`)}}},
			llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: id, Text: text}}})
	}
	return r
}

func BenchmarkRequest(b *testing.B) {
	r := long()
	for name, build := range map[string]func() body{
		"Responses": func() body { return responsesRequest(r) },
		"Chat":      func() body { return chatRequest(r, true) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := wire.Encode(build()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
