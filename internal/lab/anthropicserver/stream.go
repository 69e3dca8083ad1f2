package anthropicserver

import (
	"fmt"
	"net/http"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// object is a JSON object.
type object = map[string]any

// A sender writes server-sent events.
type sender struct {
	w    http.ResponseWriter
	slow bool
}

func (s sender) event(kind string, data object) {
	data["type"] = kind
	s.raw(kind, encode(data))
}

func (s sender) raw(kind string, data []byte) {
	b := fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data)
	if !s.slow {
		s.write(b)
		return
	}
	for i := range b {
		s.write(b[i : i+1])
	}
}

func (s sender) write(b []byte) {
	_, _ = s.w.Write(b) // a client that has left is no fault
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// stream sends a reply of status 200, with its fault.
func stream(w http.ResponseWriter, r *http.Request, reply llmtest.Reply, model string, n int) {
	if reply.Fault == llmtest.Drop {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	s := sender{w: w, slow: reply.Fault == llmtest.Slow}
	s.write(nil)
	if reply.Fault == llmtest.CutEarly {
		return
	}
	s.begin(reply, model, n)
	for i, p := range reply.Parts {
		inside := (reply.Fault == llmtest.CutInside || reply.Fault == llmtest.Reset) && i == len(reply.Parts)-1
		s.part(i, p, inside)
	}
	switch reply.Fault {
	case llmtest.CutInside, llmtest.CutLate:
		return
	case llmtest.Reset:
		panic(http.ErrAbortHandler)
	case llmtest.Hang:
		<-r.Context().Done()
		return
	case llmtest.ErrorEvent:
		s.raw("error", errorBody(reply))
		return
	case llmtest.Malformed:
		s.raw("content_block_delta", []byte(`{"type":"content_block_delta","index":`))
	}
	s.end(reply)
}

func (s sender) begin(reply llmtest.Reply, model string, n int) {
	s.event("message_start", object{"message": object{
		"id": fmt.Sprintf("msg_%d", n+1), "type": "message", "role": "assistant", "model": model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{
			"input_tokens": reply.Usage.InputTokens, "output_tokens": 1,
			"cache_read_input_tokens":     reply.Usage.CacheReadInputTokens,
			"cache_creation_input_tokens": reply.Usage.CacheCreationInputTokens,
		}}})
	s.event("ping", object{})
}

func (s sender) end(reply llmtest.Reply) {
	stop := reply.Stop
	if stop == "" {
		stop = llm.EndTurn
	}
	s.event("message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": reply.Usage.OutputTokens},
	})
	s.event("message_stop", object{})
}

// part sends a content block; inside leaves its last piece and its end away.
func (s sender) part(i int, p llmtest.Part, inside bool) {
	var (
		begin  object
		deltas []object
	)
	switch {
	case p.Call != nil:
		begin = object{"type": "tool_use", "id": p.Call.ID, "name": p.Call.Name, "input": object{}}
		for _, c := range append([]string{""}, pieces(string(p.Call.Input))...) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": c})
		}
	case p.Thinking != "" || p.Signature != "":
		begin = object{"type": "thinking", "thinking": "", "signature": ""}
		for _, c := range pieces(p.Thinking) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": c})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": p.Signature})
	default:
		begin = object{"type": "text", "text": ""}
		for _, c := range pieces(p.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": c})
		}
	}
	s.event("content_block_start", object{"index": i, "content_block": begin})
	if inside {
		deltas = deltas[:len(deltas)-1]
	}
	for _, d := range deltas {
		s.event("content_block_delta", object{"index": i, "delta": d})
	}
	if !inside {
		s.event("content_block_stop", object{"index": i})
	}
}

// pieces cuts a text into up to three, between characters.
func pieces(s string) []string {
	r := []rune(s)
	if len(r) < 6 {
		return []string{s}
	}
	third := len(r) / 3
	return []string{string(r[:third]), string(r[third : 2*third]), string(r[2*third:])}
}
