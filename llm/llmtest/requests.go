package llmtest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// conversation is a request with everything that an agent sends.
func conversation() llm.Request {
	block := func(b ...llm.Block) []llm.Block { return b }
	return llm.Request{
		AgentID: "main", Model: "model-1", System: "Be \"brief\" & <exact>.", MaxTokens: 1234,
		Tools: []llm.ToolSpec{
			{Name: "Look", Description: "Looks at a file.", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
			{Name: "Wait", Description: "Waits.", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
		Messages: []llm.Message{
			{Role: llm.User, Content: block(llm.Block{Type: llm.Text, Text: "one"}, llm.Block{Type: llm.Text, Text: "two"})},
			{Role: llm.Assistant, Content: block(
				llm.Block{Type: llm.Text, Text: "I look."},
				llm.Block{Type: llm.ToolUse, ToolUseID: "call_1", Name: "Look", Input: json.RawMessage(`{"path":"a <b> & c"}`)},
				llm.Block{Type: llm.ToolUse, ToolUseID: "call_2", Name: "Wait", Input: json.RawMessage(`{}`)})},
			{Role: llm.User, Content: block(
				llm.Block{Type: llm.ToolResult, ToolUseID: "call_1", Text: "contents"},
				llm.Block{Type: llm.ToolResult, ToolUseID: "call_2", Text: "no waiting here", IsError: true},
				llm.Block{Type: llm.Text, Text: "a skill's instructions"})},
			{Role: llm.User, Content: block(llm.Block{Type: llm.Text, Text: "go on"})},
		},
		CacheAt: []int{0, 3},
	}
}

func testRequest(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Parts: []Part{text("ok")}})
	r := conversation()
	ask(t, s, r)
	seen := s.Seen()
	if len(seen) != 1 {
		t.Fatalf("the server saw %d requests", len(seen))
	}
	got := seen[0]
	if got.Model != r.Model || got.System != r.System {
		t.Errorf("model %q, system %q", got.Model, got.System)
	}
	compareTools(t, got.Tools, r.Tools)
	var want []llm.Block
	for _, m := range r.Messages {
		want = append(want, m.Content...)
	}
	if len(got.Blocks) != len(want) {
		t.Fatalf("%d blocks, want %d: %+v", len(got.Blocks), len(want), got.Blocks)
	}
	for i := range want {
		compareBlock(t, got.Blocks[i], want[i])
	}
}

func compareTools(t *testing.T, got, want []llm.ToolSpec) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("tools = %+v", got)
	}
	for i, w := range want {
		if got[i].Name != w.Name || got[i].Description != w.Description || !sameJSON(got[i].InputSchema, w.InputSchema) {
			t.Errorf("tool %d = %s %q %s", i, got[i].Name, got[i].Description, got[i].InputSchema)
		}
	}
}

// compareBlock allows a provider to add words to a result, since some have no
// mark for one that failed.
func compareBlock(t *testing.T, got, want llm.Block) {
	t.Helper()
	same := got.Type == want.Type && got.Name == want.Name && strings.Contains(got.Text, want.Text)
	if want.Type == llm.Text {
		same = same && got.Text == want.Text
	}
	if got.ToolUseID != "" {
		same = same && got.ToolUseID == want.ToolUseID
	}
	if want.Type == llm.ToolUse {
		same = same && sameJSON(got.Input, want.Input)
	}
	if want.Type == llm.ToolResult {
		same = got.Type == want.Type && strings.Contains(got.Text, want.Text)
	}
	if !same {
		t.Errorf("block %+v (input %s), want %+v (input %s)", got, got.Input, want, want.Input)
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// testSchema: the schema reaches the provider, and the answer is text.
func testSchema(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Parts: []Part{text(`{"ok":true}`)}})
	r := Request()
	r.Schema = json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean","description":"a telling word: zwieback"}},"required":["ok"],"additionalProperties":false}`)
	a := ask(t, s, r)
	if a.Text() != `{"ok":true}` || a.Done.Stop != llm.EndTurn {
		t.Errorf("text %q, Stop %q", a.Text(), a.Done.Stop)
	}
	if seen := s.Seen(); len(seen) != 1 || !bytes.Contains(seen[0].Body, []byte("zwieback")) {
		t.Error("the schema did not reach the server")
	}
}

// testUnchanged: a request is a value, and equal requests are equal bytes, since
// the provider's prompt cache compares them.
func testUnchanged(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Parts: []Part{text("ok")}}, Reply{Parts: []Part{text("ok")}})
	r := conversation()
	ask(t, s, r)
	if !reflect.DeepEqual(r, conversation()) {
		t.Errorf("the provider changed the request: %+v", r)
	}
	ask(t, s, conversation())
	if seen := s.Seen(); len(seen) != 2 || !bytes.Equal(seen[0].Body, seen[1].Body) {
		t.Error("equal requests became different bytes")
	}
}
