package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/mcpserver"
)

// TestSubscribersLeave: clients that come, ask and go, in whatever way, leave
// nothing, and those that stay hear of everything meanwhile.
func TestSubscribersLeave(t *testing.T) {
	w := open(t, skills)
	w.last(0)
	url, stop := w.web(mcpserver.HTTPOptions{})
	stays := w.listen(url, versions[0])
	stays.subscribe(t, lastURI)
	round := func(n int) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
				transport := http.DefaultTransport.(*http.Transport).Clone()
				defer transport.CloseIdleConnections()
				cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				for j := range 5 {
					uri := "skill://greet/" + strings.Repeat("./", 5*i+j) + "SKILL.md"
					if err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
						t.Error(err)
					}
				}
				if err := cs.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		for i := range 10 {
			w.write("greet", fmt.Sprintf("%s\n%d %d\n", skills["greet"], n, i))
			w.last(100*n + i)
			stays.until(t, lastURI)
		}
		wg.Wait()
		w.watched(1)
	}
	round(2)
	goroutines, _ := settled(t, 0)
	round(20)
	if n, _ := settled(t, goroutines); n > goroutines {
		t.Errorf("%d goroutines after, %d before", n, goroutines)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(patience); w.server.Clients() > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d clients are remembered", w.server.Clients())
		}
	}
	w.watched(0)
	// The library forgets clients by itself, but not the URIs they asked for.
	if kept := reflect.ValueOf(w.server.Library()).Elem().FieldByName("resourceSubscriptions").Len(); kept > 0 {
		t.Errorf("the library keeps %d URIs", kept)
	}
}

// TestSubscribeWatched: with a host that watches, a file that is written is told
// of, also one that no skill is made of.
func TestSubscribeWatched(t *testing.T) {
	w := open(t, skills)
	w.write(".claude/skills/greet/refs/notes.md", "before")
	w.refresh()
	stop, err := w.engine.Watch(t.Context(), knack.WatchOptions{Files: w.server.Files, File: w.server.FileChanged,
		Stable: time.Millisecond, Debounce: time.Millisecond, Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	l := w.listen("", versions[0])
	l.subscribe(t, mainURI, notesURI)
	if got := w.server.Files(); len(got) != 1 || !strings.HasSuffix(filepath.ToSlash(got[0]), "greet/refs/notes.md") {
		t.Errorf("files %q", got)
	}
	w.write(".claude/skills/greet/refs/notes.md", "after")
	l.until(t, notesURI)
	w.write("greet", skills["greet"]+"\nMore.\n")
	l.until(t, mainURI)
	if err := l.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: notesURI}); err != nil {
		t.Fatal(err)
	}
	if got := w.server.Files(); len(got) != 0 {
		t.Errorf("after the end: files %q", got)
	}
}

// TestSubscribeLate: a change that comes after the file was looked at, and before
// the subscription is there, is not missed.
func TestSubscribeLate(t *testing.T) {
	w := open(t, skills)
	w.write(".claude/skills/greet/refs/notes.md", "before")
	w.refresh()
	var once sync.Once
	w.server.Library().AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				once.Do(func() {
					w.write(".claude/skills/greet/refs/notes.md", "after")
					w.refresh()
					w.server.Idle()
				})
			}
			return next(ctx, method, req)
		}
	})
	l := w.listen("", versions[1])
	l.subscribe(t, notesURI)
	l.until(t, notesURI)
}

// TestSubscribeWhileChanging: whoever has read something after asking to hear of
// changes hears of each later one, also of one that came while it asked.
func TestSubscribeWhileChanging(t *testing.T) {
	w := open(t, skills)
	for i := range 40 {
		w.write(".claude/skills/greet/refs/notes.md", "before")
		w.refresh()
		cs := w.listen("", versions[i%len(versions)])
		changed := make(chan struct{})
		go func() {
			defer close(changed)
			w.write(".claude/skills/greet/refs/notes.md", "after")
			w.refresh()
		}()
		cs.subscribe(t, notesURI)
		res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: notesURI})
		if err != nil {
			t.Fatal(err)
		}
		<-changed
		if res.Contents[0].Text == "before" {
			cs.until(t, notesURI)
		}
		if err := cs.Close(); err != nil {
			t.Error(err)
		}
	}
}
