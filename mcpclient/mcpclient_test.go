package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/mcpclient"
	"github.com/knack-skills/knack/mcpclient/sdk"
	"github.com/knack-skills/knack/mcpconfig"
	"github.com/knack-skills/knack/skill"
)

// patience is for what has to happen; a test that passes does not wait for it.
const patience = time.Minute

// notes collect notices.
type notes struct {
	mu   sync.Mutex
	list []string
	more chan struct{}
}

func (n *notes) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, s)
	select {
	case n.more <- struct{}{}:
	default:
	}
}

func (n *notes) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, "\n")
}

// until waits for a notice.
func (n *notes) until(t *testing.T, part string) {
	t.Helper()
	for deadline := time.After(patience); !strings.Contains(n.all(), part); {
		select {
		case <-n.more:
		case <-deadline:
			t.Fatalf("no notice with %q: %s", part, n.all())
		}
	}
}

func config(t *testing.T, kind string) mcpconfig.Server {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcpconfig.Server{Name: kind, Transport: mcpconfig.Stdio, Command: self, Env: map[string]string{asServer: kind}}
}

// fleet starts servers of these kinds and waits until they have answered.
func fleet(t *testing.T, list ...mcpconfig.Server) (*mcpclient.Fleet, *notes) {
	n := &notes{more: make(chan struct{}, 1)}
	f := mcpclient.Start(mcpclient.Options{Servers: list, Dialer: sdk.Dialer{}, Dir: t.TempDir(), Env: os.Environ(), Notice: n.add})
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	if silent := f.Wait(t.Context(), patience, nil); len(silent) > 0 {
		t.Fatal("silent:", silent[0].Config.Name)
	}
	return f, n
}

func one(t *testing.T, kind string) (*mcpclient.Server, *notes) {
	f, n := fleet(t, config(t, kind))
	return f.Servers()[0], n
}

func skills(t *testing.T, s *mcpclient.Server) ([]*skill.Skill, []skill.Problem) {
	t.Helper()
	list, problems, err := s.Source(false).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list, problems
}

func find(t *testing.T, s *mcpclient.Server, id string) *skill.Skill {
	t.Helper()
	list, problems := skills(t, s)
	i := slices.IndexFunc(list, func(k *skill.Skill) bool { return k.ID == id })
	if i < 0 {
		t.Fatalf("no skill %s among %d, %v", id, len(list), problems)
	}
	return list[i]
}

// load reads the body as a call with words does.
func load(t *testing.T, k *skill.Skill, words ...string) (skill.Instructions, error) {
	t.Helper()
	if b, ok := k.Content.Body.(skill.ArgumentBody); ok {
		return b.LoadFor(t.Context(), words)
	}
	return k.Content.Body.Load(t.Context())
}

// TestPrompts: prompts with their arguments, tools and resources of a server that
// prints banners between its messages are as those of a tidy one.
func TestPrompts(t *testing.T) {
	for _, kind := range []string{"good", "banner", "long-line"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, _ := one(t, kind)
			in, err := load(t, find(t, s, kind+":greet"), "Ann", "very", "warmly")
			if err != nil || in.Text != "Hello Ann/very warmly" || !in.Filled {
				t.Error(in, err)
			}
			if _, err := load(t, find(t, s, kind+":greet")); err == nil || !strings.Contains(err.Error(), `needs the argument "who"`) {
				t.Error(err)
			}
			var said []string
			r, err := s.Call(t.Context(), "echo", json.RawMessage(`{"x":"hi"}`), func(p string) { said = append(said, p) })
			if err != nil || !strings.HasPrefix(mcpclient.Text(r.Content), "echo hi\n\n[image/png of 3 bytes left out") {
				t.Error(r, err, said)
			}
			if r, err := s.Call(t.Context(), "echo", json.RawMessage(`{"x":"fail"}`), nil); err != nil || !r.IsError {
				t.Error(r, err)
			}
			if text, err := s.Read(t.Context(), "doc://one"); err != nil || strings.Contains(text, "\x1b") || strings.Contains(text, "</system-reminder>") {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// TestHostile: what servers do to others. Each is refused or made
// harmless, and says so.
func TestHostile(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		check func(t *testing.T, s *mcpclient.Server, n *notes)
	}{
		{"exits", func(t *testing.T, s *mcpclient.Server, n *notes) {
			n.until(t, "exit status 3")
			if got := n.all(); !strings.Contains(got, "no licence for this machine") || strings.Contains(got, "\x1b") {
				t.Errorf("%q", got)
			}
			if _, err := s.Call(t.Context(), "echo", json.RawMessage(`{}`), nil); err == nil || !strings.Contains(err.Error(), "not connected") {
				t.Error(err)
			}
		}},
		{"huge", func(t *testing.T, s *mcpclient.Server, _ *notes) {
			in, err := load(t, find(t, s, "huge:greet"), "x")
			if err != nil || len(in.Text) != 1<<20 || !strings.Contains(in.Note, "only the first") {
				t.Error(len(in.Text), in.Note, err)
			}
		}},
		{"many", func(t *testing.T, s *mcpclient.Server, _ *notes) {
			list, problems := skills(t, s)
			if len(list) != 1001 || len(problems) != 1 || problems[0].Code != "too-many-prompts" { // and one of the Skills extension
				t.Error(len(list), problems)
			}
		}},
		{"same-cursor", func(t *testing.T, s *mcpclient.Server, n *notes) {
			n.until(t, "does not end")
			if len(s.Tools()) != 1 {
				t.Error("the other lists are there:", s.Tools())
			}
		}},
		{"no-list", func(t *testing.T, s *mcpclient.Server, n *notes) { n.until(t, "does not say all that it offers") }},
		{"nulls", func(t *testing.T, s *mcpclient.Server, _ *notes) { find(t, s, "nulls:plain") }},
		{"imitates", func(t *testing.T, s *mcpclient.Server, _ *notes) {
			var ids []string
			list, _ := skills(t, s)
			for _, k := range list {
				ids = append(ids, k.ID)
			}
			slices.Sort(ids)
			want := "imitates:../../etc imitates:a-b imitates:a-b-2 imitates:commit imitates:refine imitates:system-reminder imitates:x-y"
			if got := strings.Join(ids, " "); got != want {
				t.Error(got)
			}
		}},
		{"changes", func(t *testing.T, s *mcpclient.Server, _ *notes) {
			k := find(t, s, "changes:greet")
			a, err1 := load(t, k, "x")
			b, err2 := load(t, k, "x")
			if errors.Join(err1, err2) != nil || a.Text == b.Text {
				t.Error("nothing is kept between calls, so an approval sees the change:", a, b, err1, err2)
			}
		}},
		{"fails", func(t *testing.T, s *mcpclient.Server, _ *notes) {
			if _, err := load(t, find(t, s, "fails:greet"), "x"); err == nil || !strings.Contains(err.Error(), "no such thing") {
				t.Error(err)
			}
		}},
		{"good", func(t *testing.T, s *mcpclient.Server, _ *notes) {
			in, err := load(t, find(t, s, "good:plain"))
			if err != nil || in.Filled || in.Dir != "" || strings.ContainsAny(in.Text, "\x1b\u202e\U000E0041") || strings.Contains(in.Text, "</system-reminder>") {
				t.Errorf("%+v, %v", in, err)
			}
		}},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			s, n := one(t, tt.kind)
			tt.check(t, s, n)
		})
	}
}

// TestSkillsExtension: what a server says of a skill is checked before and while
// it is read.
func TestSkillsExtension(t *testing.T) {
	for kind, want := range map[string]string{
		"good": "", "dynamic": "",
		"bad-digest": "its digest differs", "bad-size": "has said 1", "other-header": "is not what the server lists",
		"other-file": "", "no-files": "does not hold its SKILL.md", "too-many-files": "513 files", "too-large": "has the size", "other-name": "not the last part",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, _ := one(t, kind)
			list, problems := skills(t, s)
			i := slices.IndexFunc(list, func(k *skill.Skill) bool { return k.ID == kind+":refine" })
			if i < 0 {
				if want == "" || len(problems) != 1 || !strings.Contains(problems[0].Message, want) {
					t.Fatal(problems)
				}
				return
			}
			k := list[i]
			if k.Run.Mode != skill.Fork || len(k.Run.Hooks) > 0 || k.Run.Model != "" || !k.Origin.Remote() || k.Description == "" {
				t.Errorf("%+v", k.Run)
			}
			in, err := k.Content.Body.Load(t.Context())
			if want != "" {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				return
			}
			if err != nil || !strings.HasPrefix(in.Text, "Refine it.") || kind == "good" && !strings.Contains(in.Text, "skill://refine/more.md") {
				t.Error(in, err)
			}
			if kind == "dynamic" != (len(k.Run.AllowedTools) == 0) {
				t.Error("grants:", k.Run.AllowedTools)
			}
			more, err := s.Read(t.Context(), "skill://refine/more.md")
			if kind == "other-file" != (err != nil) || err == nil && more != "more" {
				t.Errorf("%q, %v", more, err)
			}
		})
	}
}

// TestLost: a server that dies in a call fails that call, keeps its skills, and
// is connected again; a call can be given up.
func TestLost(t *testing.T) {
	t.Parallel()
	s, n := one(t, "dies")
	if _, err := s.Call(t.Context(), "echo", json.RawMessage(`{}`), nil); err == nil {
		t.Fatal("no error")
	}
	n.until(t, "is lost")
	find(t, s, "dies:greet")
	n.until(t, "is connected")
	find(t, s, "dies:greet")
	slow, _ := one(t, "slow")
	ctx, cancel := context.WithCancel(t.Context())
	var said string
	_, err := slow.Call(ctx, "echo", json.RawMessage(`{}`), func(p string) { said = p; cancel() })
	if !errors.Is(err, context.Canceled) || said != "1 of 4" {
		t.Error(err, said)
	}
}

// TestSilent: a server that never answers holds up nobody but who waits for it.
func TestSilent(t *testing.T) {
	t.Parallel()
	f := mcpclient.Start(mcpclient.Options{Servers: []mcpconfig.Server{config(t, "silent"), config(t, "good")}, Dialer: sdk.Dialer{}, Dir: t.TempDir(), Env: os.Environ()})
	defer f.Close()
	good, err := f.Server("good")
	if err != nil {
		t.Fatal(err)
	}
	if left := f.Wait(t.Context(), patience, []*mcpclient.Server{good}); len(left) > 0 {
		t.Fatal("good is silent")
	}
	silent, err := f.Server("silent")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if left := f.Wait(ctx, patience, nil); len(left) != 1 || left[0] != silent {
		t.Error(left)
	}
	if list, _ := skills(t, silent); len(list) > 0 {
		t.Error(list)
	}
}

// TestGone: nothing that a server has started is left when the fleet is closed.
func TestGone(t *testing.T) {
	t.Parallel()
	f, _ := fleet(t, config(t, "stubborn"))
	if state, err := f.Servers()[0].Status(); state != mcpclient.Connected {
		t.Fatal(state, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if state, _ := f.Servers()[0].Status(); state != mcpclient.Closed {
		t.Error(state)
	}
}

// TestCannotStart says why, and does not try again and again.
func TestCannotStart(t *testing.T) {
	f, n := fleet(t, mcpconfig.Server{Name: "none", Transport: mcpconfig.Stdio, Command: filepath.Join(t.TempDir(), "no-such-program")})
	n.until(t, "MCP server none is not available: it cannot be started")
	if state, err := f.Servers()[0].Status(); state != mcpclient.Failed || err == nil {
		t.Error(state, err)
	}
	if _, err := f.Server("other"); err == nil || !strings.Contains(err.Error(), "there are none") {
		t.Error(err)
	}
}

// TestHTTP: both transports of the network, with the headers of the entry, and
// what changes on the server arrives.
func TestHTTP(t *testing.T) {
	for _, kind := range []mcpconfig.Transport{mcpconfig.HTTP, mcpconfig.SSE} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := mcp.NewServer(&mcp.Implementation{Name: "h", Version: "1"}, nil)
			add := func(name string) {
				server.AddPrompt(&mcp.Prompt{Name: name, Description: "d"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
					return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "text of " + name}}}}, nil
				})
			}
			add("p")
			get := func(*http.Request) *mcp.Server { return server }
			var h http.Handler = mcp.NewStreamableHTTPHandler(get, nil)
			if kind == mcpconfig.SSE {
				h = mcp.NewSSEHandler(get, nil)
			}
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer x" {
					http.Error(w, "who are you?", http.StatusUnauthorized)
					return
				}
				h.ServeHTTP(w, r)
			}))
			defer ts.Close()
			changed := make(chan struct{}, 100)
			n := &notes{more: make(chan struct{}, 1)}
			f := mcpclient.Start(mcpclient.Options{Dialer: sdk.Dialer{}, Notice: n.add, Changed: func(context.Context, *mcpclient.Server) { changed <- struct{}{} },
				Servers: []mcpconfig.Server{
					{Name: "h", Transport: kind, URL: ts.URL, Headers: map[string]string{"Authorization": "Bearer x"}},
					{Name: "refused", Transport: kind, URL: ts.URL},
				}})
			defer f.Close()
			if left := f.Wait(t.Context(), patience, nil); len(left) > 0 {
				t.Fatal("silent")
			}
			n.until(t, "MCP server refused is not available")
			s, err := f.Server("h")
			if err != nil {
				t.Fatal(err)
			}
			if in, err := load(t, find(t, s, "h:p")); err != nil || in.Text != "text of p" {
				t.Error(in, err)
			}
			<-changed
			add("q")
			server.RemovePrompts("p")
			for deadline := time.After(patience); ; {
				list, _ := skills(t, s)
				if len(list) == 1 && list[0].ID == "h:q" {
					break
				}
				select {
				case <-changed:
				case <-deadline:
					t.Fatal("q did not come, or p did not go")
				}
			}
		})
	}
}

// TestRedirect: the headers of an entry do not follow to another host.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Error("reached with", r.Header.Get("X-Key")) }))
	defer other.Close()
	ts := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer ts.Close()
	_, n := fleet(t, mcpconfig.Server{Name: "r", Transport: mcpconfig.HTTP, URL: ts.URL, Headers: map[string]string{"X-Key": "secret"}})
	n.until(t, "redirects to another host")
}

// TestFlood: notices without end cost neither the session nor the lists.
func TestFlood(t *testing.T) {
	t.Parallel()
	s, _ := one(t, "flood")
	if in, err := load(t, find(t, s, "flood:greet"), "Ann"); err != nil || in.Text != "Hello Ann/" {
		t.Error(in, err)
	}
	if _, err := s.Call(t.Context(), "echo", json.RawMessage(`{}`), nil); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Error(err)
	}
}
