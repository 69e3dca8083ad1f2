// Package anthropicserver is a loopback server that speaks the Anthropic
// Messages API as far as agents use it. It refuses what the API refuses.
package anthropicserver

import (
	"net/http"
	"testing"

	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm/llmtest"
)

// Key is the only key that the server takes.
const Key = "test-key"

// Start starts a server that gives replies in order; one request more is an
// error of the test. It stops in a cleanup of t.
func Start(t testing.TB, replies ...llmtest.Reply) *loopback.Server {
	return loopback.Start(t, protocol{}, loopback.InOrder(t, replies))
}

// StartFunc is [Start] with replies that depend on the request; n counts the
// requests from zero. answer is called by several goroutines.
func StartFunc(t testing.TB, answer func(n int, r loopback.Request) llmtest.Reply) *loopback.Server {
	return loopback.Start(t, protocol{}, answer)
}

type protocol struct{}

// object is a JSON object.
type object = map[string]any

// Read implements loopback.Protocol.
func (protocol) Read(r *http.Request, body []byte) (llmtest.Seen, *llmtest.Reply) {
	refuse := func(status int, kind, message string) (llmtest.Seen, *llmtest.Reply) {
		return llmtest.Seen{}, &llmtest.Reply{Status: status, Type: kind, Message: message}
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		return refuse(404, "not_found_error", r.Method+" "+r.URL.Path)
	case r.Header.Get("x-api-key") != Key && r.Header.Get("Authorization") != "Bearer "+Key:
		return refuse(401, "authentication_error", "invalid x-api-key")
	case r.Header.Get("anthropic-version") == "":
		return refuse(400, "invalid_request_error", "anthropic-version: header is required")
	}
	seen, fault := read(body)
	if fault != "" {
		return refuse(400, "invalid_request_error", fault)
	}
	return seen, nil
}

// Error implements loopback.Protocol.
func (protocol) Error(r llmtest.Reply) []byte {
	return loopback.Encode(object{
		"type":       "error",
		"error":      object{"type": r.Type, "message": r.Message},
		"request_id": "req_test",
	})
}
