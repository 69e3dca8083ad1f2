package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/mcpserver"
)

// versions are those of the protocol between which subscriptions differ: with
// calls of their own before, with a call that stays open after.
var versions = []string{"2025-06-18", "2026-07-28"}

// patience is for what has to happen; a test that passes does not wait for it.
const patience = time.Minute

// A listener is a client that hears of resources.
type listener struct {
	*mcp.ClientSession
	heard chan string
}

// listen connects over HTTP, or over pipes if url is empty.
func (w *world) listen(url, version string) *listener {
	w.t.Helper()
	l := &listener{heard: make(chan string, 1000)}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { l.heard <- r.Params.URI },
	})
	if url == "" {
		l.ClientSession = w.connectWith(client, version)
		return l
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	cs, err := client.Connect(w.t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: transport}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cs.Close(); transport.CloseIdleConnections() })
	l.ClientSession = cs
	return l
}

func (l *listener) subscribe(t *testing.T, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		if err := l.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
	}
}

// until returns what is heard up to a notice about uri.
func (l *listener) until(t *testing.T, uri string) (all []string) {
	t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case got := <-l.heard:
			if all = append(all, got); got == uri {
				return all
			}
		case <-deadline:
			t.Fatalf("no notice about %s; there were %q", uri, all)
		}
	}
}

// watched waits until there are as many subscriptions.
func (w *world) watched(want int) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); w.server.Watched() != want; runtime.Gosched() {
		if time.Now().After(deadline) {
			w.t.Fatalf("%d subscriptions, want %d", w.server.Watched(), want)
		}
	}
}

const (
	mainURI  = "skill://greet/SKILL.md"
	notesURI = "skill://greet/refs/notes.md"
	// lastURI is of a file that is changed last: when its notice is there, all are.
	lastURI = "skill://shell/z.md"
)

// last changes what everybody waits for, once nobody looks at the files any more.
func (w *world) last(n int) {
	w.t.Helper()
	w.server.Idle()
	w.write(".claude/skills/shell/z.md", fmt.Sprint("last ", n))
	w.refresh()
}

// TestSubscribe: clients hear of what they asked for when it differs, once, and
// of nothing else.
func TestSubscribe(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) { testSubscribe(t, version, false) })
	}
	t.Run("HTTP", func(t *testing.T) { testSubscribe(t, versions[0], true) })
}

func testSubscribe(t *testing.T, version string, web bool) {
	w := open(t, skills)
	w.write(".claude/skills/greet/refs/notes.md", "one")
	w.last(0)
	url := ""
	if web {
		url, _ = w.web(mcpserver.HTTPOptions{})
	}
	a, b := w.listen(url, version), w.listen(url, version)
	if caps := a.InitializeResult().Capabilities; !caps.Resources.Subscribe {
		t.Fatal("subscriptions are not announced")
	}
	a.subscribe(t, mainURI, notesURI, lastURI, mainURI)
	b.subscribe(t, notesURI, lastURI)
	w.watched(5)

	check := func(name string, wantA, wantB []string) {
		t.Helper()
		defer w.server.Idle()
		if got := a.until(t, lastURI); !slices.Equal(got, append(wantA, lastURI)) {
			t.Errorf("%s: the first heard of %q, want %q", name, got, wantA)
		}
		if got := b.until(t, lastURI); !slices.Equal(got, append(wantB, lastURI)) {
			t.Errorf("%s: the second heard of %q, want %q", name, got, wantB)
		}
	}
	w.last(1)
	check("nothing else", nil, nil)
	w.write("greet", skills["greet"]+"\nMore.\n")
	w.refresh()
	w.last(2)
	check("the main file", []string{mainURI}, nil)
	w.write("greet", skills["greet"]+"\nMore.\n") // the same
	w.write(".claude/skills/greet/refs/notes.md", "two")
	w.last(3)
	check("the notes", []string{notesURI}, []string{notesURI})

	// A skill that goes is a change, and so is its return.
	w.remove(".claude/skills/greet")
	w.last(4)
	check("gone", []string{mainURI, notesURI}, []string{notesURI})
	w.last(5)
	check("still gone", nil, nil)
	w.write("greet", skills["greet"])
	w.last(6)
	check("back", []string{mainURI}, nil)

	if err := a.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: mainURI}); err != nil {
		t.Fatal(err)
	}
	w.watched(4)
	w.write("greet", skills["greet"]+"\nAgain.\n")
	w.write(".claude/skills/greet/refs/notes.md", "three")
	w.last(7)
	check("unsubscribed", []string{notesURI}, []string{notesURI})

	if err := a.Close(); err != nil {
		t.Error(err)
	}
	w.watched(2)
	w.last(8)
	if got := b.until(t, lastURI); len(got) != 1 {
		t.Errorf("after the first has left: %q", got)
	}
}

// TestSubscribePrivate: of what it may not read any more, a client hears that it
// changed, and then nothing.
func TestSubscribePrivate(t *testing.T) {
	w := open(t, skills)
	w.write(".claude/skills/greet/refs/notes.md", "one")
	w.last(0)
	free, holder := w.listen("", versions[0]), w.listen("", versions[0])
	if _, isError := call(t, holder.ClientSession, "Skill", object{"skill": "greet"}); isError {
		t.Fatal("greet cannot be called")
	}
	for _, l := range []*listener{free, holder} {
		l.subscribe(t, notesURI, lastURI)
	}
	private := strings.Replace(skills["greet"], "---\n", "---\ndisable-model-invocation: true\n", 1)
	for i, tt := range []struct {
		greet, notes string
		free, holder bool // hear of the notes
	}{
		{private, "one", true, false},
		{private, "two", false, true},
		{skills["greet"], "two", true, false},
		{skills["greet"], "three", true, true},
	} {
		w.write("greet", tt.greet)
		w.write(".claude/skills/greet/refs/notes.md", tt.notes)
		w.last(i + 1)
		for l, hears := range map[*listener]bool{free: tt.free, holder: tt.holder} {
			if got := l.until(t, lastURI); slices.Contains(got, notesURI) != hears {
				t.Errorf("step %d: heard of %q (the skill is held: %v)", i, got, l == holder)
			}
		}
	}
}

// TestSubscribeRefused: what cannot be read cannot be watched, and the answer
// says why.
func TestSubscribeRefused(t *testing.T) {
	w := open(t, map[string]string{
		"greet": skills["greet"], "private": skills["private"],
		".claude/settings.json":          `{"permissions": {"deny": ["Read(**/secret.md)"]}}`,
		".claude/skills/greet/secret.md": "secret",
		".claude/skills/greet/notes.md":  "notes", ".claude/skills/greet/refs/notes.md": "notes",
	})
	cs := w.listen("", versions[0])
	for _, tt := range []struct{ uri, want string }{
		{"skill://greet/none.md", "not found"},
		{"skill://nobody/SKILL.md", "not found"},
		{"skill://greet", "not found"},
		{"skill://greet/../../settings.json", "is not a file of the skill"},
		{"skill://private/SKILL.md", "only a person can run it"},
		{"skill://greet/secret.md", "may not be read"},
		{"file:///etc/passwd", "not found"},
		{"skill://greet/" + strings.Repeat("./", 2000) + "notes.md", "at most 2048"},
	} {
		err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: tt.uri})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || !strings.Contains(strings.ToLower(err.Error()), tt.want) {
			t.Errorf("%.60s: %v, want %q", tt.uri, err, tt.want)
		}
		// One of several that are asked for at once spoils all.
		if got := w.askToListen(notesURI, tt.uri); !strings.Contains(got, `"error"`) || !strings.Contains(strings.ToLower(got), tt.want) {
			t.Errorf("%.60s: %s, want %q", tt.uri, got, tt.want)
		}
	}
	w.watched(0)
}

// askToListen asks as the newest version of the protocol has it, where the SDK's
// client does not tell of an error, and returns the first message that comes.
func (w *world) askToListen(uris ...string) string {
	w.t.Helper()
	ask, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": object{
		"notifications": object{"resourceSubscriptions": uris},
		"_meta": object{
			"io.modelcontextprotocol/protocolVersion":    versions[1],
			"io.modelcontextprotocol/clientInfo":         object{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": object{},
		},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	toServer, fromServer := pipes(w.t)
	done := make(chan error, 1)
	go func() { done <- w.server.ServeStdio(w.t.Context(), toServer.r, fromServer.w) }()
	if _, err := toServer.w.Write(append(ask, '\n')); err != nil {
		w.t.Fatal(err)
	}
	answer, err := bufio.NewReader(fromServer.r).ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	_ = toServer.w.Close() // that is how a client leaves
	if err := <-done; err != nil {
		w.t.Error(err)
	}
	return answer
}

// TestSubscribeMany: one client cannot ask for any number, and room that it
// gives back is there again.
func TestSubscribeMany(t *testing.T) {
	const most = 256
	w := open(t, skills)
	cs, other := w.listen("", versions[0]), w.listen("", versions[0])
	uri := func(i int) string { return "skill://greet/" + strings.Repeat("./", i) + "SKILL.md" }
	for i := range most {
		cs.subscribe(t, uri(i))
	}
	cs.subscribe(t, uri(0)) // it has that already
	if err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri(most)}); err == nil || !strings.Contains(err.Error(), "may watch 256 resources") {
		t.Errorf("one more: %v", err)
	}
	other.subscribe(t, uri(most))
	if err := cs.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri(0)}); err != nil {
		t.Fatal(err)
	}
	cs.subscribe(t, uri(most))
	w.watched(most + 1)
	w.write("greet", skills["greet"]+"\nMore.\n")
	w.refresh()
	got := map[string]bool{}
	for range most {
		select {
		case uri := <-cs.heard:
			got[uri] = true
		case <-time.After(patience):
			t.Fatalf("%d notices", len(got))
		}
	}
	if len(got) != most || got[uri(0)] || !got[uri(most)] {
		t.Errorf("%d resources", len(got))
	}
}
