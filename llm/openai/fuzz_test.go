package openai

import (
	"encoding/json"
	"testing"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// decodeAll feeds the lines of a text to a decoder, and checks what holds of
// every answer: one Done at most, at the end; calls with ids of their own and
// with input; blocks that survive a transcript.
func decodeAll(t *testing.T, d wire.Decoder, data [][]byte) {
	done := false
	ids := map[string]bool{}
	check := func(out []llm.Event) {
		for _, e := range out {
			if done {
				t.Fatalf("after Done came %#v", e)
			}
			switch e := e.(type) {
			case llm.Done:
				done = true
				if e.Usage.InputTokens < 0 || e.Stop == "" {
					t.Fatalf("%+v", e)
				}
			case llm.ToolCall:
				if e.ID == "" || ids[e.ID] || len(e.Input) == 0 {
					t.Fatalf("%+v", e)
				}
				ids[e.ID] = true
			case llm.ThinkingDelta:
				if e.Block != nil && !json.Valid(e.Block.Opaque) {
					t.Fatalf("%s", e.Block.Opaque)
				}
			}
		}
	}
	for i, line := range data {
		out, end, err := d.Feed(wire.Event{Data: line, Unterminated: i == len(data)-1, Whole: len(data) == 1})
		check(out)
		if err != nil || end {
			if (err == nil) != done {
				t.Fatalf("error %v, Done %v", err, done)
			}
			return
		}
	}
	out, err := d.End()
	check(out)
	if (err == nil) != done {
		t.Fatalf("at the end: error %v, Done %v", err, done)
	}
}

func FuzzChat(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"content":"a","reasoning_content":"b","tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{"}},{"function":{"arguments":{"a":1}}}]}}]}` +
		"\n" + `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":5}}}` + "\n[DONE]"))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"text":"a"}],"function_call":{"name":"f"}},"finish_reason":"length"}]}`))
	f.Add([]byte(`{"error":{"code":5}}`))
	f.Fuzz(func(t *testing.T, in []byte) { decodeAll(t, newChat("m"), splitLines(in)) })
}

func FuzzResponses(f *testing.F) {
	f.Add([]byte(`{"type":"response.output_text.delta","delta":"a"}` + "\n" +
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","encrypted_content":"E","summary":[{"text":"<"}]}}` + "\n" +
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"x"}}` + "\n" +
		`{"type":"response.completed","response":{"status":"completed","output":[{},{},{},{"type":"function_call","call_id":"x"}]}}`))
	f.Add([]byte(`{"status":"incomplete","output":[{"type":"message","content":[{"refusal":"no"}]}]}`))
	f.Add([]byte(`{"type":"error","message":"x"}`))
	f.Fuzz(func(t *testing.T, in []byte) { decodeAll(t, newResponses("m"), splitLines(in)) })
}
