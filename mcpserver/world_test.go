package mcpserver_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/mcpserver"
)

// A world is a workspace with a server for its skills.
type world struct {
	t      testing.TB
	dir    string
	engine *knack.Engine
	server *mcpserver.Server
	log    *records
}

// records is an audit log in memory.
type records struct {
	mu  sync.Mutex
	all []audit.Record
}

func (r *records) Write(rec audit.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, rec)
	return nil
}

// open makes a trusted workspace of files, by path; a name without a directory
// is a skill.
func open(t testing.TB, files map[string]string, with ...func(*knack.Options)) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, dir: filepath.Join(root, "work"), log: &records{}}
	for name, data := range files {
		w.write(name, data)
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o := knack.Options{
		Dir: w.dir, Home: filepath.Join(root, "home"), StateDir: filepath.Join(root, "state"), Trust: true, NoBundled: true,
		Getenv: func(string) string { return "" }, Audit: w.log,
	}
	for _, f := range with {
		f(&o)
	}
	var err error
	if w.engine, err = knack.New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.engine.Close() })
	w.server = mcpserver.New(w.engine, mcpserver.Options{Version: "test"})
	return w
}

func (w *world) write(name, data string) {
	w.t.Helper()
	if !strings.Contains(name, "/") {
		name = ".claude/skills/" + name + "/SKILL.md"
	}
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(dir string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(dir))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) refresh() {
	w.t.Helper()
	if _, err := w.engine.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// connect returns a client of the server, over pipes as with stdio.
func (w *world) connect(o *mcp.ClientOptions) *mcp.ClientSession {
	w.t.Helper()
	return w.connectWith(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o))
}

// connectWith connects a client that speaks the newest version of the protocol, or
// the given one.
func (w *world) connectWith(c *mcp.Client, version ...string) *mcp.ClientSession {
	w.t.Helper()
	toServer, fromServer := pipes(w.t)
	done := make(chan error, 1)
	go func() { done <- w.server.ServeStdio(w.t.Context(), toServer.r, fromServer.w) }()
	o := &mcp.ClientSessionOptions{ProtocolVersion: strings.Join(version, "")}
	cs, err := c.Connect(w.t.Context(), &mcp.IOTransport{Reader: fromServer.r, Writer: toServer.w}, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cs.Close()
		if err := <-done; err != nil && w.t.Context().Err() == nil {
			w.t.Errorf("the server ended with %v", err)
		}
	})
	return cs
}

type pipe struct{ r, w *os.File }

func pipes(t testing.TB) (a, b pipe) {
	t.Helper()
	for _, p := range []*pipe{&a, &b} {
		var err error
		if p.r, p.w, err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.r.Close(); _ = p.w.Close() })
	}
	return a, b
}

// call calls a tool and returns the text of its answer.
func call(t testing.TB, cs *mcp.ClientSession, name string, args any) (text string, isError bool) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return textOf(t, res.Content), res.IsError
}

func textOf(t testing.TB, content []mcp.Content) string {
	t.Helper()
	var b strings.Builder
	for _, c := range content {
		switch c := c.(type) {
		case *mcp.TextContent:
			b.WriteString(c.Text)
		case *mcp.EmbeddedResource:
			b.WriteString("<" + c.Resource.MIMEType + " " + c.Resource.URI + ">")
		default:
			t.Fatalf("content %T", c)
		}
	}
	return b.String()
}

type (
	object = map[string]any
	ctx    = context.Context
)
