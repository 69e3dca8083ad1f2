// Package oauthserver is an MCP server that lets only those in who are signed in,
// and the issuer of its tokens beside it, on loopback addresses of their own. It
// is as strict as the protocol allows, and says what it has seen.
package oauthserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options is how the servers differ from good ones. The zero value is a good one.
type Options struct {
	Lifetime  time.Duration // of a token; zero means an hour
	Scopes    []string      // that the server demands of everybody
	CallScope string        // that a call of a tool demands besides
	NoRefresh bool          // tokens are not renewed
	Client    [2]string     // the one client that there is, with its secret; no other registers
	Basic     bool          // clients prove who they are in the header
	Iss       bool          // answers name the issuer
	// Edit changes a document before it is sent: "resource", "issuer", "token",
	// "register".
	Edit func(name string, doc map[string]any)
	// Before answers a request of either server instead of it, when it says so.
	Before func(w http.ResponseWriter, r *http.Request) (done bool)
}

// A Server is both servers.
type Server struct {
	URL    string // of the MCP server
	Issuer string

	o      Options
	mcp    http.Handler
	mu     sync.Mutex // guards the fields below
	client map[string]registered
	codes  map[string]code
	tokens map[string]token
	renews map[string]token // by refresh token
	seen   map[string]int
	pages  []map[string]string
	auth   []string // Authorization headers that reached the MCP server
}

type registered struct {
	secret    string
	redirects []string
}

type code struct{ client, redirect, challenge, resource, scope string }

type token struct {
	client, resource, scope string
	ends                    time.Time
}

// Start starts both; they end with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Lifetime == 0 {
		o.Lifetime = time.Hour
	}
	s := &Server{o: o, client: map[string]registered{}, codes: map[string]code{}, tokens: map[string]token{}, renews: map[string]token{}, seen: map[string]int{}}
	if o.Client[0] != "" {
		s.client[o.Client[0]] = registered{secret: o.Client[1]}
	}
	s.mcp = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return library() }, &mcp.StreamableHTTPOptions{Stateless: true})
	issuer := httptest.NewServer(s.before(s.issuer()))
	server := httptest.NewServer(s.before(http.HandlerFunc(s.server)))
	s.Issuer, s.URL = issuer.URL, server.URL+"/mcp"
	t.Cleanup(issuer.Close)
	t.Cleanup(server.Close)
	return s
}

// library has one tool.
func library() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says it again"}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "echo: " + i.Text}}}, nil, nil
	})
	return s
}

// Seen returns how often something happened: the path of a request, or a grant.
func (s *Server) Seen(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[what]
}

// Pages returns the questions of the pages that were opened.
func (s *Server) Pages() []map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pages)
}

// Authorizations returns the Authorization headers that the MCP server was sent.
func (s *Server) Authorizations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.auth)
}

// Forget makes all tokens worthless, and the refresh tokens too if they are
// named.
func (s *Server) Forget(refresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
	if refresh {
		clear(s.renews)
	}
}

func (s *Server) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen[r.URL.Path]++
		s.mu.Unlock()
		if s.o.Before == nil || !s.o.Before(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// server is the MCP server.
func (s *Server) server(w http.ResponseWriter, r *http.Request) {
	origin := "http://" + r.Host
	if r.URL.Path == "/.well-known/oauth-protected-resource/mcp" {
		s.send(w, http.StatusOK, "resource", map[string]any{"resource": origin + "/mcp", "authorization_servers": []string{s.Issuer}, "scopes_supported": s.o.Scopes})
		return
	}
	if r.URL.Path != "/mcp" {
		http.NotFound(w, r)
		return
	}
	h := r.Header.Get("Authorization")
	s.mu.Lock()
	s.auth = append(s.auth, h)
	t, known := s.tokens[strings.TrimPrefix(h, "Bearer ")]
	s.mu.Unlock()
	challenge := `Bearer resource_metadata="` + origin + `/.well-known/oauth-protected-resource/mcp"`
	if !known || t.resource != origin+"/mcp" || time.Now().After(t.ends) {
		if len(s.o.Scopes) > 0 {
			challenge += `, scope="` + strings.Join(s.o.Scopes, " ") + `"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	if need := s.o.CallScope; need != "" && r.Header.Get("Mcp-Method") == "tools/call" && !slices.Contains(strings.Fields(t.scope), need) {
		w.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+need+`"`)
		http.Error(w, "more", http.StatusForbidden)
		return
	}
	s.mcp.ServeHTTP(w, r)
}

// send sends a document.
func (s *Server) send(w http.ResponseWriter, status int, name string, doc map[string]any) {
	if s.o.Edit != nil {
		s.o.Edit(name, doc)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc) // the client may be gone
}

func (s *Server) did(what string) { // with mu held
	s.seen[what]++
}

func secret() string { return rand.Text() }
