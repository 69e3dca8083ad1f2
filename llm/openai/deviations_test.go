package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
	"github.com/knack-skills/knack/llm/openai"
)

// raw asks a server that gives this body, whatever it is asked.
func raw(t *testing.T, api openai.API, contentType, body string) (llm.Answer, []llm.Event, error) {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(web.Close)
	var (
		a      llm.Answer
		events []llm.Event
	)
	for e, err := range client(t, web.URL+"/v1", api).Stream(t.Context(), llmtest.Request()) {
		if err != nil {
			return a, events, err
		}
		events = append(events, e)
		a.Add(e)
	}
	return a, events, nil
}

// lines makes a stream of chunks, without an end.
func lines(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "data: %s\n\n", c)
	}
	return b.String()
}

func choice(delta, finish string) string {
	f := "null"
	if finish != "" {
		f = `"` + finish + `"`
	}
	return `{"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + f + `}]}`
}

func pieces(list string) string { return choice(`{"tool_calls":[`+list+`]}`, "") }

// summary writes an answer down; ids that were made up are written as *.
func summary(a llm.Answer) string {
	s := a.Text()
	for _, c := range a.Calls {
		id := c.ID
		if strings.HasPrefix(id, "call_") && len(id) > 20 {
			id = "*"
		}
		s += fmt.Sprintf(" %s:%s(%s)", id, c.Name, c.Input)
	}
	return s + " " + string(a.Done.Stop)
}

// TestChatDeviations: what servers make of the protocol (spec A-2).
func TestChatDeviations(t *testing.T) {
	const done = "data: [DONE]\n\n"
	finish := lines(choice(`{}`, "tool_calls"))
	for _, tt := range []struct{ name, body, want string }{
		{"as documented", lines(choice(`{"role":"assistant","content":""}`, ""), choice(`{"content":"a"}`, ""), choice(`{}`, "stop")) + done, "a end_turn"},
		{"role alone, null content", lines(choice(`{"role":"assistant"}`, ""), choice(`{"content":null,"tool_calls":null}`, ""), choice(`{"content":"a"}`, "stop")) + done, "a end_turn"},
		{"no [DONE]", lines(choice(`{"content":"a"}`, "stop")), "a end_turn"},
		{"[DONE] without its blank line", lines(choice(`{"content":"a"}`, "stop")) + "data: [DONE]", "a end_turn"},
		{"no delta", lines(choice(`{"content":"a"}`, ""), `{"choices":[{"finish_reason":"stop"}]}`), "a end_turn"},
		{"chunks without choices", lines(`{"choices":[]}`, `{"choices":null}`, `{"prompt_filter_results":[]}`, choice(`{"content":"a"}`, "stop")), "a end_turn"},
		{"content in parts", lines(choice(`{"content":[{"type":"thinking","text":"no"},{"type":"text","text":"a"}]}`, "stop")), "a end_turn"},
		{"a second choice", lines(`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, choice(`{}`, "stop")), "a end_turn"},
		{"strange end", lines(choice(`{"content":"a"}`, "eos_token")), "a end_turn"},
		{"limit", lines(choice(`{"content":"a"}`, "model_length")), "a max_tokens"},
		{"refusal", lines(choice(`{"refusal":"I can't."}`, ""), choice(`{}`, "stop")), "I can't. refusal"},

		{"arguments in pieces", lines(pieces(`{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}`), pieces(`{"index":0,"function":{"arguments":"{\"a\""}}`), pieces(`{"index":0,"function":{"arguments":":1}"}}`)) + finish, ` x:f({"a":1}) tool_use`},
		{"parallel, mixed", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{"}},{"index":1,"id":"y","function":{"name":"g","arguments":"{"}}`), pieces(`{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"}"}}`)) + finish, ` x:f({}) y:g({}) tool_use`},
		{"no index", lines(pieces(`{"id":"x","function":{"name":"f","arguments":"{"}}`), pieces(`{"function":{"arguments":"}"}}`), pieces(`{"id":"y","function":{"name":"g","arguments":"{}"}}`)) + finish, ` x:f({}) y:g({}) tool_use`},
		{"no index, id in each piece", lines(pieces(`{"id":"x","function":{"name":"f","arguments":"{"}}`), pieces(`{"id":"x","function":{"name":"f","arguments":"}"}}`)) + finish, ` x:f({}) tool_use`},
		{"no index and no id", lines(pieces(`{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{\"b\":2}"}}`)) + finish, ` *:f({}) *:f({"b":2}) tool_use`},
		{"index zero for all", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}`), pieces(`{"index":0,"id":"y","function":{"name":"g","arguments":"{}"}}`)) + finish, ` x:f({}) y:g({}) tool_use`},
		{"a new id in each piece", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{"}}`), pieces(`{"index":0,"id":"y","function":{"arguments":"}"}}`)) + finish, ` x:f({}) tool_use`},
		{"no id", lines(pieces(`{"index":0,"function":{"name":"f","arguments":"{}"}}`), pieces(`{"index":1,"id":"","function":{"name":"g","arguments":"{}"}}`)) + finish, ` *:f({}) *:g({}) tool_use`},
		{"one id for two", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"x","function":{"name":"g","arguments":"{}"}}`)) + finish, ` x:f({}) *:g({}) tool_use`},
		{"name in each piece", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{"}}`), pieces(`{"index":0,"function":{"name":"f","arguments":"}"}}`)) + finish, ` x:f({}) tool_use`},
		{"null arguments", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":null}}`)) + finish, ` x:f({}) tool_use`},
		{"arguments as an object", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":{"n":9007199254740993}}}`)) + finish, ` x:f({"n":9007199254740993}) tool_use`},
		{"ends with stop", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}`), choice(`{}`, "stop")), ` x:f({}) tool_use`},
		{"tool_calls without one", lines(choice(`{"content":"a"}`, "tool_calls")), "a end_turn"},
		{"half a call at the limit", lines(pieces(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"y","function":{"name":"g","arguments":"{\"a"}}`), choice(`{}`, "length")), ` x:f({}) max_tokens`},
		{"the old form", lines(choice(`{"function_call":{"name":"f","arguments":"{"}}`, ""), choice(`{"function_call":{"arguments":"}"}}`, "function_call")), ` *:f({}) tool_use`},
		{"no stream", `{"model":"m","choices":[{"message":{"role":"assistant","content":"a","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, `a x:f({}) tool_use`},
	} {
		a, _, err := raw(t, openai.Chat, "text/plain", tt.body)
		if err != nil || a.Done == nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := summary(a); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestChatUsage(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       llm.Usage
	}{
		{"missing", lines(choice(`{}`, "stop")), llm.Usage{}},
		{"null", lines(`{"choices":[{"finish_reason":"stop"}],"usage":null}`), llm.Usage{}},
		{"with the end", lines(`{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`), llm.Usage{InputTokens: 5, OutputTokens: 2}},
		{"in each chunk", lines(`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`, `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`), llm.Usage{InputTokens: 5, OutputTokens: 2}},
		{"no details", lines(choice(`{}`, "stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":null}}`), llm.Usage{InputTokens: 5, OutputTokens: 2}},
		{"another name", lines(choice(`{}`, "stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_cache_hit_tokens":3}}`), llm.Usage{InputTokens: 2, OutputTokens: 2, CacheReadInputTokens: 3}},
		{"more cached than there is", lines(choice(`{}`, "stop"), `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":9}}}`), llm.Usage{OutputTokens: 2, CacheReadInputTokens: 9}},
	} {
		a, _, err := raw(t, openai.Chat, "text/event-stream", tt.body)
		if err != nil || a.Done.Usage != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, a.Done, err, tt.want)
		}
	}
}

// TestErrorsInside: an error that comes with status 200 is one, and nothing that
// breaks off is an answer.
func TestErrorsInside(t *testing.T) {
	text := lines(choice(`{"content":"a"}`, ""))
	created := lines(`{"type":"response.created","response":{}}`)
	for _, tt := range []struct {
		name      string
		api       openai.API
		body      string
		kind      string // of an APIError; empty wants ErrCut
		message   string
		retryable bool
	}{
		{"nothing", openai.Chat, "", "", "cut off", true},
		{"[DONE] without an end", openai.Chat, text + "data: [DONE]\n\n", "", "cut off", true},
		{"half a chunk", openai.Chat, text + `data: {"choices":[{"finish_reason":"st`, "", "middle", true},
		{"no JSON", openai.Chat, text + "data: what?\n\n" + lines(choice(`{}`, "stop")), "", "what?", true},
		{"error chunk", openai.Chat, text + lines(`{"error":{"message":"overloaded","type":"server_error","code":null}}`), "server_error", "overloaded", true},
		{"error chunk with choices", openai.Chat, text + lines(`{"error":{"code":502,"message":"upstream"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`), "", "upstream", true},
		{"error event in text", openai.Chat, text + "event: error\ndata: oh no\n\n", "", "oh no", false},
		{"error as the reason", openai.Chat, lines(choice(`{}`, "insufficient_system_resource")), "server_error", "insufficient_system_resource", true},
		{"error instead of a stream", openai.Chat, `{"error":{"message":"no such model","type":"not_found_error"}}`, "not_found_error", "no such model", false},
		{"other JSON", openai.Chat, `{"detail":"Not Found"}`, "", "Not Found", false},
		{"page", openai.Chat, `<!doctype html><title>Login</title>`, "", "Login", false},

		{"responses: nothing more", openai.Responses, created, "", "cut off", true},
		{"responses: flat error", openai.Responses, created + lines(`{"type":"error","code":"server_error","message":"boom","param":null}`), "server_error", "boom", true},
		{"responses: nested error", openai.Responses, created + lines(`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"long"}}`), "context_length_exceeded", "long", false},
		{"responses: failed", openai.Responses, created + lines(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}`), "rate_limit_exceeded", "slow", true},
		{"responses: quota", openai.Responses, created + lines(`{"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"pay"}}}`), "insufficient_quota", "pay", false},
		{"responses: error instead of a stream", openai.Responses, `{"error":{"message":"no","type":"x"}}`, "x", "no", false},
		{"responses: bad item", openai.Responses, created + lines(`{"type":"response.output_item.done","output_index":0,"item":5}`), "", "cannot be read", true},
	} {
		a, _, err := raw(t, tt.api, "text/event-stream", tt.body)
		if err == nil || a.Done != nil || !strings.Contains(err.Error(), tt.message) || llm.Retryable(err) != tt.retryable {
			t.Errorf("%s: %v (retryable %v)", tt.name, err, llm.Retryable(err))
		}
		var api *llm.APIError
		if tt.kind != "" && (!errors.As(err, &api) || api.Type != tt.kind) {
			t.Errorf("%s: %#v", tt.name, err)
		}
	}
}

// TestResponsesEvents: what the loopback server does not send.
func TestResponsesEvents(t *testing.T) {
	end := func(response string) string {
		return lines(`{"type":"response.completed","response":` + response + `}`)
	}
	const call = `{"type":"function_call","call_id":"x","name":"f","arguments":"{}","status":"completed"}`
	for _, tt := range []struct{ name, body, want string }{
		{"items only at the end", end(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},` + call + `]}`), "a x:f({}) tool_use"},
		{"items twice", lines(`{"type":"response.output_item.done","output_index":0,"item":`+call+`}`) + end(`{"status":"completed","output":[`+call+`]}`), " x:f({}) tool_use"},
		{"two messages", lines(`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, `{"type":"response.output_text.delta","output_index":1,"delta":"b"}`, `{"type":"response.output_text.delta","output_index":1,"delta":"c"}`) + end(`{"status":"completed"}`), "a\n\nbc end_turn"},
		{"refusal", lines(`{"type":"response.refusal.delta","output_index":0,"delta":"I can't."}`) + end(`{"status":"completed"}`), "I can't. refusal"},
		{"half a call at the limit", lines(`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"x","name":"f","arguments":"{\"a","status":"incomplete"}}`, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`), " max_tokens"},
		{"unknown events and items", lines(`{"type":"response.new.delta","delta":{"a":1}}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call"}}`, `{"type":"keepalive"}`) + end(`{"status":"completed","output":null,"usage":null}`), " end_turn"},
		{"no stream", `{"object":"response","status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, "a end_turn"},
	} {
		a, _, err := raw(t, openai.Responses, "text/event-stream", tt.body)
		if err != nil || a.Done == nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := summary(a); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if a.Done.Model != "model-1" {
			t.Errorf("%s: model %q", tt.name, a.Done.Model)
		}
	}
}

// TestSummaryParts: the parts of a summary are shown apart, and the item that
// goes back holds them as they were.
func TestSummaryParts(t *testing.T) {
	const item = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a <b>"},{"type":"summary_text","text":"c"}],"encrypted_content":"E","status":null}`
	a, events, err := raw(t, openai.Responses, "text/event-stream", lines(
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a <b>"}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"c"}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
		`{"type":"response.completed","response":{"status":"completed"}}`))
	if err != nil {
		t.Fatal(err)
	}
	var shown string
	for _, e := range events {
		if d, ok := e.(llm.ThinkingDelta); ok {
			shown += d.Text
		}
	}
	if shown != "a <b>\n\nc" {
		t.Errorf("shown %q", shown)
	}
	if len(a.Message.Content) != 1 {
		t.Fatalf("content = %+v", a.Message.Content)
	}
	var kept struct {
		Type, ID  string
		Summary   []struct{ Text string }
		Encrypted string `json:"encrypted_content"`
	}
	if err := json.Unmarshal(a.Message.Content[0].Opaque, &kept); err != nil {
		t.Fatal(err)
	}
	if kept.Type+kept.ID+kept.Encrypted != "reasoningrs_1E" || len(kept.Summary) != 2 || kept.Summary[0].Text != "a <b>" {
		t.Errorf("kept = %+v", kept)
	}
}
