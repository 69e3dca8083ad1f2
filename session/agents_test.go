package session_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

func TestStartAgent(t *testing.T) { // spec I-8, I-10
	s := session.New("")
	if a, ok := s.Agent(session.Main); !ok || a.ID != session.Main || a.Depth != 0 || len(a.Chain) > 0 {
		t.Errorf("main agent: %+v, %v", a, ok)
	}
	one := s.StartAgent("", "general-purpose", "review")
	two := s.StartAgent(one, "Explore", "")
	three := s.StartAgent(two, "Plan", "deep")
	side := s.StartAgent(two, "Plan", "other")
	for _, want := range []session.Agent{
		{ID: one, Parent: session.Main, Type: "general-purpose", Skill: "review", Depth: 1, Chain: []string{"review"}},
		{ID: two, Parent: one, Type: "Explore", Depth: 2, Chain: []string{"review"}},
		{ID: three, Parent: two, Type: "Plan", Skill: "deep", Depth: 3, Chain: []string{"review", "deep"}},
		{ID: side, Parent: two, Type: "Plan", Skill: "other", Depth: 3, Chain: []string{"review", "other"}},
	} {
		got, ok := s.Agent(want.ID)
		if d := cmp.Diff(want, got); d != "" || !ok {
			t.Errorf("%v: %s", ok, d)
		}
		if len(got.Chain) > 0 {
			got.Chain[0] = "changed" // a copy
		}
	}
	if got, want := s.Running(), []session.AgentID{one, two, three, side}; !slices.Equal(got, want) {
		t.Errorf("Running = %q, want %q", got, want)
	}
	s.EndAgent(two)
	if got, want := s.Running(), []session.AgentID{one, three, side}; !slices.Equal(got, want) {
		t.Errorf("Running = %q, want %q", got, want)
	}
	if _, ok := s.Agent(two); ok {
		t.Error("an agent that ended is still there")
	}
	// Its children go on, and know where they are.
	if a, _ := s.Agent(three); a.Depth != 3 || a.Parent != two {
		t.Errorf("orphan: %+v", a)
	}
	// Whoever starts below an agent that has ended does not begin at the top.
	if a, _ := s.Agent(s.StartAgent(two, "", "late")); a.Depth != 3 || !slices.Equal(a.Chain, []string{"review", "late"}) {
		t.Errorf("started by one that ended: %+v", a)
	}
}

func TestLateCallsLeaveNothing(t *testing.T) { // spec I-10, M-1
	s := session.New("")
	id := s.StartAgent(session.Main, "", "")
	s.EndAgent(id)
	s.EndAgent(id)
	rule := permission.Rule{Text: "Read", Tool: "Read"}
	for range 2 {
		if s.Record(id, session.Invoked{ID: "a", Text: "x"}) {
			t.Error("an agent that ended holds a text")
		}
		s.Tell(id, map[string]skill.Summary{"a": {ID: "a"}})
		s.Register(id, "a", skill.Origin{}, hook.Config{{Event: "Stop", Handlers: []hook.Handler{{}}}})
		s.Keep(id, permission.Rules{Allow: []permission.Rule{rule}})
	}
	if n := len(s.Invoked(id)) + len(s.Told(id)) + len(s.Hooks(id)) + len(s.Kept(id).Allow); n > 0 {
		t.Errorf("%d things are remembered of an agent that ended", n)
	}
}

// Nothing of one agent is seen by another, neither by its parent nor by its
// child, and it goes with the agent.
func TestMemoryIsPerAgent(t *testing.T) { // spec M-1, H-8
	s := session.New("")
	parent := s.StartAgent(session.Main, "", "")
	child := s.StartAgent(parent, "", "")
	agents := []session.AgentID{session.Main, parent, child}
	for _, a := range agents {
		name := string(a)
		s.Record(a, session.Invoked{ID: name, Text: "same text"})
		s.Tell(a, map[string]skill.Summary{name: {ID: name}})
		s.Register(a, name, skill.Origin{}, hook.Config{{Event: "Stop", Handlers: []hook.Handler{{Command: name}}}})
		s.Keep(a, permission.Rules{Deny: []permission.Rule{{Text: name}}})
	}
	check := func(a session.AgentID, there bool) {
		t.Helper()
		var want []string
		if there {
			want = []string{string(a), string(a), string(a), string(a)}
		}
		var got []string
		for _, i := range s.Invoked(a) {
			got = append(got, i.ID)
		}
		for id := range s.Told(a) {
			got = append(got, id)
		}
		for _, h := range s.Hooks(a) {
			got = append(got, h.Handler.Command)
		}
		for _, r := range s.Kept(a).Deny {
			got = append(got, r.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", a, got, want)
		}
	}
	for _, a := range agents {
		check(a, true)
	}
	s.EndAgent(parent)
	check(session.Main, true)
	check(parent, false)
	check(child, true)
}

func handlers(hooks []session.Hook) (out []string) {
	for _, h := range hooks {
		out = append(out, h.Owner+":"+string(h.Event)+":"+h.Matcher+":"+h.Handler.Command)
	}
	return out
}

func TestHooks(t *testing.T) { // spec H-8
	s := session.New("")
	cfg := func(names ...string) hook.Config {
		g := hook.Group{Event: hook.PreToolUse, Matcher: "Bash"}
		for _, n := range names {
			g.Handlers = append(g.Handlers, hook.Handler{Type: hook.Command, Command: n, Once: n == "once"})
		}
		return hook.Config{g}
	}
	is := func(want ...string) {
		t.Helper()
		if got := handlers(s.Hooks(session.Main)); !slices.Equal(got, want) {
			t.Errorf("hooks %q, want %q", got, want)
		}
	}
	from := skill.Origin{Source: skill.User, Dir: "/skills/a"}
	s.Register(session.Main, "a", from, cfg("one", "once", "two"))
	s.Register(session.Main, "b", skill.Origin{}, cfg("three"))
	is("a:PreToolUse:Bash:one", "a:PreToolUse:Bash:once", "a:PreToolUse:Bash:two", "b:PreToolUse:Bash:three")
	hooks := s.Hooks(session.Main)
	if hooks[0].Origin.Dir != "/skills/a" {
		t.Errorf("origin %+v", hooks[0].Origin)
	}
	if s.Spend(session.Main, hooks[0]) || s.Spend(session.Main, session.Hook{}) || s.Spend("worker", hooks[1]) {
		t.Error("something was taken away that is not to run once, or not there")
	}
	if !s.Spend(session.Main, hooks[1]) || s.Spend(session.Main, hooks[1]) {
		t.Error("a handler is taken away exactly once")
	}
	is("a:PreToolUse:Bash:one", "a:PreToolUse:Bash:two", "b:PreToolUse:Bash:three")

	// Again: replaced in place, not doubled; and what runs once runs once more.
	s.Register(session.Main, "a", from, cfg("once", "new"))
	is("a:PreToolUse:Bash:once", "a:PreToolUse:Bash:new", "b:PreToolUse:Bash:three")
	if s.Spend(session.Main, hooks[1]) {
		t.Error("a run of the earlier registration spent a handler of the new one")
	}
	s.Restore(session.Main, session.Budget{}) // spec M-3: hooks survive
	is("a:PreToolUse:Bash:once", "a:PreToolUse:Bash:new", "b:PreToolUse:Bash:three")
	s.Register(session.Main, "a", from, nil)
	is("b:PreToolUse:Bash:three")
}

func TestKeep(t *testing.T) {
	s := session.New("")
	rule := func(text, root string) permission.Rule {
		r, err := permission.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Root = root
		return r
	}
	a, b := rule("Edit(/x)", "/one"), rule("Edit(/x)", "/two")
	s.Keep(session.Main, permission.Rules{Allow: []permission.Rule{a}, Deny: []permission.Rule{b}})
	s.Keep(session.Main, permission.Rules{Allow: []permission.Rule{a, b}, Ask: []permission.Rule{a}})
	want := permission.Rules{Allow: []permission.Rule{a, b}, Deny: []permission.Rule{b}, Ask: []permission.Rule{a}}
	got := s.Kept(session.Main)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got.Allow[0].Text = "changed"
	if d := cmp.Diff(want, s.Kept(session.Main)); d != "" {
		t.Error(d)
	}
}

func TestUntell(t *testing.T) { // spec L-7
	s := session.New("")
	s.Tell(session.Main, map[string]skill.Summary{"a": {ID: "a"}})
	s.Tell("worker", map[string]skill.Summary{"a": {ID: "a"}})
	s.Restore(session.Main, session.Budget{})
	if len(s.Told(session.Main)) != 1 {
		t.Error("compaction changed what the agent was told")
	}
	s.Untell(session.Main)
	if len(s.Told(session.Main)) != 0 || len(s.Told("worker")) != 1 {
		t.Errorf("told %v and %v", s.Told(session.Main), s.Told("worker"))
	}
}

func TestConcurrentAgents(t *testing.T) { // spec M-6
	s := session.New("")
	const n = 60
	ids := make([]session.AgentID, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			id := s.StartAgent(session.Main, "t", "")
			ids[i] = id
			own := fmt.Sprint("skill-", i)
			s.Record(id, session.Invoked{ID: own, Text: own})
			s.Register(id, own, skill.Origin{}, hook.Config{{Event: "Stop", Handlers: []hook.Handler{{Once: true}}}})
			s.Keep(id, permission.Rules{Allow: []permission.Rule{{Text: own}}})
			s.Register(session.Main, own, skill.Origin{}, hook.Config{{Event: "Stop", Handlers: []hook.Handler{{Once: true}}}})
			for _, h := range s.Hooks(id) {
				if h.Owner != own || !s.Spend(id, h) {
					t.Errorf("%s has %+v", id, h)
				}
			}
			if r := s.Restore(id, session.Budget{}); len(r.Skills) != 1 || r.Skills[0].ID != own {
				t.Errorf("%s restores %+v", id, r)
			}
			s.Restore(session.Main, session.Budget{})
			s.Running()
			s.Agent(id)
			if i%2 == 0 {
				s.EndAgent(id)
			}
		})
	}
	wg.Wait()
	slices.Sort(ids)
	if len(slices.Compact(ids)) != n || len(s.Running()) != n/2 || len(s.Hooks(session.Main)) != n {
		t.Errorf("%d ids, %d running, %d hooks", len(ids), len(s.Running()), len(s.Hooks(session.Main)))
	}
}
