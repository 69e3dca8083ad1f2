package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/sdk"
	"github.com/knack-skills/knack/mcpconfig"
)

// TestMemory: what a server offers is known when the next session begins, before
// it has answered, as long as its entry and where it runs are the same.
func TestMemory(t *testing.T) {
	dir, m := t.TempDir(), mcpclient.Memory{Dir: filepath.Join(t.TempDir(), "tools")}
	start := func(m mcpclient.Memory, dir string, c mcpconfig.Server) *mcpclient.Server {
		f := mcpclient.Start(mcpclient.Options{Servers: []mcpconfig.Server{c}, Dialer: sdk.Dialer{}, Dir: dir, Env: os.Environ(), Memory: m})
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		return f.Servers()[0]
	}
	c := config(t, "banner")
	first := mcpclient.Start(mcpclient.Options{Servers: []mcpconfig.Server{c}, Dialer: sdk.Dialer{}, Dir: dir, Env: os.Environ(), Memory: m})
	first.Wait(t.Context(), patience, nil)
	want := fmt.Sprintf("%s", first.Servers()[0].Tools())
	if err := first.Close(); err != nil || want == "[]" {
		t.Fatal(want, err)
	}
	c.Env = map[string]string{asServer: "silent"} // what is known does not come from it
	args, below, file := c, c, c
	args.Args, below.Dir, file.Path = []string{"-x"}, t.TempDir(), "/x/.mcp.json"
	for what, it := range map[string]struct {
		m     mcpclient.Memory
		c     mcpconfig.Server
		dir   string
		known bool
	}{
		"the same":                  {m, c, dir, true},
		"with arguments":            {m, args, dir, false},
		"a directory of its own":    {m, below, dir, false},
		"another working directory": {m, c, t.TempDir(), false},
		"of another file":           {m, file, dir, false},
		"no memory":                 {mcpclient.Memory{}, c, dir, false},
	} {
		s := start(it.m, it.dir, it.c)
		tools, silent := s.Known()
		got := fmt.Sprintf("%s", s.Tools())
		if tools != it.known || silent || (got == want) != it.known {
			t.Errorf("%s: known %v, silent %v, %s", what, tools, silent, got)
		}
	}
	files, err := filepath.Glob(filepath.Join(m.Dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for text, silent := range map[string]bool{`{"silent":true,"tools":null}`: true, `{"silent":`: false, `{"tools":7}`: false, ``: false} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(m, dir, c)
		if tools, is := s.Known(); tools || is != silent || len(s.Tools()) > 0 {
			t.Errorf("%q: known %v, silent %v, %s", text, tools, is, s.Tools())
		}
	}
}

// A dialer answers, or fails, after a while; a negative while never ends.
type dialer struct {
	after time.Duration
	err   error
}

func (d dialer) Dial(ctx context.Context, _ mcpclient.Endpoint) (*mcpclient.Connection, error) {
	after := time.After(d.after)
	if d.after < 0 {
		after = nil
	}
	select {
	case <-after:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if d.err != nil {
		return nil, d.err
	}
	return &mcpclient.Connection{Session: alive{make(chan struct{})}, Tools: oneTool{}}, nil
}

type alive struct{ done chan struct{} }

func (a alive) Done() <-chan struct{} { return a.done }
func (a alive) Close() error          { return nil }

type oneTool struct{}

func (oneTool) ListTools(context.Context) ([]mcpclient.Tool, error) {
	return []mcpclient.Tool{{Name: "echo", Schema: json.RawMessage(`{"type":"object"}`)}}, nil
}

func (oneTool) CallTool(context.Context, string, json.RawMessage, func(string)) (mcpclient.Result, error) {
	return mcpclient.Result{}, errors.New("not called here")
}

// TestWorthWaiting: a server is waited for once. What it has offered is known
// afterwards, also while it is away; one that was silent delays nobody again
// until it has answered; one that fails at once is tried like a new one.
func TestWorthWaiting(t *testing.T) {
	broken := errors.New("broken")
	session := func(m mcpclient.Memory, d dialer, length time.Duration) (known string) {
		f := mcpclient.Start(mcpclient.Options{Dialer: d, Memory: m, Dir: "/w",
			Servers: []mcpconfig.Server{{Name: "s", Transport: mcpconfig.HTTP, URL: "http://s.test"}}})
		tools, silent := f.Servers()[0].Known()
		time.Sleep(length)
		synctest.Wait()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		return fmt.Sprintf("tools %v silent %v", tools, silent)
	}
	const (
		unknown = "tools false silent false"
		silent  = "tools false silent true"
		tools   = "tools true silent false"
	)
	type visit struct {
		d      dialer
		length time.Duration
		before string // what is known when it begins
	}
	for name, visits := range map[string][]visit{
		"answers":                        {{dialer{0, nil}, time.Second, unknown}, {dialer{-1, nil}, time.Second, tools}, {dialer{0, nil}, 0, tools}},
		"silent":                         {{dialer{-1, nil}, 5 * time.Second, unknown}, {dialer{-1, nil}, time.Second, silent}, {dialer{0, nil}, time.Second, silent}, {dialer{0, nil}, 0, tools}},
		"a session too short to tell":    {{dialer{-1, nil}, time.Second, unknown}, {dialer{-1, nil}, 0, unknown}},
		"fails at once":                  {{dialer{0, broken}, time.Second / 2, unknown}, {dialer{0, broken}, 0, unknown}},
		"takes its time to fail":         {{dialer{time.Second, broken}, 3 * time.Second, unknown}, {dialer{0, nil}, 0, silent}},
		"away for a moment":              {{dialer{0, nil}, time.Second, unknown}, {dialer{-1, nil}, 5 * time.Second, tools}, {dialer{0, nil}, 0, tools}},
		"away until nobody tries longer": {{dialer{0, nil}, time.Second, unknown}, {dialer{time.Second, broken}, time.Hour, tools}, {dialer{0, nil}, 0, silent}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := mcpclient.Memory{Dir: t.TempDir()}
				for i, v := range visits {
					if got := session(m, v.d, v.length); got != v.before {
						t.Errorf("session %d: %s, want %s", i+1, got, v.before)
					}
				}
			})
		})
	}
}

// TestMemoryHasAnEnd: old servers make room, and a memory that cannot be written
// is told of once a server, and costs nothing else.
func TestMemoryHasAnEnd(t *testing.T) {
	m := mcpclient.Memory{Dir: t.TempDir()}
	for i := range 600 {
		name := fmt.Sprintf("%032x", i)
		for _, end := range []string{".json", ".lock"} {
			path := filepath.Join(m.Dir, name+end)
			if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			at := time.Unix(int64(i+1), 0)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(m mcpclient.Memory) (*mcpclient.Server, *notes) {
		n := &notes{more: make(chan struct{}, 1)}
		f := mcpclient.Start(mcpclient.Options{Dialer: dialer{}, Memory: m, Notice: n.add,
			Servers: []mcpconfig.Server{{Name: "s", Transport: mcpconfig.HTTP, URL: "http://s.test"}}})
		f.Wait(t.Context(), patience, nil)
		s := f.Servers()[0]
		if len(s.Tools()) != 1 {
			t.Error(s.Tools())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		return s, n
	}
	if _, n := run(m); n.all() != "" {
		t.Error(n.all())
	}
	left, err := filepath.Glob(filepath.Join(m.Dir, "*.json"))
	locks, _ := filepath.Glob(filepath.Join(m.Dir, "*.lock")) // a pattern that is right
	if err != nil || len(left) != 500 || len(locks) != 500 || filepath.Base(left[0]) < fmt.Sprintf("%032x", 101) {
		t.Errorf("%d files, %d locks, first %s, %v", len(left), len(locks), left[0], err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, n := run(mcpclient.Memory{Dir: filepath.Join(file, "below")}); strings.Count(n.all(), "not kept for the next session") != 1 {
		t.Error(n.all())
	}
}
