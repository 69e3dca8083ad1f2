package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knack-skills/knack/llm"
)

// pipes is a network without a network: connections in memory, on which the
// time of a test passes at once.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

// asked is what an answer of a server came to, and how long it took.
func asked(t *testing.T, ctx context.Context, silence time.Duration, handler http.HandlerFunc, pause time.Duration) (texts string, took time.Duration, err error) {
	t.Helper()
	network := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices only then that the client leaves
		handler(w, r)
	})}
	go server.Serve(network)
	transport := &http.Transport{DialContext: network.dial}
	defer server.Close()
	defer transport.CloseIdleConnections()
	client := Client(&http.Client{Transport: transport}, silence)
	begun := time.Now()
	open := func() (*Stream, error) {
		return Post(ctx, client, "http://model.invalid/", http.Header{}, []byte("{}"))
	}
	for e, failed := range Answer(ctx, open, func() Decoder { return endless{} }) {
		if failed != nil {
			return texts, time.Since(begun), failed
		}
		texts += e.(llm.TextDelta).Text
		time.Sleep(pause)
	}
	return texts, time.Since(begun), nil
}

// send writes a piece of an answer at once.
func send(w http.ResponseWriter, s string) {
	_, _ = io.WriteString(w, s)
	w.(http.Flusher).Flush()
}

// TestSilence: a server that stops sending ends in an error that may pass; one
// that is slow, or a reader that is, does not.
func TestSilence(t *testing.T) {
	silent := func(w http.ResponseWriter, r *http.Request) {
		send(w, "data: so far\n\n")
		<-r.Context().Done()
	}
	for _, tt := range []struct {
		name    string
		silence time.Duration
		serve   http.HandlerFunc
		pause   time.Duration // of the reader, after each event
		texts   string
		took    time.Duration
		broken  bool
	}{
		{name: "in the middle", serve: silent, texts: "so far", took: 5 * time.Minute, broken: true},
		{name: "in the middle of an event", serve: func(w http.ResponseWriter, r *http.Request) {
			send(w, "data: one\n\ndata: tw")
			<-r.Context().Done()
		}, texts: "one", took: 5 * time.Minute, broken: true},
		{name: "after the headers", serve: func(w http.ResponseWriter, r *http.Request) {
			send(w, "")
			<-r.Context().Done()
		}, took: 5 * time.Minute, broken: true},
		{name: "before the headers", serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			took: 10 * time.Minute, broken: true},
		{name: "in an error", serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			send(w, "{")
			<-r.Context().Done()
		}, took: 5 * time.Minute, broken: true},
		{name: "as configured", silence: 3 * time.Second, serve: silent, texts: "so far", took: 3 * time.Second, broken: true},
		{name: "signs of life", serve: func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				time.Sleep(4 * time.Minute)
				send(w, ": ping\n\n")
			}
			send(w, "data: last\n\n")
		}, texts: "last", took: 400 * time.Minute},
		{name: "a slow reader", pause: time.Hour, serve: func(w http.ResponseWriter, _ *http.Request) {
			send(w, "data: one\n\ndata: two\n\n")
			send(w, "data: last\n\n")
		}, texts: "onetwolast", took: 3 * time.Hour},
		{name: "for ever", silence: -1, serve: func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(1000 * time.Hour)
			send(w, "data: last\n\n")
		}, texts: "last", took: 1000 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				texts, took, err := asked(t, t.Context(), tt.silence, tt.serve, tt.pause)
				if texts != tt.texts || took != tt.took {
					t.Errorf("got %q after %s, want %q after %s", texts, took, tt.texts, tt.took)
				}
				if (err != nil) != tt.broken || llm.Retryable(err) != tt.broken {
					t.Errorf("error = %v, retryable %v", err, llm.Retryable(err))
				}
			})
		})
	}
}

// TestSilenceSays: the error says what happened; leaving is no silence.
func TestSilenceSays(t *testing.T) {
	silent := func(w http.ResponseWriter, r *http.Request) {
		send(w, "data: so far\n\n")
		<-r.Context().Done()
	}
	synctest.Test(t, func(t *testing.T) {
		_, _, err := asked(t, t.Context(), 90*time.Second, silent, 0)
		if !errors.Is(err, llm.ErrCut) || !strings.Contains(err.Error(), "sent nothing for 1m30s") {
			t.Errorf("error = %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, took, err := asked(t, ctx, 0, silent, 0)
		if !errors.Is(err, context.DeadlineExceeded) || took != time.Minute || llm.Retryable(err) {
			t.Errorf("error = %v after %s", err, took)
		}
	})
}
