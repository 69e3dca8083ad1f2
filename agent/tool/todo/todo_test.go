package todo_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool/todo"
	"github.com/knack-skills/knack/agent/tool/tooltest"
	"github.com/knack-skills/knack/session"
)

func TestContract(t *testing.T) {
	tooltest.Run(t, todo.New(todo.NewLists()), `{"todos":[]}`, `{"todos":[{"content":"Run","status":"pending"},{"content":"x","status":"completed","activeForm":"y"}]}`)
}

func call(t *testing.T, one agent.Tool, a session.AgentID, in string) string {
	t.Helper()
	p, err := one.Plan(json.RawMessage(in))
	if err != nil {
		return "! " + err.Error()
	}
	if p.Ask.Tool != "" || p.ReadOnly || p.Person {
		t.Errorf("%+v", p)
	}
	r, err := p.Run(t.Context(), agent.CallEnv{Agent: a, Progress: func(string) {}})
	if err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Text
}

func TestTodoWrite(t *testing.T) {
	lists := todo.NewLists()
	one := todo.New(lists)
	for _, tt := range []struct{ in, want string }{
		{`{"todos":[{"content":"Plan\n it","status":"completed"},{"content":"Do it","status":"in_progress","activeForm":"Doing it"},{"content":"Test","status":"pending"}]}`,
			"1. [x] Plan it\n2. [>] Do it\n3. [ ] Test\n1 of 3 completed."},
		{`{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`, "1. [>] a\n2. [>] b\n0 of 2 completed. 2 are in progress: do one at a time."},
		{`{"todos":[]}`, "The list is empty."},
		{`{"todos":[{"content":"a","status":"done"}]}`, `! TodoWrite: "todos[0].status" must be one of pending, in_progress, completed, not "done"`},
		{`{"todos":[{"content":"","status":"pending"}]}`, `! TodoWrite: "todos[0].content" is empty: what to do, such as Run the tests`},
		{`{"todos":[{"content":"a","status":"pending","id":"1"}]}`, `! TodoWrite: unknown key "todos[0].id"; the keys are content, status, activeForm`},
	} {
		if got := call(t, one, session.Main, tt.in); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func TestLists(t *testing.T) {
	lists := todo.NewLists()
	one := todo.New(lists)
	call(t, one, session.Main, `{"todos":[{"content":"a","status":"pending","activeForm":"b"}]}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { call(t, one, "other", `{"todos":[{"content":"x","status":"completed"}]}`) })
	}
	wg.Wait()
	if d := cmp.Diff([]todo.Task{{Content: "a", Status: todo.Pending, Active: "b"}}, lists.Of(session.Main)); d != "" {
		t.Error(d)
	}
	lists.Of(session.Main)[0].Content = "changed"
	if lists.Of(session.Main)[0].Content != "a" {
		t.Error("what Of returns is the list itself")
	}
	lists.EndAgent("other")
	if len(lists.Of("other")) != 0 || len(lists.Of(session.Main)) != 1 {
		t.Error("the end of an agent ends the wrong list")
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"todos":[{"content":"a","status":"pending"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := todo.New(todo.NewLists()).Plan(raw)
		if err != nil {
			return
		}
		r, err := p.Run(t.Context(), agent.CallEnv{Progress: func(string) {}})
		if err != nil || strings.TrimSpace(r.Text) == "" {
			t.Errorf("%q: %+v, %v", raw, r, err)
		}
	})
}
