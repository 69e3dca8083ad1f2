package anthropicserver

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// Script implements loopback.Protocol.
func (protocol) Script(_ *http.Request, seen llmtest.Seen, reply llmtest.Reply, n int) loopback.Script {
	s := loopback.Script{
		Begin: []loopback.Event{
			event("message_start", object{"message": object{
				"id": fmt.Sprintf("msg_%d", n+1), "type": "message", "role": "assistant", "model": seen.Model,
				"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
				"usage": object{
					"input_tokens": reply.Usage.InputTokens, "output_tokens": 1,
					"cache_read_input_tokens":     reply.Usage.CacheReadInputTokens,
					"cache_creation_input_tokens": reply.Usage.CacheCreationInputTokens,
				}}}),
			event("ping", object{}),
		},
		End: []loopback.Event{
			event("message_delta", object{
				"delta": object{"stop_reason": cmp.Or(reply.Stop, llm.EndTurn), "stop_sequence": nil},
				"usage": object{"output_tokens": reply.Usage.OutputTokens},
			}),
			event("message_stop", object{}),
		},
	}
	for i, p := range reply.Parts {
		s.Parts = append(s.Parts, block(i, p))
	}
	return s
}

func event(kind string, data object) loopback.Event {
	data["type"] = kind
	return loopback.Event{Name: kind, Data: loopback.Encode(data)}
}

// block is a content block.
func block(i int, p llmtest.Part) []loopback.Event {
	var begin object
	var deltas []object
	pieces := func(kind, field, text string) {
		for _, piece := range loopback.Pieces(text) {
			deltas = append(deltas, object{"type": kind, field: piece})
		}
	}
	switch {
	case p.Call != nil:
		begin = object{"type": "tool_use", "id": p.Call.ID, "name": p.Call.Name, "input": object{}}
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": ""})
		pieces("input_json_delta", "partial_json", string(p.Call.Input))
	case p.Thinking != "" || p.Signature != "":
		begin = object{"type": "thinking", "thinking": "", "signature": ""}
		pieces("thinking_delta", "thinking", p.Thinking)
		deltas = append(deltas, object{"type": "signature_delta", "signature": p.Signature})
	default:
		begin = object{"type": "text", "text": ""}
		pieces("text_delta", "text", p.Text)
	}
	events := []loopback.Event{event("content_block_start", object{"index": i, "content_block": begin})}
	for _, d := range deltas {
		events = append(events, event("content_block_delta", object{"index": i, "delta": d}))
	}
	return append(events, event("content_block_stop", object{"index": i}))
}
