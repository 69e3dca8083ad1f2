// Package loopback is what the loopback servers of model providers share: they
// give scripted replies over HTTP as server-sent events, and fail in the ways in
// which networks and servers fail. A protocol says what requests and events
// look like.
package loopback

import (
	"encoding/json"
	"fmt"
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

// A Protocol is how a provider speaks.
type Protocol interface {
	// Read reads a request. A refusal has a status and says what is wrong.
	Read(r *http.Request, body []byte) (seen llmtest.Seen, refusal *llmtest.Reply)
	// Error is the body of an error.
	Error(r llmtest.Reply) []byte
	// Script is a reply of status 200; n counts the replies from zero.
	Script(r *http.Request, seen llmtest.Seen, reply llmtest.Reply, n int) Script
}

// A Script is what a server sends, in this order.
type Script struct {
	Begin []Event
	Parts [][]Event // the events of each part of the reply
	End   []Event   // not empty
}

// An Event is one server-sent event.
type Event struct {
	Name string // empty sends none
	Data []byte
}

func (e Event) bytes() []byte {
	if e.Name == "" {
		return fmt.Appendf(nil, "data: %s\n\n", e.Data)
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.Name, e.Data)
}

// A Server is a running server.
type Server struct {
	URL string

	t        testing.TB
	protocol Protocol
	answer   func(n int, r Request) llmtest.Reply
	mu       sync.Mutex // guards seen
	seen     []Request
}

// A Request is one that the server got, read back from the wire.
type Request struct {
	llmtest.Seen
	Path   string
	Header http.Header
}

// Start starts a server. The reply depends on the request; n counts the requests
// from zero, and answer is called by several goroutines. A request that the
// provider would refuse is an error of the test. The server stops in a cleanup
// of t.
func Start(t testing.TB, p Protocol, answer func(n int, r Request) llmtest.Reply) *Server {
	s := &Server{t: t, protocol: p, answer: answer}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// InOrder gives replies in order; one request more is an error of the test.
func InOrder(t testing.TB, replies []llmtest.Reply) func(int, Request) llmtest.Reply {
	return func(n int, _ Request) llmtest.Reply {
		if n < len(replies) {
			return replies[n]
		}
		t.Errorf("request %d, but only %d replies are scripted", n+1, len(replies))
		return llmtest.Reply{Status: 400, Type: "invalid_request_error", Message: "no reply is scripted"}
	}
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
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	seen, refusal := s.protocol.Read(r, body)
	if refusal != nil {
		s.t.Errorf("the server refuses: status %d: %s: %s\n%s", refusal.Status, refusal.Type, refusal.Message, body)
		s.fail(w, *refusal)
		return
	}
	seen.Body = body
	req := Request{Seen: seen, Path: r.URL.Path, Header: r.Header.Clone()}
	s.mu.Lock()
	n := len(s.seen)
	s.seen = append(s.seen, req)
	s.mu.Unlock()

	reply := s.answer(n, req)
	if reply.Status != 0 && reply.Status != http.StatusOK {
		s.fail(w, reply)
		return
	}
	s.stream(w, r, reply, s.protocol.Script(r, seen, reply, n))
}

func (s *Server) fail(w http.ResponseWriter, r llmtest.Reply) {
	w.Header().Set("Content-Type", "application/json")
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.RetryAfter/time.Second)))
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(s.protocol.Error(r)) // a client that has left is no fault
}

// stream sends a reply of status 200, with its fault.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, reply llmtest.Reply, script Script) {
	if reply.Fault == llmtest.Drop {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	out := sender{w, reply.Fault == llmtest.Slow}
	out.write(nil)
	if reply.Fault == llmtest.CutEarly {
		return
	}
	out.events(script.Begin)
	for i, part := range script.Parts {
		if i == len(script.Parts)-1 && (reply.Fault == llmtest.CutInside || reply.Fault == llmtest.Reset) {
			n := len(part) / 2
			out.events(part[:n])
			half := part[n].bytes()
			out.write(half[:len(half)/2])
			break
		}
		out.events(part)
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
		out.events([]Event{{Name: "error", Data: s.protocol.Error(reply)}})
		return
	case llmtest.Malformed:
		// Under a name that clients read: events of other names they may skip.
		out.events([]Event{{Name: script.End[0].Name, Data: []byte(`{"half":`)}})
	}
	out.events(script.End)
}

// A sender writes server-sent events.
type sender struct {
	w    http.ResponseWriter
	slow bool // each byte is a packet
}

func (s sender) events(list []Event) {
	for _, e := range list {
		b := e.bytes()
		if !s.slow {
			s.write(b)
			continue
		}
		for i := range b {
			s.write(b[i : i+1])
		}
	}
}

func (s sender) write(b []byte) {
	_, _ = s.w.Write(b) // a client that has left is no fault
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// Pieces divides a text as a model would send it: into several pieces where it
// is long enough, never inside a character.
func Pieces(s string) []string {
	var out []string
	for r := []rune(s); len(r) > 0; {
		n := min(len(r), max(3, len(s)/50))
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}

// Encode is for values of our own making, which always encode.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
