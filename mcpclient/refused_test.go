package mcpclient_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/knack-skills/knack/mcpconfig"
)

// TestRefused: a server that does not know who is asking is not available, and
// the person is told what to do.
func TestRefused(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	defer ts.Close()
	for _, tt := range []struct {
		name    string
		headers map[string]string
		want    string
	}{
		{"none", nil, `add a header to its entry, as in "headers"`},
		{"other", map[string]string{"X-Key": "k"}, `add a header to its entry, as in "headers"`},
		{"wrong", map[string]string{"authorization": "Bearer secret"}, "it does not accept the Authorization header of its entry"},
	} {
		for _, transport := range []mcpconfig.Transport{mcpconfig.HTTP, mcpconfig.SSE} {
			f, n := fleet(t, mcpconfig.Server{Name: tt.name, Transport: transport, URL: ts.URL, Headers: tt.headers})
			if silent := f.Wait(t.Context(), patience, nil); len(silent) > 0 {
				t.Fatal("silent")
			}
			n.until(t, "MCP server "+tt.name+" is not available")
			if got := n.all(); !strings.Contains(got, tt.want) || strings.Contains(got, "secret") {
				t.Errorf("%s over %s: %s", tt.name, transport, got)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
