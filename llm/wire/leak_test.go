package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// TestNoGoroutines: an answer leaves nothing running, however it ends.
func TestNoGoroutines(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: a\n\n")
		if r.URL.Path == "/hang" {
			w.(http.Flusher).Flush()
			<-r.Context().Done() // which the client's leaving ends
		}
	}))
	transport := &http.Transport{}
	for _, path := range []string{"/hang", "/cut"} {
		open := func() (*Stream, error) {
			return Post(t.Context(), &http.Client{Transport: transport}, web.URL+path, http.Header{}, []byte("{}"))
		}
		for range Answer(t.Context(), open, func() Decoder { return endless{} }) {
			break
		}
	}
	transport.CloseIdleConnections()
	web.Close() // waits for the handlers
	buf := make([]byte, 1<<20)
	for range 10_000 {
		stacks := string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(stacks, "net/http.(*persistConn)") && !strings.Contains(stacks, "llm/wire.(*Stream)") {
			return
		}
		runtime.Gosched() // connections that were closed are on their way out
	}
	t.Error("goroutines are left")
}
