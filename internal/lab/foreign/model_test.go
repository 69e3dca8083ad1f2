package foreign_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A model is a loopback server for foreign agents. It speaks four protocols, and
// each loosely: what a foreign agent sends is not ours to judge, other than what
// our own clients send to the servers beside this package. It calls the skill as
// soon as it is offered the tool, and ends when it has what the tool gave.
type model struct {
	URL string

	mu      sync.Mutex // guards the fields below
	offered string     // description of the tool
	given   string     // what the tool answered
	paths   []string   // of all requests
}

const finished = "The skill was read."

func newModel(t *testing.T) *model {
	m := &model{}
	web := httptest.NewServer(m)
	t.Cleanup(web.Close)
	m.URL = web.URL
	return m
}

// A turn is what the model answers with: text, or a call of a tool.
type turn struct{ text, tool, namespace, input string }

// What the model calls: the skill, at once or by way of tools that keep the
// tools of servers out of the request.
const (
	input      = `{"skill":"greet","args":"Ann"}`
	searchName = "tool_search"
	callName   = "tool_call"
	deferred   = "mcp__knack__Skill"
)

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.paths = append(m.paths, r.Method+" "+r.URL.Path)
	m.mu.Unlock()
	var body map[string]any
	if r.Method != http.MethodPost || json.Unmarshal(data, &body) != nil {
		_, _ = io.WriteString(w, `{"object":"list","data":[],"models":[]}`)
		return
	}
	answer := m.turn(body)
	stream := body["stream"] == true
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		_, _ = io.WriteString(w, `{"input_tokens":1,"totalTokens":1}`)
	case strings.HasSuffix(path, "/chat/completions"):
		write(w, stream, chatAnswer(answer))
	case strings.HasSuffix(path, "/responses"):
		write(w, stream, responsesAnswer(answer))
	case strings.HasSuffix(path, "/messages"):
		write(w, stream, messagesAnswer(answer))
	case strings.HasSuffix(path, "enerateContent"):
		write(w, strings.HasSuffix(path, ":streamGenerateContent"), contentAnswer(answer))
	default:
		http.NotFound(w, r)
	}
}

// turn decides by what stands anywhere in a request.
func (m *model) turn(body map[string]any) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := turn{text: "Nothing is offered."}
	bridge, reviewed := false, ""
	walk(body, nil, func(o map[string]any, above []map[string]any) {
		name, _ := o["name"].(string)
		description, _ := o["description"].(string)
		switch {
		case result(o) && strings.Contains(fmt.Sprint(o), greeting):
			m.given = fmt.Sprint(o)
		case result(o) && strings.Contains(fmt.Sprint(o), deferred):
			reviewed = fmt.Sprint(o)
		case strings.HasSuffix(name, "Skill") && strings.Contains(description, "- greet: "):
			m.offered, out.tool, out.input = description, name, input
			for _, a := range above {
				if a["type"] == "namespace" {
					out.namespace, _ = a["name"].(string)
				}
			}
		case name == callName && description != "":
			bridge = true
		}
	})
	switch {
	case m.given != "":
		return turn{text: finished}
	case out.tool != "" || !bridge:
		return out
	case reviewed != "":
		m.offered = reviewed
		return turn{tool: callName, input: `{"name":"` + deferred + `","arguments":` + input + `}`}
	}
	return turn{tool: searchName, input: `{"query":"select:` + deferred + `"}`}
}

// result reports whether o brings what a tool answered, in one of the protocols.
func result(o map[string]any) bool {
	return o["type"] == "tool_result" || o["type"] == "function_call_output" || o["role"] == "tool" || o["functionResponse"] != nil
}

func walk(v any, above []map[string]any, f func(o map[string]any, above []map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v, above)
		for _, child := range v {
			walk(child, append(slices.Clone(above), v), f)
		}
	case []any:
		for _, child := range v {
			walk(child, above, f)
		}
	}
}

// An event is one of a stream; some protocols give them names.
type event struct {
	name string
	data any
}

// answers is one answer, as a stream and as a whole.
type answers struct {
	stream []event
	whole  any
	end    string // after the last event
}

func write(w http.ResponseWriter, stream bool, a answers) {
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a.whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range a.stream {
		if e.name != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, _ := json.Marshal(e.data)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
	_, _ = io.WriteString(w, a.end)
}

type object = map[string]any

func chatAnswer(t turn) answers {
	message, finish := object{"role": "assistant", "content": t.text}, "stop"
	if t.tool != "" {
		finish = "tool_calls"
		message = object{"role": "assistant", "content": nil, "tool_calls": []any{object{"index": 0, "id": "call_" + t.tool, "type": "function",
			"function": object{"name": t.tool, "arguments": t.input}}}}
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	chunk := func(delta object, finish any) event {
		return event{data: object{"id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5", "usage": usage,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}}
	}
	return answers{
		stream: []event{chunk(message, nil), chunk(object{}, finish)}, end: "data: [DONE]\n\n",
		whole: object{"id": "chat_1", "object": "chat.completion", "created": 1, "model": "gpt-5", "usage": usage,
			"choices": []any{object{"index": 0, "message": message, "finish_reason": finish}}},
	}
}

func responsesAnswer(t turn) answers {
	item := object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": t.text, "annotations": []any{}}}}
	if t.tool != "" {
		item = object{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": t.tool, "arguments": t.input, "status": "completed"}
		if t.namespace != "" {
			item["namespace"] = t.namespace
		}
	}
	whole := object{"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5", "output": []any{item},
		"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}}}
	stream := []event{}
	for _, e := range []object{
		{"type": "response.created", "response": object{"id": "resp_1", "object": "response", "status": "in_progress", "output": []any{}}},
		{"type": "response.output_item.added", "output_index": 0, "item": item},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": whole},
	} {
		stream = append(stream, event{e["type"].(string), e})
	}
	return answers{stream: stream, whole: whole}
}

func messagesAnswer(t turn) answers {
	block, empty, delta, stop := object{"type": "text", "text": t.text}, object{"type": "text", "text": ""},
		object{"type": "text_delta", "text": t.text}, "end_turn"
	if t.tool != "" {
		stop = "tool_use"
		block = object{"type": "tool_use", "id": "toolu_1", "name": t.tool, "input": json.RawMessage(t.input)}
		empty = object{"type": "tool_use", "id": "toolu_1", "name": t.tool, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": t.input}
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	whole := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []any{block}, "stop_reason": stop, "usage": usage}
	begin := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []any{}, "stop_reason": nil, "usage": usage}
	stream := []event{}
	for _, e := range []object{
		{"type": "message_start", "message": begin},
		{"type": "content_block_start", "index": 0, "content_block": empty},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage},
		{"type": "message_stop"},
	} {
		stream = append(stream, event{e["type"].(string), e})
	}
	return answers{stream: stream, whole: whole}
}

func contentAnswer(t turn) answers {
	part := object{"text": t.text}
	if t.tool != "" {
		part = object{"functionCall": object{"name": t.tool, "args": json.RawMessage(t.input)}}
	}
	whole := object{"candidates": []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "gemini"}
	return answers{stream: []event{{data: whole}}, whole: whole}
}
