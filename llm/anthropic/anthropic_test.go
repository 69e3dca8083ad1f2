package anthropic_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/anthropic"
	"github.com/knack-skills/knack/llm/llmtest"
)

// server is a server with a model that is connected to it.
type server struct {
	*loopback.Server
	model *anthropic.Model
}

func (s server) Model() llm.Model { return s.model }

func start(t *testing.T, replies ...llmtest.Reply) server {
	t.Helper()
	return connect(t, anthropicserver.Start(t, replies...))
}

func connect(t *testing.T, s *loopback.Server) server {
	t.Helper()
	m, err := anthropic.New(anthropic.Options{Key: anthropicserver.Key, BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return server{s, m}
}

func TestContract(t *testing.T) { // spec A-2
	llmtest.Run(t, llmtest.Provider{Start: func(t *testing.T, replies ...llmtest.Reply) llmtest.Server {
		return start(t, replies...)
	}})
}

// ask sends a small request to s.
func ask(t *testing.T, s server, change func(*llm.Request)) (llm.Answer, error) {
	t.Helper()
	r := llmtest.Request()
	if change != nil {
		change(&r)
	}
	return llm.Collect(s.model.Stream(t.Context(), r))
}

func TestHeaders(t *testing.T) {
	s := start(t, llmtest.Reply{}, llmtest.Reply{})
	for _, model := range []string{"claude-opus-5-5", "claude-opus-5-5[1m]"} {
		if _, err := ask(t, s, func(r *llm.Request) { r.Model = model }); err != nil {
			t.Fatal(err)
		}
	}
	for i, beta := range []string{"", "context-1m-2025-08-07"} {
		r := s.Requests()[i]
		if r.Model != "claude-opus-5-5" || r.Header.Get("anthropic-beta") != beta {
			t.Errorf("model %q with the beta features %q", r.Model, r.Header.Get("anthropic-beta"))
		}
		// Servers that speak the protocol look at the one or the other.
		if r.Header.Get("x-api-key") != anthropicserver.Key || r.Header.Get("Authorization") != "Bearer "+anthropicserver.Key {
			t.Errorf("keys = %q, %q", r.Header.Get("x-api-key"), r.Header.Get("Authorization"))
		}
	}
}

// TestEnvironment: options are explicit; the SDK's own ideas do not count.
func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_API_KEY", "other")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "other")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "x-leak: yes")
	s := start(t, llmtest.Reply{})
	if _, err := ask(t, s, nil); err != nil {
		t.Fatal(err)
	}
	if h := s.Requests()[0].Header; h.Get("x-leak") != "" {
		t.Error("headers came from the environment")
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		o  anthropic.Options
		ok bool
	}{
		{anthropic.Options{}, false},
		{anthropic.Options{Key: "k"}, true},
		{anthropic.Options{BaseURL: "http://localhost:8080"}, true},
		{anthropic.Options{BaseURL: "https://gateway.example/anthropic/", Key: "k"}, true},
		{anthropic.Options{BaseURL: "gateway.example", Key: "k"}, false},
		{anthropic.Options{BaseURL: "ftp://gateway.example", Key: "k"}, false},
		{anthropic.Options{BaseURL: "http://[::1", Key: "k"}, false},
	} {
		if _, err := anthropic.New(tt.o); (err == nil) != tt.ok {
			t.Errorf("New(%+v): %v", tt.o, err)
		}
	}
}

// raw is a model of a server that answers in its own way.
func raw(t *testing.T, answer http.HandlerFunc) llm.Model {
	t.Helper()
	web := httptest.NewServer(answer)
	t.Cleanup(web.Close)
	m, err := anthropic.New(anthropic.Options{Key: "k", BaseURL: web.URL + "/gateway"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestUnknown: what the API may add does not disturb, and what some servers do
// differently is understood.
func TestUnknown(t *testing.T) {
	const stream = `event: message_start
data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"cache_read_input_tokens":2}}}

: a comment

event: news
data: {"type":"news","whatever":[1]}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"ZGF0YQ==","extra":1}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"hologram","input":7}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"hologram_delta","text":"no"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"be"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"gun"}}

event: content_block_delta
data: {"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"lost"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t","name":"A","input":{"whole":true}}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":10,"output_tokens":5,"cache_creation_input_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

`
	m := raw(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/gateway/v1/messages" {
			t.Errorf("path = %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, stream)
	})
	a, err := llm.Collect(m.Stream(t.Context(), llmtest.Request()))
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Block{
		{Type: llm.Thinking, Opaque: []byte(`{"type":"redacted_thinking","data":"ZGF0YQ==","extra":1}`)},
		{Type: llm.Text, Text: "begun"},
		{Type: llm.ToolUse, ToolUseID: "t", Name: "A", Input: []byte(`{"whole":true}`)},
	}
	if d := cmp.Diff(want, a.Message.Content); d != "" {
		t.Error(d)
	}
	if usage := (llm.Usage{InputTokens: 10, OutputTokens: 5, CacheReadInputTokens: 2, CacheCreationInputTokens: 3}); a.Done.Usage != usage {
		t.Errorf("usage = %+v", a.Done.Usage)
	}
}

// TestBetween: what proxies and others between us and the API answer.
func TestBetween(t *testing.T) {
	for _, tt := range []struct {
		name      string
		answer    http.HandlerFunc
		status    int
		kind      string
		message   string
		retryable bool
	}{
		{"an HTML page", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(502)
			fmt.Fprint(w, "<h1>Bad gateway</h1>\n<p>more")
		}, 502, "", "<h1>Bad gateway</h1>", true},
		{"no body", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 503, "", "", true},
		{"a redirection", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
		}, 307, "", "not followed", false},
		{"a limit of spending", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(429)
			fmt.Fprint(w, `{"type":"error","error":{"type":"rate_limit_error","message":"pay","details":{"error_code":"contract_spend_limit_reached"}}}`)
		}, 429, "contract_spend_limit_reached", "pay", false},
	} {
		_, err := llm.Collect(raw(t, tt.answer).Stream(t.Context(), llmtest.Request()))
		var api *llm.APIError
		if !errors.As(err, &api) || api.Status != tt.status || api.Type != tt.kind || !strings.Contains(api.Message, tt.message) || llm.Retryable(err) != tt.retryable {
			t.Errorf("%s: %#v", tt.name, err)
		}
	}
}

// TestUnreachable: an error names the host and is worth a retry.
func TestUnreachable(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	m, err := anthropic.New(anthropic.Options{Key: "secret-key", BaseURL: web.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = llm.Collect(m.Stream(t.Context(), llmtest.Request()))
	if err == nil || !llm.Retryable(err) || !strings.Contains(err.Error(), strings.TrimPrefix(web.URL, "http://")) || strings.Contains(err.Error(), "secret-key") {
		t.Errorf("error = %v", err)
	}
}

func TestSilence(t *testing.T) { // a server that falls silent ends the answer
	s := anthropicserver.Start(t, llmtest.Reply{Parts: []llmtest.Part{{Text: "so far"}}, Fault: llmtest.Hang})
	m, err := anthropic.New(anthropic.Options{Key: anthropicserver.Key, BaseURL: s.URL, Silence: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	llmtest.Silence(t, m)
}
