package file_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/file"
	"github.com/knack-skills/knack/agent/tool/tooltest"
	"github.com/knack-skills/knack/session"
)

// A bench is a directory with the tools of one session.
type bench struct {
	t     *testing.T
	dir   string
	tools map[string]agent.Tool
	seen  *file.Seen
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, tools: map[string]agent.Tool{}, seen: file.NewSeen()}
	for _, one := range file.Tools(tool.Base{Dir: dir}, b.seen) {
		b.tools[one.Spec().Name] = one
	}
	return b
}

type args map[string]any

func (b *bench) plan(name string, in args) agent.Plan {
	b.t.Helper()
	return tooltest.Plan(b.t, b.tools[name], in)
}

func env(a session.AgentID) agent.CallEnv {
	return agent.CallEnv{ID: "1", Agent: a, Progress: func(string) {}}
}

// as calls a tool as an agent and returns its text; errors begin with "! ".
func (b *bench) as(a session.AgentID, name string, in args) string {
	b.t.Helper()
	return strings.ReplaceAll(tooltest.Call(b.t, b.tools[name], env(a), in), b.dir, "DIR")
}

func (b *bench) call(name string, in args) string {
	b.t.Helper()
	return b.as(session.Main, name, in)
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) put(name, content string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) want(name, content string) {
	b.t.Helper()
	got, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	if d := cmp.Diff(content, string(got)); d != "" {
		b.t.Errorf("%s: %s", name, d)
	}
}

func has(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(got, w) {
			t.Errorf("%q is not in %.400q", w, got)
		}
	}
}

func TestContract(t *testing.T) {
	b := newBench(t)
	b.put("f", "x\n")
	for name, valid := range map[string][]string{
		"Read":      {`{"file_path":"f"}`, `{"file_path":"/none/such","offset":3,"limit":1}`},
		"Write":     {`{"file_path":"f","content":""}`, `{"file_path":"new/dir/f","content":"é\n"}`},
		"Edit":      {`{"file_path":"f","old_string":"a","new_string":"b"}`, `{"file_path":"f","old_string":"a","new_string":"","replace_all":true}`},
		"MultiEdit": {`{"file_path":"f","edits":[{"old_string":"a","new_string":"b"}]}`},
	} {
		t.Run(name, func(t *testing.T) { tooltest.Run(t, b.tools[name], valid...) })
	}
}

func TestPlans(t *testing.T) { // spec S-8, D-1
	b := newBench(t)
	if err := os.Symlink("real", b.path("link")); err != nil {
		t.Skip("this system makes no links:", err)
	}
	for name, in := range map[string]args{
		"Read":  {"file_path": "link"},
		"Write": {"file_path": b.path("link"), "content": ""},
		"Edit":  {"file_path": "x/../link", "old_string": "a", "new_string": "b"},
	} {
		p := b.plan(name, in)
		if p.Ask.Tool != name || p.Ask.Input.Path != b.path("link") || p.Ask.Input.RealPath != b.path("real") || p.Ask.WorkDir != b.dir {
			t.Errorf("%s asks for %+v", name, p.Ask)
		}
		if p.ReadOnly != (name == "Read") || len(p.Touches) != 1 || p.Touches[0] != b.path("link") {
			t.Errorf("%s: read only %v, touches %q", name, p.ReadOnly, p.Touches)
		}
	}
}

func TestBadInput(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct{ tool, in, want string }{
		{"Edit", `{"file_path":"f","old_string":"","new_string":"b"}`, "create the file with Write"},
		{"Edit", `{"file_path":"f","old_string":"b","new_string":"b"}`, "nothing would change"},
		{"Edit", `{"file_path":"f","new_string":"b"}`, `"old_string" is missing`},
		{"MultiEdit", `{"file_path":"f","edits":[]}`, "at least 1"},
		{"MultiEdit", `{"file_path":"f","edits":[{"old_string":"a","new_string":"b"},{"old_string":"a","new_string":"a"}]}`, "edits[1]"},
		{"Write", `{"file_path":"d/","content":""}`, "directory"},
		{"Read", `{"file_path":"a\u0000b"}`, "NUL"},
		{"Read", `{"path":"a"}`, `did you mean "file_path"`},
	} {
		if _, err := b.tools[tt.tool].Plan(json.RawMessage(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s(%s): %v", tt.tool, tt.in, err)
		}
	}
}

func TestWrite(t *testing.T) {
	b := newBench(t)
	if got := b.call("Write", args{"file_path": "a/b/f.txt", "content": "one\ntwo\n"}); got != "Created DIR/a/b/f.txt (2 lines)." {
		t.Error(got)
	}
	b.want("a/b/f.txt", "one\ntwo\n")
	// What an agent has written it knows.
	has(t, b.call("Write", args{"file_path": "a/b/f.txt", "content": "1\n"}), "Replaced DIR/a/b/f.txt (1 line).")
	has(t, b.call("Edit", args{"file_path": "a/b/f.txt", "old_string": "1", "new_string": "2"}), "     1\t2\n")
	b.want("a/b/f.txt", "2\n")
	// Another one does not.
	has(t, b.as("other", "Write", args{"file_path": "a/b/f.txt", "content": "x"}), "! DIR/a/b/f.txt was not read yet")
	b.want("a/b/f.txt", "2\n")
	b.put("empty", "")
	has(t, b.call("Write", args{"file_path": "empty", "content": "x"}), "Replaced")
	has(t, b.call("Write", args{"file_path": "a", "content": "x"}), "! DIR/a is a directory")
	has(t, b.call("Write", args{"file_path": "empty/below", "content": "x"}), "! ")
	if entries, _ := os.ReadDir(b.path("a/b")); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestSeen(t *testing.T) {
	b := newBench(t)
	b.put("f", "one\n")
	edit := args{"file_path": "f", "old_string": "one", "new_string": "two"}
	has(t, b.call("Edit", edit), "! DIR/f was not read yet: read it first")
	b.call("Read", args{"file_path": "f"})
	b.put("f", "one more\n")
	has(t, b.call("Edit", edit), "! DIR/f has changed since it was read: read it again")
	has(t, b.call("Write", args{"file_path": "f", "content": ""}), "! DIR/f has changed")
	b.want("f", "one more\n")
	b.call("Read", args{"file_path": "f", "limit": 1})
	has(t, b.call("Edit", edit), "Changed DIR/f")
	b.want("f", "two more\n")
	b.seen.EndAgent(session.Main)
	has(t, b.call("Edit", args{"file_path": "f", "old_string": "two", "new_string": "x"}), "was not read yet")
	has(t, b.call("Edit", args{"file_path": "none", "old_string": "a", "new_string": "b"}), "! DIR/none does not exist")
}

// TestTwoAgents: of agents that change one file at once, none loses what
// another one wrote.
func TestTwoAgents(t *testing.T) {
	b := newBench(t)
	b.put("f", "start\n")
	const agents = 8
	var wg sync.WaitGroup
	plans := make([]agent.Plan, agents)
	done := make([]bool, agents)
	for i := range agents {
		b.as(session.AgentID(fmt.Sprint(i)), "Read", args{"file_path": "f"})
		plans[i] = b.plan("Edit", args{"file_path": "f", "old_string": "start\n", "new_string": fmt.Sprintf("start\n%d\n", i)})
	}
	for i := range agents {
		wg.Go(func() {
			r, err := plans[i].Run(context.Background(), env(session.AgentID(fmt.Sprint(i))))
			done[i] = err == nil && !r.IsError
		})
	}
	wg.Wait()
	n := 0
	for i, ok := range done {
		if ok {
			n++
			b.want("f", fmt.Sprintf("start\n%d\n", i))
		}
	}
	if n != 1 {
		t.Errorf("%d agents changed the file they had read, want 1", n)
	}
}

func TestCancelled(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, in := range map[string]args{"Read": {"file_path": "f"}, "Write": {"file_path": "f", "content": "x"}} {
		if _, err := b.plan(name, in).Run(ctx, env(session.Main)); err == nil {
			t.Errorf("%s runs in a turn that has ended", name)
		}
	}
	if _, err := os.Stat(b.path("f")); err == nil {
		t.Error("a file was written")
	}
}

func FuzzPlan(f *testing.F) {
	for _, s := range []string{`{"file_path":"a"}`, `{"file_path":"a","old_string":"x","new_string":"y"}`, `{"file_path":"~/a","content":""}`, `{"file_path":"a","edits":[{}]}`, `[]`} {
		f.Add([]byte(s))
	}
	tools := file.Tools(tool.Base{Dir: f.TempDir()}, file.NewSeen())
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, one := range tools {
			if p, err := one.Plan(raw); err == nil && (!filepath.IsAbs(p.Ask.Input.Path) || p.Run == nil) {
				t.Errorf("%s(%q) asks for %q", one.Spec().Name, raw, p.Ask.Input.Path)
			}
		}
	})
}
