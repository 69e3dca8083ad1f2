package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the server answers over HTTP.
const Path = "/mcp"

// The limits of the HTTP server.
const (
	headerTime  = 10 * time.Second // for the headers of a request
	bodyTime    = 30 * time.Second // for its body
	idleConn    = 2 * time.Minute  // of a connection
	idleSession = 30 * time.Minute // of a client that says nothing
	closeTime   = 5 * time.Second  // for answers that are under way at the end
	maxHeader   = 64 << 10         // bytes
	maxClients  = 500              // at once
)

// minToken is the length of the shortest token: a shorter one can be guessed.
const minToken = 16

// HTTPOptions configures [Server.ServeHTTP].
type HTTPOptions struct {
	// Token is what clients have to show as a bearer token. Empty lets in
	// whoever can connect, which is refused unless only this machine can.
	Token string
}

// An AccessError says why an address is not served with these options.
type AccessError struct{ Text string }

// Error returns the text.
func (e *AccessError) Error() string { return e.Text }

// Allow reports an [*AccessError] when the address may not be served with o.
func (o HTTPOptions) Allow(addr net.Addr) error {
	switch tcp, ok := addr.(*net.TCPAddr); {
	case o.Token != "" && len(o.Token) < minToken:
		return &AccessError{fmt.Sprintf("the token has %d characters; it needs at least %d", len(o.Token), minToken)}
	case o.Token == "" && (!ok || !tcp.IP.IsLoopback()):
		return &AccessError{fmt.Sprintf("%s can be reached from other machines, so it needs a token", addr)}
	}
	return nil
}

// ServeHTTP serves any number of clients on l until ctx ends. It closes l.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, o HTTPOptions) error {
	if err := o.Allow(l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	defer s.counting.Wait()
	defer s.interests.wait()
	web := &http.Server{
		Handler:           s.handler(o),
		ReadHeaderTimeout: headerTime, IdleTimeout: idleConn, MaxHeaderBytes: maxHeader,
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// Clients hold a stream open for notices, so they are told to leave first.
	for c := range s.mcp.Sessions() {
		_ = c.Close() // it ends either way
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	err := web.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = web.Close()
	}
	<-ended
	return err
}

// handler checks who is asking before anything of the protocol is read.
func (s *Server) handler(o HTTPOptions) http.Handler {
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp },
		&mcp.StreamableHTTPOptions{Logger: s.log, SessionTimeout: idleSession, MaxRequestBodyBytes: maxMessage})
	guarded := http.NewCrossOriginProtection().Handler(sameOrigin(o.authorized(s.limited(protocol))))
	mux := http.NewServeMux()
	mux.Handle(Path, guarded)
	return mux
}

// sameOrigin refuses requests that a page of another origin sent, of any method
// (spec of the protocol; the library checks the host against DNS rebinding).
func sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
				http.Error(w, "the origin is not this server", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// authorized asks for the token, if there is one. Hashes are compared, so that
// the time that takes tells nothing, not even the length.
func (o HTTPOptions) authorized(next http.Handler) http.Handler {
	if o.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(o.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !strings.EqualFold(kind, "Bearer") {
			w.Header().Set("WWW-Authenticate", `Bearer realm="knack"`)
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limited reads a body in good time, so that nobody keeps a connection busy by
// sending slowly, and refuses new clients when there are too many.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if r.Header.Get("Mcp-Session-Id") == "" && s.full() {
				w.Header().Set("Retry-After", "60")
				http.Error(w, "too many clients", http.StatusServiceUnavailable)
				return
			}
			body, err := readBody(w, r)
			if err != nil {
				status := http.StatusBadRequest
				if _, large := errors.AsType[*http.MaxBytesError](err); large {
					status = http.StatusRequestEntityTooLarge
				}
				http.Error(w, "the body cannot be read", status)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) full() bool {
	n := 0
	for range s.mcp.Sessions() {
		n++
	}
	return n >= maxClients
}

// readBody reads a body under a deadline of its own. The answer may be a stream
// that takes long, so the deadline must not outlive the body.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // where there are none, the limit of bytes is left
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	_ = control.SetReadDeadline(time.Time{})
	return body, err
}
