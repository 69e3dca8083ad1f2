// Package anthropicserver is a loopback server that speaks the Anthropic
// Messages API as far as agents use it: it refuses what the API refuses, streams
// scripted replies, and fails in the ways in which networks and servers fail.
package anthropicserver

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/knack-skills/knack/llm/llmtest"
)

// Key is the only key that the server takes.
const Key = "test-key"

// A Server is a running server.
type Server struct {
	URL string

	t      testing.TB
	answer func(n int, r Request) llmtest.Reply
	mu     sync.Mutex
	seen   []Request
}

// A Request is one that the server got, read back from the wire.
type Request struct {
	llmtest.Seen
	Header http.Header
}

// Start starts a server that gives replies in order; one request more is an
// error of the test. It stops in a cleanup of t.
func Start(t testing.TB, replies ...llmtest.Reply) *Server {
	return StartFunc(t, func(n int, _ Request) llmtest.Reply {
		if n < len(replies) {
			return replies[n]
		}
		t.Errorf("request %d, but only %d replies are scripted", n+1, len(replies))
		return llmtest.Reply{Status: 400, Type: "invalid_request_error", Message: "no reply is scripted"}
	})
}

// StartFunc is [Start] with replies that depend on the request; n counts the
// requests from zero. answer is called by several goroutines.
func StartFunc(t testing.TB, answer func(n int, r Request) llmtest.Reply) *Server {
	s := &Server{t: t, answer: answer}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// Requests returns the requests so far that the server did not refuse.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Seen is Requests as the contract suite wants them.
func (s *Server) Seen() []llmtest.Seen {
	var out []llmtest.Seen
	for _, r := range s.Requests() {
		out = append(out, r.Seen)
	}
	return out
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		s.refuse(w, 404, "not_found_error", r.Method+" "+r.URL.Path)
		return
	}
	if r.Header.Get("x-api-key") != Key && r.Header.Get("Authorization") != "Bearer "+Key {
		s.refuse(w, 401, "authentication_error", "invalid x-api-key")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	seen, fault := read(body)
	if r.Header.Get("anthropic-version") == "" {
		fault = "anthropic-version: header is required"
	}
	if fault != "" {
		s.refuse(w, 400, "invalid_request_error", fault)
		return
	}
	s.mu.Lock()
	n := len(s.seen)
	req := Request{Seen: seen, Header: r.Header.Clone()}
	s.seen = append(s.seen, req)
	s.mu.Unlock()

	reply := s.answer(n, req)
	if reply.Status != 0 && reply.Status != 200 {
		fail(w, reply)
		return
	}
	stream(w, r, reply, seen.Model, n)
}

// refuse answers a request that the API would refuse; a test that wants to see
// that asks for it with a reply.
func (s *Server) refuse(w http.ResponseWriter, status int, kind, message string) {
	s.t.Errorf("anthropic server: status %d: %s: %s", status, kind, message)
	fail(w, llmtest.Reply{Status: status, Type: kind, Message: message})
}

func fail(w http.ResponseWriter, r llmtest.Reply) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("request-id", "req_test")
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.RetryAfter/time.Second)))
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(errorBody(r))
}

func errorBody(r llmtest.Reply) []byte {
	return encode(map[string]any{
		"type":       "error",
		"error":      map[string]any{"type": r.Type, "message": r.Message},
		"request_id": "req_test",
	})
}

// encode is for values of our own making, which always encode.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
