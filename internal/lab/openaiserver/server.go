// Package openaiserver is a loopback server that speaks the Responses and Chat
// Completions APIs of OpenAI as far as agents use them. It refuses what the APIs
// refuse.
package openaiserver

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm/llmtest"
)

// Key is the only key that the server takes.
const Key = "test-key"

// Start starts a server that gives replies in order; one request more is an
// error of the test. The base URL for clients is its URL with /v1. It stops in a
// cleanup of t.
func Start(t testing.TB, replies ...llmtest.Reply) *loopback.Server {
	return loopback.Start(t, protocol{}, loopback.InOrder(t, replies))
}

// StartFunc is [Start] with replies that depend on the request; n counts the
// requests from zero. answer is called by several goroutines.
func StartFunc(t testing.TB, answer func(n int, r loopback.Request) llmtest.Reply) *loopback.Server {
	return loopback.Start(t, protocol{}, answer)
}

// The paths of the two APIs.
const (
	responsesPath = "/v1/responses"
	chatPath      = "/v1/chat/completions"
)

type protocol struct{}

// object is a JSON object.
type object = map[string]any

// Read implements loopback.Protocol.
func (protocol) Read(r *http.Request, body []byte) (llmtest.Seen, *llmtest.Reply) {
	if r.Header.Get("Authorization") != "Bearer "+Key {
		return llmtest.Seen{}, refusal(401, "invalid_api_key", "Incorrect API key provided")
	}
	var (
		seen llmtest.Seen
		err  error
	)
	switch {
	case r.Method != http.MethodPost:
		return seen, refusal(405, "", "only POST")
	case r.URL.Path == responsesPath:
		seen, err = readResponses(body)
	case r.URL.Path == chatPath:
		seen, err = readChat(body)
	default:
		return seen, refusal(404, "", "Invalid URL ("+r.URL.Path+")")
	}
	if err != nil {
		return seen, refusal(400, "invalid_request_error", err.Error())
	}
	return seen, nil
}

func refusal(status int, kind, message string) *llmtest.Reply {
	return &llmtest.Reply{Status: status, Type: kind, Message: message}
}

// Error implements loopback.Protocol.
func (protocol) Error(r llmtest.Reply) []byte {
	return loopback.Encode(object{"error": object{"message": r.Message, "type": r.Type, "param": nil, "code": nil}})
}

// Script implements loopback.Protocol.
func (protocol) Script(r *http.Request, seen llmtest.Seen, reply llmtest.Reply, n int) loopback.Script {
	if r.URL.Path == chatPath {
		return chatScript(seen.Model, reply, n)
	}
	return responsesScript(seen.Model, reply, n)
}

func id(kind string, n, i int) string { return fmt.Sprintf("%s_%d_%d", kind, n, i) }
