// Package mcpclient keeps the connections to the MCP servers of one session
// (spec ): it starts them beside everything else, holds what they last
// offered, notices changes, and connects again when they are lost.
//
// A server that stalls or dies delays nobody who does not need it. What it
// offered before stays on the lists; a call says why it fails. Everything that
// a server sends is text of strangers: it is capped and made harmless, and never
// run. The protocol itself is behind [Dialer]; which servers there are is the
// business of package mcpconfig.
package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/knack-skills/knack/mcpconfig"
)

// Options is what the servers of a session are started with. Dialer is required.
type Options struct {
	Servers []mcpconfig.Server
	Dialer  Dialer
	Dir     string   // where servers run
	Env     []string // their environment, besides what their entries say
	HTTP    *http.Client
	Access  Access // who asks, for servers behind HTTP; nil means nobody
	Memory  Memory // of the tools that servers offer
	// Changed is told that a server offers something else than before. It is
	// called by one goroutine for each server, which goes on when it returns.
	Changed func(ctx context.Context, s *Server)
	// Notice is told what a person should know: a server that is lost or back. It
	// may be called by several goroutines.
	Notice func(string)
}

// The limits of patience.
const (
	firstGreeting = 10 * time.Second // of a server that may wait for an older greeting
	nextGreeting  = 30 * time.Second
	listTimeout   = 30 * time.Second
	callTimeout   = 10 * time.Minute
	headStart     = 200 * time.Millisecond // of the session before servers that are known
	waitForLost   = 5 * time.Second        // how long a call waits for a server that is being connected
	firstPause    = time.Second            // before the second attempt; doubles
	maxAttempts   = 6
	steady        = time.Minute // a connection of this age was a good one
	calm          = time.Second // between two looks at lists that keep changing; doubles
	maxCalm       = 30 * time.Second
	closeGrace    = 2 * time.Second
)

// A Fleet is the servers of one session. It is safe for concurrent use.
type Fleet struct {
	opts    Options
	servers []*Server // by name
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Start begins to connect, and returns at once. [Fleet.Close] ends everything.
func Start(o Options) *Fleet {
	ctx, stop := context.WithCancel(context.Background())
	f := &Fleet{opts: o, stop: stop}
	if f.opts.Changed == nil {
		f.opts.Changed = func(context.Context, *Server) {}
	}
	if f.opts.Notice == nil {
		f.opts.Notice = func(string) {}
	}
	for _, c := range o.Servers {
		s := &Server{Config: c, fleet: f, settled: make(chan struct{}), moved: make(chan struct{}), wanted: make(chan struct{})}
		s.learned, s.known = o.Memory.recall(c, o.Dir)
		s.silent, s.offer.tools = s.learned.Silent, s.learned.Tools
		f.servers = append(f.servers, s)
	}
	for _, s := range f.servers {
		f.running.Go(func() { s.run(ctx) })
	}
	return f
}

// Servers returns all servers, by name. A nil Fleet has none.
func (f *Fleet) Servers() []*Server {
	if f == nil {
		return nil
	}
	return slices.Clone(f.servers)
}

// Named reports whether name means the server: its own name, or its name in ids
// and names of tools.
func Named(server, name string) bool {
	return name == server || name == mcpconfig.Label(server) || name == mcpLabel(server)
}

// Server finds one by its name, or by its name in ids and names of tools.
func (f *Fleet) Server(name string) (*Server, error) {
	var known []string
	for _, s := range f.Servers() {
		if Named(s.Config.Name, name) {
			return s, nil
		}
		known = append(known, s.Config.Name)
	}
	if known == nil {
		return nil, fmt.Errorf("there is no MCP server %q: none is configured", name)
	}
	return nil, fmt.Errorf("there is no MCP server %q; there are %s", name, strings.Join(known, ", "))
}

// Wait waits until each of these servers has answered or failed, at most for
// patience. It returns those that are still silent. Nil means all servers.
func (f *Fleet) Wait(ctx context.Context, patience time.Duration, servers []*Server) (silent []*Server) {
	if servers == nil {
		servers = f.Servers()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, s := range servers {
		s.want()
	}
	for _, s := range servers {
		select {
		case <-s.settled:
			continue
		default:
		}
		select {
		case <-s.settled:
		case <-ctx.Done():
			silent = append(silent, s)
		}
	}
	return silent
}

// Close ends all servers and waits until they are gone.
func (f *Fleet) Close() error {
	if f == nil {
		return nil
	}
	f.stop()
	f.running.Wait()
	return nil
}

// errClosed is the reason of calls after the end.
var errClosed = errors.New("the session has ended")
