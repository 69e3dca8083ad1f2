// Package sdk speaks MCP for package mcpclient, with the official Go SDK. It is
// the only package that knows the SDK's client: its types go no further.
package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/mcpclient"
)

// Dialer implements [mcpclient.Dialer]. It is a value, and safe for concurrent
// use.
type Dialer struct {
	Version string // of this program, for the greeting
}

// maxFrame bounds one message, in bytes.
const maxFrame = 16 << 20

// older is the last version of the protocol that begins with initialize.
const older = "2025-11-25"

// Dial implements [mcpclient.Dialer].
func (d Dialer) Dial(ctx context.Context, e mcpclient.Endpoint) (*mcpclient.Connection, error) {
	changed := e.Changed
	if changed == nil {
		changed = func() {}
	}
	caps := &mcp.ClientCapabilities{} // no roots, no sampling: this host has neither
	caps.AddExtension(skillsExtension, nil)
	listeners := newListeners()
	client := mcp.NewClient(&mcp.Implementation{Name: "knack", Title: "Knack", Version: d.Version}, &mcp.ClientOptions{
		Capabilities:                caps,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed() },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { changed() },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { changed() },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { listeners.tell(r.Params) },
	})
	if err := addSkillMethods(client); err != nil {
		return nil, err
	}
	o := &mcp.ClientSessionOptions{}
	if e.Legacy {
		o.ProtocolVersion = older
	}
	session, err := client.Connect(ctx, transport(e), o)
	if err != nil {
		return nil, err
	}
	return connection(session, listeners)
}

func transport(e mcpclient.Endpoint) mcp.Transport {
	switch {
	case e.Stream != nil:
		return &mcp.IOTransport{Reader: e.Stream, Writer: writer{e.Stream}, MaxLineLength: maxFrame}
	case e.SSE:
		return &mcp.SSEClientTransport{Endpoint: e.URL, HTTPClient: e.Client, MaxEventSize: maxFrame}
	}
	return &mcp.StreamableClientTransport{Endpoint: e.URL, HTTPClient: e.Client, MaxEventSize: maxFrame}
}

// A writer leaves closing to the reader: both are one stream.
type writer struct{ io.Writer }

// Close does nothing.
func (writer) Close() error { return nil }

// connection says what the server has.
func connection(s *mcp.ClientSession, l *listeners) (*mcpclient.Connection, error) {
	hello := s.InitializeResult()
	if hello == nil {
		return nil, errors.Join(errors.New("the server's greeting is empty"), s.Close())
	}
	done := make(chan struct{})
	go func() {
		_ = s.Wait() // however it ended
		close(done)
	}()
	p := &peer{s: s, done: done, listeners: l}
	c := &mcpclient.Connection{Session: p}
	if hello.ServerInfo != nil {
		c.Name, c.Version = hello.ServerInfo.Name, hello.ServerInfo.Version
	}
	caps := hello.Capabilities
	if caps == nil {
		return c, nil
	}
	if caps.Prompts != nil {
		c.Prompts = p
	}
	if caps.Tools != nil {
		c.Tools = p
	}
	if caps.Resources != nil {
		c.Resources = p
	}
	if _, ok := caps.Extensions[skillsExtension]; ok && caps.Resources != nil {
		c.Skills = p
	}
	return c, nil
}

// A peer is one connection.
type peer struct {
	s         *mcp.ClientSession
	done      chan struct{}
	listeners *listeners
}

// Done implements [mcpclient.Session].
func (p *peer) Done() <-chan struct{} { return p.done }

// Close implements [mcpclient.Session].
func (p *peer) Close() error { return p.s.Close() }

// maxPages is how many pages of one list are asked for.
const maxPages = 1_000

// pages asks for page after page. A server may go on for ever, or give the same
// cursor again and again.
func pages[T any](ctx context.Context, page func(ctx context.Context, cursor string) (items []T, next string, err error)) ([]T, error) {
	var all []T
	cursor := ""
	for range maxPages {
		items, next, err := page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if len(all) >= mcpclient.MaxItems {
			return all[:mcpclient.MaxItems], nil
		}
		if next == "" {
			return all, nil
		}
		if next == cursor {
			return nil, fmt.Errorf("the server's list does not end: it gives the cursor %.60q again", next)
		}
		cursor = next
	}
	return nil, fmt.Errorf("the server's list has more than %d pages", maxPages)
}
