package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/sdk"
	"github.com/knack-skills/knack/mcpconfig"
)

// A badge lets somebody in with one token after another.
type badge struct {
	tokens  []string
	last    error // when there are no more
	used    atomic.Int32
	refused atomic.Int32
}

func (b *badge) Token(context.Context, mcpconfig.Server) (string, error) {
	return b.tokens[b.used.Load()], nil
}

func (b *badge) Refused(_ context.Context, _ mcpconfig.Server, r mcpclient.Refusal) error {
	b.refused.Add(1)
	if r.Token != b.tokens[b.used.Load()] || len(r.Challenges) != 1 {
		return fmt.Errorf("refused was %+v", r)
	}
	if int(b.used.Load()) == len(b.tokens)-1 {
		return b.last
	}
	b.used.Add(1)
	return nil
}

// TestAccess: who refuses is asked again only as long as something changes, and
// a server that does not let anybody in is not tried six times.
func TestAccess(t *testing.T) {
	for _, tt := range []struct {
		name    string
		b       *badge
		headers map[string]string
		want    string
		refused int32
	}{
		{"denied", &badge{tokens: []string{"a"}, last: &mcpclient.DeniedError{Reason: "sign in"}}, nil, "is not available: sign in", 2}, // a greeting, and an older one
		{"no change", &badge{tokens: []string{"a"}}, nil, "keeps refusing (401)", 4},
		{"own header", &badge{tokens: []string{"a"}}, map[string]string{"authorization": "Bearer b"}, "Authorization header of its entry", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int32
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer ts.Close()
			n := &notes{more: make(chan struct{}, 1)}
			f := mcpclient.Start(mcpclient.Options{Servers: []mcpconfig.Server{{Name: "s", Transport: mcpconfig.HTTP, URL: ts.URL, Headers: tt.headers}},
				Dialer: sdk.Dialer{Version: "test"}, Access: tt.b, Notice: n.add})
			f.Wait(t.Context(), patience, nil)
			n.until(t, tt.want)
			state, err := f.Servers()[0].Status()
			if _, denied := errors.AsType[*mcpclient.DeniedError](err); !denied || state != mcpclient.Failed {
				t.Errorf("%s: %v", state, err)
			}
			_, err = f.Servers()[0].Call(t.Context(), "tool", nil, nil) // it is hopeless, so nobody waits
			if err == nil || !strings.Contains(err.Error(), "is not connected") {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if tt.b.refused.Load() != tt.refused || asked.Load() > 6 {
				t.Errorf("%d refusals of %d requests", tt.b.refused.Load(), asked.Load())
			}
		})
	}
}

// TestMessagesElsewhere: the old transport lets a server name where messages go.
// Neither the headers of an entry nor a token go to another host.
func TestMessagesElsewhere(t *testing.T) {
	var taken atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { taken.Add(1) }))
	defer thief.Close()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", thief.URL)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer ts.Close()
	for _, headers := range []map[string]string{nil, {"X-Key": "hush"}, {"Authorization": "Bearer hush"}} {
		n := &notes{more: make(chan struct{}, 1)}
		f := mcpclient.Start(mcpclient.Options{Servers: []mcpconfig.Server{{Name: "s", Transport: mcpconfig.SSE, URL: ts.URL, Headers: headers}},
			Dialer: sdk.Dialer{Version: "test"}, Access: &badge{tokens: []string{"hush"}}, Notice: n.add})
		f.Wait(t.Context(), patience, nil)
		n.until(t, "another host")
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if taken.Load() > 0 {
		t.Error("another host was sent something")
	}
}
