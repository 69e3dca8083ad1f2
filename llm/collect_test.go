package llm_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/llm"
)

func TestCollect(t *testing.T) {
	thought := llm.Block{Type: llm.Thinking, Text: "hm", Opaque: json.RawMessage(`{"s":1}`)}
	m, _ := answers([]any{
		llm.ThinkingDelta{Text: "hm"}, llm.ThinkingDelta{Block: &thought},
		llm.TextDelta{}, llm.TextDelta{Text: "a"}, llm.TextDelta{Text: "b"},
		llm.ToolCall{ID: "1", Name: "A", Input: []byte(`{"x":1}`)},
		llm.TextDelta{},
		llm.ToolCall{ID: "2", Name: "B", Input: []byte(`{"x":`)},
		llm.ToolCall{ID: "3", Name: "C"},
		llm.TextDelta{},
		llm.TextDelta{Text: "c"},
		llm.Done{Stop: llm.ToolCalls, Usage: llm.Usage{OutputTokens: 7}},
	})
	a, err := llm.Collect(m.Stream(t.Context(), llm.Request{}))
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Message{Role: llm.Assistant, Content: []llm.Block{
		thought,
		{Type: llm.Text, Text: "ab"},
		{Type: llm.ToolUse, ToolUseID: "1", Name: "A", Input: json.RawMessage(`{"x":1}`)},
		{Type: llm.ToolUse, ToolUseID: "2", Name: "B", Input: json.RawMessage(`{"malformed_input":"{\"x\":"}`)},
		{Type: llm.ToolUse, ToolUseID: "3", Name: "C", Input: json.RawMessage(`{}`)},
		{Type: llm.Text, Text: "c"},
	}}
	if d := cmp.Diff(want, a.Message); d != "" {
		t.Error(d)
	}
	if string(a.Calls[1].Input) != `{"x":` || a.Done.Usage.OutputTokens != 7 || a.Text() != "abc" {
		t.Errorf("%+v", a)
	}
}

// TestCollectBroken: what came before an error is a message all the same.
func TestCollectBroken(t *testing.T) {
	failed := errors.New("broken")
	m, _ := answers([]any{llm.TextDelta{Text: "half"}, failed}, []any{llm.TextDelta{Text: "half"}})
	for _, want := range []error{failed, llm.ErrCut} {
		a, err := llm.Collect(m.Stream(t.Context(), llm.Request{}))
		if !errors.Is(err, want) || a.Done != nil || a.Text() != "half" || a.Message.Role != llm.Assistant {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

func TestObject(t *testing.T) {
	for in, want := range map[string]string{
		``: `{}`, ` `: `{}`, `{}`: `{}`, ` {"a": 1}`: ` {"a": 1}`,
		`[1]`: `{"malformed_input":"[1]"}`, `null`: `{"malformed_input":"null"}`, `{"a"`: `{"malformed_input":"{\"a\""}`,
	} {
		if got := string(llm.Object([]byte(in))); got != want {
			t.Errorf("Object(%q) = %s, want %s", in, got, want)
		}
	}
}
