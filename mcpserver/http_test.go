package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/mcpserver"
)

// web serves w over HTTP and returns the address, and what ends it.
func (w *world) web(o mcpserver.HTTPOptions) (url string, stop func() error) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.server.ServeHTTP(ctx, l, o) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	w.t.Cleanup(func() { _ = stop() })
	return "http://" + l.Addr().String() + mcpserver.Path, stop
}

const token = "0123456789abcdef"

func TestHTTPAccess(t *testing.T) {
	w := open(t, skills)
	guarded, _ := w.web(mcpserver.HTTPOptions{Token: token})
	free, _ := w.web(mcpserver.HTTPOptions{})
	first, _, _ := strings.Cut(hello, "\n")
	good := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for _, tt := range []struct {
		name, url, method, body string
		header                  http.Header
		want                    int
	}{
		{"open on this machine", free, "POST", first, nil, 200},
		{"no token", guarded, "POST", first, nil, 401},
		{"wrong token", guarded, "POST", first, http.Header{"Authorization": {"Bearer 0123456789abcdeF"}}, 401},
		{"longer token", guarded, "POST", first, http.Header{"Authorization": {"Bearer " + token + "0"}}, 401},
		{"other scheme", guarded, "POST", first, http.Header{"Authorization": {"Basic " + token}}, 401},
		{"token", guarded, "POST", first, http.Header{"Authorization": {"Bearer " + token}}, 200},
		{"token in lower case scheme", guarded, "POST", first, http.Header{"Authorization": {"bearer " + token}}, 200},
		{"stream without token", guarded, "GET", "", nil, 401},
		{"rebound name", free, "POST", first, http.Header{"Host": {"evil.example:80"}}, 403},
		{"page of another origin", free, "POST", first, http.Header{"Origin": {"https://evil.example"}}, 403},
		{"page of another origin reads", free, "GET", "", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"page without an origin", free, "POST", first, http.Header{"Origin": {"null"}}, 403},
		{"browser says cross-site", free, "POST", first, http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"page of this server", free, "POST", first, http.Header{"Origin": {strings.TrimSuffix(free, mcpserver.Path)}}, 200},
		{"form", free, "POST", first, http.Header{"Content-Type": {"text/plain"}}, 415},
		{"large", free, "POST", strings.Repeat(" ", 5<<20), nil, 413},
		{"no message", free, "POST", "hello", nil, 400},
		{"no session", free, "GET", "", nil, 400},
		{"gone session", free, "POST", first, http.Header{"Mcp-Session-Id": {"x"}}, 404},
		{"other path", strings.TrimSuffix(free, mcpserver.Path) + "/", "GET", "", nil, 404},
		{"other method", free, "PUT", first, nil, 405},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = good.Clone()
		for k, v := range tt.header {
			req.Header[k] = v
		}
		req.Host = req.Header.Get("Host")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, res.StatusCode, tt.want, body)
		}
	}
}

func TestAllow(t *testing.T) {
	for _, tt := range []struct {
		addr, token string
		ok          bool
	}{
		{"127.0.0.1:1", "", true}, {"[::1]:1", "", true}, {"127.1.2.3:1", "", true},
		{"0.0.0.0:1", "", false}, {"[::]:1", "", false}, {"192.0.2.1:1", "", false},
		{"0.0.0.0:1", token, true}, {"0.0.0.0:1", "short", false}, {"127.0.0.1:1", "short", false},
	} {
		addr, err := net.ResolveTCPAddr("tcp", tt.addr)
		if err != nil {
			t.Fatal(err)
		}
		err = mcpserver.HTTPOptions{Token: tt.token}.Allow(addr)
		var access *mcpserver.AccessError
		if tt.ok != (err == nil) || err != nil && !errors.As(err, &access) {
			t.Errorf("%s with token %q: %v", tt.addr, tt.token, err)
		}
	}
}

// TestMany: 50 clients make 1,000 calls without an error, and leave nothing.
func TestMany(t *testing.T) {
	w := open(t, skills)
	url, stop := w.web(mcpserver.HTTPOptions{})
	round := func(clients, calls int) {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		defer transport.CloseIdleConnections()
		var wg sync.WaitGroup
		for c := range clients {
			wg.Go(func() {
				client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
				cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range calls {
					who := fmt.Sprintf("client %d call %d", c, i)
					res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "Skill", Arguments: object{"skill": "greet", "args": who}})
					if err != nil || res.IsError || !strings.Contains(textOf(t, res.Content), "hello to "+who+".") {
						t.Errorf("%s: %v, %v", who, res, err)
					}
				}
				if err := cs.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	round(2, 1) // what is made once is there now
	goroutines, files := settled(t, 0)
	round(50, 20)
	if n, f := settled(t, goroutines); n > goroutines || f > files {
		t.Errorf("%d goroutines and %d files are open after; %d and %d before", n, f, goroutines, files)
	}
	if err := stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
}

// settled returns how many goroutines and files there are, once there are no more
// than want, or the number does not fall any more.
func settled(t *testing.T, want int) (goroutines, files int) {
	t.Helper()
	last, same := runtime.NumGoroutine(), 0
	for last > want && same < 20000 {
		runtime.Gosched()
		runtime.GC()
		if n := runtime.NumGoroutine(); n < last {
			last, same = n, 0
		} else {
			same += 100
		}
	}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		files = len(entries)
	}
	return runtime.NumGoroutine(), files
}

// TestStop: a server that is stopped lets its clients go, also those that listen.
func TestStop(t *testing.T) {
	w := open(t, skills)
	url, stop := w.web(mcpserver.HTTPOptions{Token: token})
	header := http.Header{"Authorization": {"Bearer " + token}}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: withHeader{header}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, isError := call(t, cs, "Skill", object{"skill": "greet", "args": "Ann"}); isError {
		t.Error(got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	_ = cs.Close() // the server is gone
}

type withHeader struct{ header http.Header }

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h.header {
		r.Header[k] = v
	}
	return http.DefaultTransport.RoundTrip(r)
}
