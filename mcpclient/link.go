package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/knack-skills/knack/mcpconfig"
)

// A link is a connection with the process behind it, if there is one.
type link struct {
	conn   *Connection
	proc   *process // nil for HTTP
	denied atomic.Pointer[DeniedError]
}

// dial starts or reaches a server. Without an error the link has to be closed.
func (s *Server) dial(ctx context.Context, legacy bool, changed func()) (*link, error) {
	e := Endpoint{Legacy: legacy, Changed: changed}
	l := &link{}
	switch s.Config.Transport {
	case mcpconfig.Stdio:
		p, err := start(s.Config, s.fleet.opts)
		if err != nil {
			return nil, err
		}
		l.proc, e.Stream = p, p
	default:
		e.URL, e.SSE = s.Config.URL, s.Config.Transport == mcpconfig.SSE
		var astray context.CancelCauseFunc
		ctx, astray = context.WithCancelCause(ctx) // it ends with the connection, as the context of the caller does
		e.Client = s.client(l, astray)
	}
	type dialed struct {
		conn *Connection
		err  error
	}
	// A peer that does not read cannot hold the greeting longer than ctx.
	done := make(chan dialed, 1)
	go func() {
		c, err := s.fleet.opts.Dialer.Dial(ctx, e)
		done <- dialed{c, err}
	}()
	select {
	case d := <-done:
		if d.err != nil {
			return nil, l.failed(d.err)
		}
		l.conn = d.conn
		return l, nil
	case <-ctx.Done():
	}
	err := l.failed(context.Cause(ctx))
	go func() { // the stream is closed, so it ends
		if d := <-done; d.err == nil {
			_ = d.conn.Session.Close() // nobody waits for it any more
		}
	}()
	return nil, err
}

// failed ends what was started and adds what the process has said. That the
// server does not let this person in is the reason, whatever the protocol makes
// of it.
func (l *link) failed(err error) error {
	if l.proc == nil {
		if denied := l.denied.Load(); denied != nil {
			return denied
		}
		return err
	}
	l.proc.abort()
	return l.proc.explain(err)
}

// close ends the connection and the process. A peer that does not answer does
// not delay it.
func (l *link) close() {
	if l.proc != nil {
		l.proc.end()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = l.conn.Session.Close() // there is nothing to save
	}()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// reason says why the connection has ended.
func (l *link) reason() error {
	if l.proc == nil {
		return errors.New("the connection has ended")
	}
	l.proc.end()
	return l.proc.explain(errors.New("the connection has ended"))
}

// client sends what the server may know to the server, and to nobody else.
func (s *Server) client(l *link, astray func(error)) *http.Client {
	base := s.fleet.opts.HTTP
	if base == nil {
		base = &http.Client{}
	}
	c := *base
	rt := c.Transport
	if rt == nil {
		rt = http.DefaultTransport
	}
	c.Transport = entrance{server: s.Config, access: s.fleet.opts.Access, next: rt, astray: astray,
		denied: func(e *DeniedError) { l.denied.CompareAndSwap(nil, e) }}
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if first := via[0].URL; r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
			return fmt.Errorf("it redirects to another host, %s, which is not followed", r.URL.Host)
		}
		if len(via) > 5 {
			return errors.New("it redirects too often")
		}
		return nil
	}
	return &c
}
