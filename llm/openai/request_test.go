package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/internal/lab/openaiserver"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
	"github.com/knack-skills/knack/llm/openai"
)

// TestWhichAPI: Responses is for OpenAI itself (spec A-2).
func TestWhichAPI(t *testing.T) {
	for _, tt := range []struct {
		base  string
		api   openai.API
		model string
		want  string // of the requested URL
	}{
		{"", openai.Auto, "gpt-5.2", "https://api.openai.com/v1/responses"},
		{"", openai.Auto, "openai-chat/gpt-5.2", "https://api.openai.com/v1/chat/completions"},
		{"", openai.Chat, "gpt-5.2", "https://api.openai.com/v1/chat/completions"},
		{"https://eu.api.openai.com/v1/", openai.Auto, "gpt-5.2", "https://eu.api.openai.com/v1/responses"},
		{"https://api.openai.com.example.com/v1", openai.Auto, "gpt-5.2", "https://api.openai.com.example.com/v1/chat/completions"},
		{"http://localhost:11434/v1", openai.Auto, "openai/gpt-oss", "http://localhost:11434/v1/chat/completions"},
		{"http://localhost:8000/v1", openai.Responses, "m", "http://localhost:8000/v1/responses"},
		{"https://x.example/openai?api-version=1", openai.Auto, "m", "https://x.example/openai/chat/completions?api-version=1"},
	} {
		var got, model string
		c, err := openai.New(openai.Options{BaseURL: tt.base, API: tt.api, HTTPClient: &http.Client{Transport: tripper(func(r *http.Request) (*http.Response, error) {
			var body struct{ Model string }
			got, model = r.URL.String(), ""
			if r.Header.Get("Authorization") != "" {
				t.Error("a key was sent that nobody gave")
			}
			err := json.NewDecoder(r.Body).Decode(&body)
			model = body.Model
			return nil, fmt.Errorf("seen: %w", err)
		})}})
		if err != nil {
			t.Fatal(err)
		}
		r := llmtest.Request()
		r.Model = tt.model
		if _, err := llm.Collect(c.Stream(t.Context(), r)); err == nil {
			t.Error("no error")
		}
		if got != tt.want || model != strings.TrimPrefix(tt.model, "openai-chat/") {
			t.Errorf("%q %q %q: %s for %q", tt.base, tt.api, tt.model, got, model)
		}
	}
	for _, o := range []openai.Options{{BaseURL: "api.openai.com"}, {API: "completions"}} {
		if _, err := openai.New(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sent returns the body of a request, without what is the same in all.
func sent(t *testing.T, api openai.API, r llm.Request) map[string]any {
	t.Helper()
	s := start(t, api, llmtest.Reply{})
	if _, err := llm.Collect(s.Model().Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(s.Seen()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func parsed(t *testing.T, s string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return v
}

func TestFields(t *testing.T) {
	const loose = `{"type":"object","properties":{"a":{"type":"string"}}}`
	const strict = `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{},"required":[],"additionalProperties":false}}},"required":["a"],"additionalProperties":false}`
	for _, tt := range []struct {
		name   string
		api    openai.API
		change func(*llm.Request)
		want   string // fields that must be so; null means absent
	}{
		{"defaults", openai.Responses, func(*llm.Request) {}, `{"store":false,"stream":true,"include":["reasoning.encrypted_content"],"reasoning":null,"max_output_tokens":null,"text":null}`},
		{"effort", openai.Responses, func(r *llm.Request) { r.Effort = "high" }, `{"reasoning":{"effort":"high","summary":"auto"}}`},
		{"effort in tokens", openai.Responses, func(r *llm.Request) { r.Effort = "10000" }, `{"reasoning":{"effort":"medium","summary":"auto"}}`},
		{"strange effort", openai.Responses, func(r *llm.Request) { r.Effort = "heroic" }, `{"reasoning":null}`},
		{"no reasoning", openai.Responses, func(r *llm.Request) { r.Effort, r.Model = "high", "gpt-4.1" }, `{"reasoning":null,"include":null}`},
		{"small limit", openai.Responses, func(r *llm.Request) { r.MaxTokens = 5 }, `{"max_output_tokens":16}`},
		{"schema", openai.Responses, func(r *llm.Request) { r.Schema = []byte(loose) }, `{"text":{"format":{"type":"json_schema","name":"answer","strict":false,"schema":` + loose + `}}}`},
		{"strict schema", openai.Responses, func(r *llm.Request) { r.Schema = []byte(strict) }, `{"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":` + strict + `}}}`},
		{"no tools", openai.Responses, func(r *llm.Request) { r.Tools = nil }, `{"tools":null}`},
		{"defaults", openai.Chat, func(*llm.Request) {}, `{"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":null,"max_tokens":null,"max_completion_tokens":null,"prompt_cache_key":null}`},
		{"limit", openai.Chat, func(r *llm.Request) { r.MaxTokens = 5 }, `{"max_tokens":5,"max_completion_tokens":null}`},
		{"effort", openai.Chat, func(r *llm.Request) { r.Effort = "max" }, `{"reasoning_effort":"high"}`},
		{"schema", openai.Chat, func(r *llm.Request) { r.Schema = []byte(loose) }, `{"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":false,"schema":` + loose + `}}}`},
		{"tool without properties", openai.Chat, func(r *llm.Request) {
			r.Tools = []llm.ToolSpec{{Name: "a", InputSchema: []byte(`{"type":"object"}`)}, {Name: "b"}}
		}, `{"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"b","parameters":{"type":"object","properties":{}}}}]}`},
		{"no system", openai.Chat, func(r *llm.Request) { r.System = "" }, `{"messages":[{"role":"user","content":"hello"}]}`},
	} {
		r := llmtest.Request()
		tt.change(&r)
		got := sent(t, tt.api, r)
		for k, want := range parsed(t, tt.want).(map[string]any) {
			if d := cmp.Diff(want, got[k]); d != "" {
				t.Errorf("%s %s: %s (-want +got)\n%s", tt.api, tt.name, k, d)
			}
		}
	}
}

// history has what other providers, interruptions and errors leave behind.
func history() llm.Request {
	r := llmtest.Request()
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Content: []llm.Block{
			{Type: llm.Thinking, Opaque: []byte(`{"type":"reasoning","id":"rs_1","summary":null,"encrypted_content":"E1"}`)},
			{Type: llm.Thinking, Text: "of another", Opaque: []byte(`{"type":"thinking","signature":"S"}`)},
			{Type: llm.Thinking, Text: "I should look.", Opaque: []byte(`{"type":"reasoning_content"}`)},
			{Type: llm.ToolUse, ToolUseID: "x", Name: "Look"},
		}},
		llm.Message{Role: llm.User, Content: []llm.Block{
			{Type: llm.Text, Text: "a reminder"},
			{Type: llm.ToolResult, ToolUseID: "x", Text: "gone", IsError: true}}},
		llm.Message{Role: llm.Assistant, Content: []llm.Block{
			{Type: llm.Text, Text: "Then"}, {Type: llm.Text, Text: ""},
			{Type: llm.Thinking, Opaque: []byte(`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"E2"}`)}}},
		llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Thinking, Text: "x", Opaque: []byte(`broken`)}}},
		llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.Text}, {Type: llm.Text, Text: "go on"}}})
	return r
}

func TestHistory(t *testing.T) {
	for _, tt := range []struct {
		api         openai.API
		field, want string
	}{
		{openai.Responses, "input", `[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]},
			{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"E1"},
			{"type":"function_call","call_id":"x","name":"Look","arguments":"{}"},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"a reminder"}]},
			{"type":"function_call_output","call_id":"x","output":"Error: gone"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Then"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}]`},
		{openai.Chat, "messages", `[
			{"role":"system","content":"Be brief."},
			{"role":"user","content":"hello"},
			{"role":"assistant","content":null,"reasoning_content":"I should look.","tool_calls":[{"id":"x","type":"function","function":{"name":"Look","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"x","content":"Error: gone"},
			{"role":"user","content":"a reminder"},
			{"role":"assistant","content":"Then"},
			{"role":"user","content":"go on"}]`},
	} {
		if d := cmp.Diff(parsed(t, tt.want), sent(t, tt.api, history())[tt.field]); d != "" {
			t.Errorf("%s (-want +got)\n%s", tt.api, d)
		}
	}
}

// TestCacheKey: it depends on what stands at the beginning of all requests, and
// on nothing else.
func TestCacheKey(t *testing.T) {
	key := func(change func(*llm.Request)) any {
		r := llmtest.Request()
		change(&r)
		return sent(t, openai.Responses, r)["prompt_cache_key"]
	}
	base := key(func(*llm.Request) {})
	if base == nil || base != key(func(r *llm.Request) { *r = history() }) {
		t.Errorf("key = %v changes with the messages", base)
	}
	if base == key(func(r *llm.Request) { r.System = "Be brief" }) || base == key(func(r *llm.Request) { r.Tools[0].Description += "." }) {
		t.Error("the key does not change with system prompt and tools")
	}
}

// TestGiveWay: a refusal of an optional field ends with a request that has it
// in another form, or not at all.
func TestGiveWay(t *testing.T) {
	for _, tt := range []struct {
		name     string
		api      openai.API
		refusals []string
		want     string // fields of the last request
	}{
		{"summary", openai.Responses, []string{"Your organization must be verified to generate reasoning summaries."}, `{"reasoning":{"effort":"max"}}`},
		{"effort, step by step", openai.Responses, []string{"Unsupported value: 'max' (reasoning.effort)", "Unsupported value: 'xhigh' (reasoning.effort)"}, `{"reasoning":{"effort":"high","summary":"auto"}}`},
		{"no reasoning at all", openai.Responses, []string{"reasoning.effort", "reasoning.effort", "reasoning.effort is not supported", "Encrypted content is not supported with this model."}, `{"reasoning":null,"include":null}`},
		{"foreign reasoning", openai.Responses, []string{"The encrypted content for item rs_1 could not be verified."}, `{"include":["reasoning.encrypted_content"]}`},
		{"cache key", openai.Responses, []string{"Unknown parameter: 'prompt_cache_key'."}, `{"prompt_cache_key":null}`},
		{"limit", openai.Chat, []string{"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}, `{"max_tokens":null,"max_completion_tokens":99}`},
		{"usage", openai.Chat, []string{"Unrecognized request argument supplied: stream_options"}, `{"stream_options":null}`},
		{"effort", openai.Chat, []string{`"llama3" does not support thinking`}, `{"reasoning_effort":null}`},
		{"thoughts", openai.Chat, []string{"reasoning_content is not allowed"}, `{}`},
		{"schema", openai.Chat, []string{"This response_format type is unavailable now"}, `{"response_format":null}`},
	} {
		s := openaiserver.StartFunc(t, func(n int, _ loopback.Request) llmtest.Reply {
			if n < len(tt.refusals) {
				return llmtest.Reply{Status: 400, Type: "invalid_request_error", Message: tt.refusals[n]}
			}
			return llmtest.Reply{}
		})
		r := history()
		r.Effort, r.MaxTokens, r.Schema = "max", 99, []byte(`{"type":"object","description":"zwieback"}`)
		if _, err := llm.Collect(client(t, s.URL+"/v1", tt.api).Stream(t.Context(), r)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		seen := s.Seen()
		last := seen[len(seen)-1].Body
		got := parsed(t, string(last)).(map[string]any)
		for k, want := range parsed(t, tt.want).(map[string]any) {
			if d := cmp.Diff(want, got[k]); d != "" {
				t.Errorf("%s: %s (-want +got)\n%s", tt.name, k, d)
			}
		}
		if len(seen) != len(tt.refusals)+1 {
			t.Errorf("%s: %d requests", tt.name, len(seen))
		}
		if tt.name == "foreign reasoning" && strings.Contains(string(last), "E1") || tt.name == "thoughts" && strings.Contains(string(last), "I should") {
			t.Errorf("%s: it went again: %s", tt.name, last)
		}
		if !strings.Contains(string(last), "zwieback") {
			t.Errorf("%s: the schema is gone", tt.name)
		}
	}
}

// TestGiveWayEnds: a server that refuses everything is asked a few times only.
func TestGiveWayEnds(t *testing.T) {
	const all = "max_tokens max_completion_tokens stream_options reasoning_effort reasoning_content prompt_cache_key response_format " +
		"could not be verified encrypted content reasoning.summary reasoning.effort"
	for _, tt := range []struct {
		api            openai.API
		status, number int // of requests
	}{{openai.Responses, 400, 8}, {openai.Chat, 400, 6}, {openai.Chat, 422, 6}, {openai.Chat, 500, 1}, {openai.Responses, 401, 1}} {
		s := openaiserver.StartFunc(t, func(int, loopback.Request) llmtest.Reply {
			return llmtest.Reply{Status: tt.status, Type: "invalid_request_error", Message: all}
		})
		r := history()
		r.Effort, r.MaxTokens, r.Schema = "max", 99, []byte(`{"type":"object"}`)
		if _, err := llm.Collect(client(t, s.URL+"/v1", tt.api).Stream(t.Context(), r)); err == nil || !strings.Contains(err.Error(), "stream_options") {
			t.Errorf("%+v: %v", tt, err)
		}
		if n := len(s.Seen()); n != tt.number {
			t.Errorf("%+v: %d requests", tt, n)
		}
	}
}

// TestChatThinking: reasoning in clear is shown, and goes back with the calls
// that it led to.
func TestChatThinking(t *testing.T) {
	s := start(t, openai.Chat, llmtest.Reply{Stop: llm.ToolCalls, Parts: []llmtest.Part{{Thinking: "Where is it?"},
		{Call: &llm.ToolCall{ID: "x", Name: "Look", Input: []byte(`{}`)}}}}, llmtest.Reply{})
	r := llmtest.Request()
	a, err := llm.Collect(s.Model().Stream(t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, a.Message, llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: "x", Text: "here"}}})
	if _, err := llm.Collect(s.Model().Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Seen()[1].Body); !strings.Contains(body, `"reasoning_content":"Where is it?"`) {
		t.Errorf("body = %s", body)
	}
}

// TestBadTool: what cannot be sent is an error that names the reason.
func TestBadTool(t *testing.T) {
	s := start(t, openai.Chat)
	r := llmtest.Request()
	r.Tools[0].InputSchema = []byte(`{"type":`)
	if _, err := llm.Collect(s.Model().Stream(t.Context(), r)); err == nil || llm.Retryable(err) {
		t.Errorf("error = %v", err)
	}
}
