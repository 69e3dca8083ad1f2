// Package mcpserver gives the skills of a workspace to other agents over the
// Model Context Protocol (spec X-8): the tools Skill, SkillSearch and SkillRead,
// a prompt for each skill that a person may start, skill:// resources and the
// Skills extension.
//
// A client is a stranger. Rules, trust and policies of the workspace hold, what
// they leave open is refused since nobody is there to ask, and everything that
// is decided and run stands in the audit log as a client's doing. No client
// learns what another one did: each has a session of its own.
//
// The hooks of the workspace stand before every skill that a client is given:
// PreToolUse of the tool Skill, for prompts as well, UserPromptExpansion for
// prompts, PermissionRequest and SkillInvoked, and those that skills registered
// for this client (the table is in the package invoke). PreToolUse of SkillRead
// stands before each file, resources included. No others run. The
// conversation, its prompts, its tools and its end are the client's, which has
// hooks of its own for them. SessionStart and SessionEnd belong to these: what
// SessionStart adds has no place in the protocol, a client that runs the hooks of
// this workspace itself would run them twice, and no server should wait for one.
//
// A [Server] serves any number of clients at once. What it offers follows the
// catalog of its engine; who reloads that is up to the host.
package mcpserver

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
)

// Options configures [New].
type Options struct {
	Version string       // of the program, as clients are told
	Log     *slog.Logger // nil is silent
	Hooks   Hooks        // nil runs none, also none of an administrator
}

// A Server is the MCP server of one workspace. It is safe for concurrent use.
type Server struct {
	engine *knack.Engine
	mcp    *mcp.Server
	log    *slog.Logger
	hooks  Hooks // nil is none

	instructions atomic.Pointer[string]
	counting     background // uses that are being counted

	publishing sync.Mutex // guards what is published
	offered    offer

	interests interests
	end       func(*mcp.ServerSession) // the subscriptions of a client that is gone; fixed by New

	mu      sync.Mutex // guards clients
	clients map[*mcp.ServerSession]*session.Session
}

// New returns a server for the skills of e. It follows every later snapshot of e
// for as long as e lives.
func New(e *knack.Engine, o Options) *Server {
	s := &Server{engine: e, log: o.Log, hooks: o.Hooks, clients: map[*mcp.ServerSession]*session.Session{}, offered: newOffer()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	caps := &mcp.ServerCapabilities{
		Tools:     &mcp.ToolCapabilities{ListChanged: true},
		Prompts:   &mcp.PromptCapabilities{ListChanged: true},
		Resources: &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
	}
	caps.AddExtension(extensionID, nil)
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "knack", Title: "Knack skills", Version: o.Version}, &mcp.ServerOptions{
		Capabilities: caps, CompletionHandler: s.complete, PageSize: pageSize, Logger: s.log,
		SubscribeHandler: s.subscribe, UnsubscribeHandler: s.unsubscribe,
		// What one client is told is no business of caches that others use.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	s.mcp.AddReceivingMiddleware(s.current, s.asking)
	s.mcp.AddSendingMiddleware(s.telling)
	s.addTools()
	s.addTemplate()
	s.addExtension()
	s.publish(e.Snapshot())
	e.OnChange(s.publish)
	return s
}

// pageSize is how much of a list one answer holds.
const pageSize = 200

// current puts the instructions of this moment into the answers that carry them:
// the library fixes its own when a server is made.
func (s *Server) current(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		switch r := res.(type) {
		case *mcp.InitializeResult:
			if r != nil {
				r.Instructions = *s.instructions.Load()
			}
		case *mcp.DiscoverResult:
			if r != nil {
				r.Instructions = *s.instructions.Load()
			}
		}
		return res, err
	}
}

// sessionOf returns the memory of one client: what it invoked, and which
// conditional skills apply to its work. It goes when the client does.
func (s *Server) sessionOf(client *mcp.ServerSession) *session.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.clients[client]; own != nil {
		return own
	}
	// The id of an HTTP session is a secret between the two, so it is not the
	// one that skills and the audit log are told.
	own := session.New("mcp-" + rand.Text())
	s.clients[client] = own
	go func() {
		_ = client.Wait() // how it ended concerns whoever runs it
		s.end(client)
		s.left(own)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.clients, client)
	}()
	return own
}

// env is what an invocation for a client may use. Nobody can be asked.
func (s *Server) env(own *session.Session) invoke.Env {
	env := s.engine.Env()
	env.Session, env.Ask, env.Fork = own, nil, handOver{}
	return env
}

// calledBy is the id by which a client knows an entry.
func calledBy(e *catalog.Entry) string {
	if e.Winner != nil {
		return e.Qualified
	}
	return e.ID
}
