package openaiserver

import (
	"cmp"

	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// chatScript is a reply in chunks of Chat Completions.
func chatScript(model string, reply llmtest.Reply, n int) loopback.Script {
	chunk := func(choices []any, usage any) loopback.Event {
		return loopback.Event{Data: loopback.Encode(object{"id": id("chatcmpl", n, 0), "object": "chat.completion.chunk",
			"created": 1, "model": model + "-2026", "choices": choices, "usage": usage})}
	}
	delta := func(d object, finish any) loopback.Event {
		return chunk([]any{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	s := loopback.Script{Begin: []loopback.Event{delta(object{"role": "assistant", "content": "", "refusal": nil}, nil)}}
	calls := 0
	for i, p := range reply.Parts {
		var events []loopback.Event
		switch {
		case p.Call != nil:
			events = append(events, delta(object{"tool_calls": []any{object{"index": calls, "type": "function",
				"id": cmp.Or(p.Call.ID, id("call", n, i)), "function": object{"name": p.Call.Name, "arguments": ""}}}}, nil))
			for _, piece := range loopback.Pieces(string(p.Call.Input)) {
				events = append(events, delta(object{"tool_calls": []any{object{"index": calls, "function": object{"arguments": piece}}}}, nil))
			}
			calls++
		case p.Thinking != "":
			for _, piece := range loopback.Pieces(p.Thinking) {
				events = append(events, delta(object{"reasoning_content": piece}, nil))
			}
		default:
			for _, piece := range loopback.Pieces(p.Text) {
				events = append(events, delta(object{"content": piece}, nil))
			}
		}
		s.Parts = append(s.Parts, events)
	}
	finish := map[llm.StopReason]string{llm.ToolCalls: "tool_calls", llm.MaxTokens: "length", llm.Refusal: "content_filter"}[reply.Stop]
	u := reply.Usage
	s.End = []loopback.Event{
		delta(object{}, cmp.Or(finish, "stop")),
		chunk([]any{}, object{"prompt_tokens": input(u), "completion_tokens": u.OutputTokens, "total_tokens": input(u) + u.OutputTokens,
			"prompt_tokens_details": object{"cached_tokens": u.CacheReadInputTokens, "cache_write_tokens": u.CacheCreationInputTokens}}),
		{Data: []byte("[DONE]")},
	}
	return s
}

// input is the count that includes what the cache did.
func input(u llm.Usage) int {
	return u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens
}

// player numbers the events of a response, and collects its items.
type player struct {
	seq    int
	output []any
}

func (p *player) event(kind string, data object) loopback.Event {
	data["type"], data["sequence_number"] = kind, p.seq
	p.seq++
	return loopback.Event{Name: kind, Data: loopback.Encode(data)}
}

// item wraps the events between the begin and the end of an item.
func (p *player) item(begun, done object, between func(index int) []loopback.Event) []loopback.Event {
	index := len(p.output)
	events := []loopback.Event{p.event("response.output_item.added", object{"output_index": index, "item": begun})}
	events = append(events, between(index)...)
	p.output = append(p.output, done)
	return append(events, p.event("response.output_item.done", object{"output_index": index, "item": done}))
}

func (p *player) part(part llmtest.Part, n, i int) []loopback.Event {
	switch {
	case part.Call != nil:
		call := func(status, arguments string) object {
			return object{"type": "function_call", "id": id("fc", n, i), "status": status,
				"call_id": cmp.Or(part.Call.ID, id("call", n, i)), "name": part.Call.Name, "arguments": arguments}
		}
		return p.item(call("in_progress", ""), call("completed", string(part.Call.Input)), func(index int) (out []loopback.Event) {
			for _, piece := range loopback.Pieces(string(part.Call.Input)) {
				out = append(out, p.event("response.function_call_arguments.delta", object{"item_id": id("fc", n, i), "output_index": index, "delta": piece}))
			}
			return append(out, p.event("response.function_call_arguments.done",
				object{"item_id": id("fc", n, i), "output_index": index, "arguments": string(part.Call.Input)}))
		})
	case part.Thinking != "":
		item := func(summary ...any) object {
			return object{"type": "reasoning", "id": id("rs", n, i), "summary": append([]any{}, summary...), "encrypted_content": part.Signature}
		}
		return p.item(item(), item(object{"type": "summary_text", "text": part.Thinking}), func(index int) (out []loopback.Event) {
			for _, piece := range loopback.Pieces(part.Thinking) {
				out = append(out, p.event("response.reasoning_summary_text.delta",
					object{"item_id": id("rs", n, i), "output_index": index, "summary_index": 0, "delta": piece}))
			}
			return out
		})
	}
	item := func(status string, content ...any) object {
		return object{"type": "message", "id": id("msg", n, i), "status": status, "role": "assistant", "content": append([]any{}, content...)}
	}
	text := object{"type": "output_text", "text": part.Text, "annotations": []any{}}
	return p.item(item("in_progress"), item("completed", text), func(index int) (out []loopback.Event) {
		for _, piece := range loopback.Pieces(part.Text) {
			out = append(out, p.event("response.output_text.delta",
				object{"item_id": id("msg", n, i), "output_index": index, "content_index": 0, "delta": piece}))
		}
		return append(out, p.event("response.output_text.done",
			object{"item_id": id("msg", n, i), "output_index": index, "content_index": 0, "text": part.Text}))
	})
}

// responsesScript is a reply in events of Responses.
func responsesScript(model string, reply llmtest.Reply, n int) loopback.Script {
	p := &player{}
	response := func(status string) object {
		return object{"id": id("resp", n, 0), "object": "response", "created_at": 1, "status": status, "model": model + "-2026",
			"error": nil, "incomplete_details": nil, "output": append([]any{}, p.output...), "usage": nil}
	}
	s := loopback.Script{Begin: []loopback.Event{
		p.event("response.created", object{"response": response("in_progress")}),
		p.event("response.in_progress", object{"response": response("in_progress")}),
	}}
	for i, part := range reply.Parts {
		s.Parts = append(s.Parts, p.part(part, n, i))
	}
	status, reason := "completed", ""
	switch reply.Stop {
	case llm.MaxTokens:
		status, reason = "incomplete", "max_output_tokens"
	case llm.Refusal:
		status, reason = "incomplete", "content_filter"
	}
	end := response(status)
	if reason != "" {
		end["incomplete_details"] = object{"reason": reason}
	}
	u := reply.Usage
	end["usage"] = object{"input_tokens": input(u), "output_tokens": u.OutputTokens, "total_tokens": input(u) + u.OutputTokens,
		"input_tokens_details":  object{"cached_tokens": u.CacheReadInputTokens, "cache_write_tokens": u.CacheCreationInputTokens},
		"output_tokens_details": object{"reasoning_tokens": 0}}
	s.End = []loopback.Event{p.event("response."+status, object{"response": end})}
	return s
}
