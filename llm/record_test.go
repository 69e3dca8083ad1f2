package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/llm"
)

func read(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func TestRecord(t *testing.T) { // spec K-12
	dir := filepath.Join(t.TempDir(), "new", "records")
	m, _ := answers(fine, fine)
	rec := llm.Record(m, dir)
	_, err := llm.Collect(rec.Stream(t.Context(), llm.Request{
		AgentID: "main", Purpose: llm.Summary, Model: "opus", Effort: "high", System: "S <b>",
		Messages: []llm.Message{
			{Role: llm.User, Content: []llm.Block{{Type: llm.Text, Text: "hi"}}},
			{Role: llm.Assistant, Content: []llm.Block{
				{Type: llm.Thinking, Text: "hm", Opaque: json.RawMessage(`{}`)},
				{Type: llm.ToolUse, ToolUseID: "c", Name: "Read", Input: json.RawMessage(`{"file_path":"a"}`)}}},
			{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: "c", IsError: true}}},
		},
		Tools: []llm.ToolSpec{{Name: "Read", Description: "reads", InputSchema: json.RawMessage(`{"type":"object"}`)}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"agent_id": "main", "purpose": "summary", "model": "opus", "effort": "high", "system": "S <b>",
		"messages": []any{
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "hi"}}},
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "tool_use", "name": "Read", "tool_use_id": "c", "input": map[string]any{"file_path": "a"}}}},
			map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": "c", "text": "", "is_error": true}}},
		},
		"tools": []any{map[string]any{"name": "Read", "description": "reads", "input_schema": map[string]any{"type": "object"}}},
	}
	if d := cmp.Diff(want, read(t, filepath.Join(dir, "0001.json"))); d != "" {
		t.Error(d)
	}

	// Lists are never null, and what is not said has its name.
	if _, err := llm.Collect(rec.Stream(t.Context(), llm.Request{})); err != nil {
		t.Fatal(err)
	}
	empty := map[string]any{"agent_id": "main", "purpose": "turn", "model": "", "effort": "", "system": "",
		"messages": []any{}, "tools": []any{}}
	if d := cmp.Diff(empty, read(t, filepath.Join(dir, "0002.json"))); d != "" {
		t.Error(d)
	}
}

// TestRecordConcurrent: agents and processes share a directory; each request has
// one file, whole, and the numbers have no gap.
func TestRecordConcurrent(t *testing.T) {
	dir := t.TempDir()
	many := func() llm.Model {
		return llm.Record(model(func(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
			return func(yield func(llm.Event, error) bool) { yield(llm.Done{Stop: llm.EndTurn}, nil) }
		}), dir)
	}
	const n = 25
	var wg sync.WaitGroup
	for _, m := range []llm.Model{many(), many()} {
		for i := range n {
			wg.Go(func() {
				if _, err := llm.Collect(m.Stream(t.Context(), llm.Request{AgentID: fmt.Sprint(i)})); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	seen := map[any]int{}
	for i := range 2 * n {
		seen[read(t, filepath.Join(dir, fmt.Sprintf("%04d.json", i+1)))["agent_id"]]++
	}
	for i := range n {
		if seen[fmt.Sprint(i)] != 2 {
			t.Errorf("agent %d has %d records", i, seen[fmt.Sprint(i)])
		}
	}
}

// TestRecordOutsideRetry: one file per request, not per attempt.
func TestRecordOutsideRetry(t *testing.T) {
	dir := t.TempDir()
	m, asked := answers([]any{overloaded}, []any{overloaded}, fine)
	_, err := llm.Collect(llm.Record(llm.Retry(m, llm.RetryPolicy{Sleep: noSleep}), dir).Stream(t.Context(), llm.Request{}))
	files, globErr := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || globErr != nil || *asked != 3 || len(files) != 1 {
		t.Errorf("%v, %v: %d requests, files %v", err, globErr, *asked, files)
	}
}

// TestRecordFails: what cannot be recorded is not sent.
func TestRecordFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m, asked := answers(fine)
	if _, err := llm.Collect(llm.Record(m, file).Stream(t.Context(), llm.Request{})); err == nil || *asked != 0 {
		t.Errorf("%v, %d requests", err, *asked)
	}
}
