package agent_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/bash"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
)

// threaded is a thread over the real engine, with rules of its own.
type threaded struct {
	*knack.Engine
	rules permission.Rules
	fork  invoke.Forker
	ask   invoke.Asker
	hooks func(context.Context, hook.Input) hook.Outcome
}

func (e threaded) Env() invoke.Env {
	env := e.Engine.Env()
	env.Fork, env.Ask, env.Hooks = e.fork, e.ask, e.hooks
	env.Rules.Deny = slices.Concat(e.rules.Deny, env.Rules.Deny)
	env.Rules = env.Rules.With(e.rules.Allow...)
	return env
}

func TestThreadCalls(t *testing.T) { // spec A-10
	for _, tt := range []struct {
		name, tool, input string
		deny              string
		cancel            bool
		want              string
		failed            bool
	}{
		{name: "skill", tool: "Skill", input: `{"skill":"inline"}`, want: "Launching skill: inline"},
		{name: "search", tool: "SkillSearch", input: `{"query":"inline"}`, want: "- inline: "},
		{name: "unknown tool", tool: "Nope", input: `{}`, want: `There is no tool "Nope".`, failed: true},
		{name: "bad input", tool: "Skill", input: `{"skil":"x"}`, want: `The input of Skill is wrong: unknown key "skil"`, failed: true},
		{name: "no JSON", tool: "Skill", input: `{"skill"`, want: "The input of Skill is wrong: ", failed: true},
		{name: "unknown skill", tool: "Skill", input: `{"skill":"inlin"}`, want: "inline", failed: true},
		{name: "denied skill", tool: "Skill", input: `{"skill":"inline"}`, deny: "Skill(inline)", want: "Skill(inline)", failed: true},
		{name: "denied tool", tool: "SkillSearch", input: `{"query":"x"}`, deny: "SkillSearch", want: "Permission denied: ", failed: true},
		{name: "nobody asks", tool: "Bash", input: `{"command":"touch made","description":"d"}`, want: "needs an approval of its own", failed: true},
		{name: "cancelled", tool: "Skill", input: `{"skill":"inline"}`, cancel: true, want: "Cancelled before it ran.", failed: true},
		{name: "no subagents", tool: "Skill", input: `{"skill":"forked"}`, want: "subagent", failed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				skills + "inline/SKILL.md": skillFile("Do it."),
				skills + "forked/SKILL.md": skillFile("Do it apart.", "context: fork"),
			})
			e := threaded{Engine: w.engine}
			if tt.deny != "" {
				e.rules.Deny = []permission.Rule{rule(t, tt.deny)}
			}
			thread := skilltool.For(e)
			shells := bash.NewShells(bash.Options{Base: tool.Base{Dir: w.engine.Dir()}, Runner: shell.Exec{}})
			t.Cleanup(func() { _ = shells.Close() })
			thread.Tools = append(thread.Tools, shells.Tools()...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.cancel {
				cancel()
			}
			got, failed := thread.Call(ctx, tt.tool, json.RawMessage(tt.input))
			if failed != tt.failed || !strings.Contains(got, tt.want) {
				t.Errorf("%q, failed %v; want %q in it, failed %v", got, failed, tt.want, tt.failed)
			}
			if _, told := thread.Engine.Announce(session.Main); !told {
				t.Error("a call used up the listing")
			}
			if follow := thread.Texts(); failed && len(follow) > 0 {
				t.Errorf("a call that failed left %q", follow)
			}
		})
	}
}

// TestThreadTurn: what skills say and change comes once, in order, and what they
// change ends with the turn.
func TestThreadTurn(t *testing.T) { // spec I-4, I-5, I-6
	w := newWorld(t, map[string]string{
		skills + "one/SKILL.md":  skillFile("First.", "effort: high", "disallowed-tools: WebFetch"),
		skills + "two/SKILL.md":  skillFile("Second.", "allowed-tools: Read(//etc/**)"),
		skills + "mine/SKILL.md": skillFile("Mine.", "user-invocable: false"),
	})
	thread := skilltool.For(threaded{Engine: w.engine, rules: permission.Rules{Allow: []permission.Rule{rule(t, "Skill")}}})
	has := func(got []string, want ...string) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%q, want %q", got, want)
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("text %d is %q, want %q in it", i, got[i], want[i])
			}
		}
	}
	read := w.engine.PermissionRequest("Read")
	read.Input.Path = "/etc/hosts"

	thread.Begin()
	thread.Say("hello")
	has(thread.Texts(), "- one: ", "hello")
	has(thread.Texts())

	if answer, ended := thread.Typed(t.Context(), "one", "x"); ended {
		t.Fatal(answer)
	}
	has(thread.Texts(), "/one", "First.", "effort: high")
	if d := thread.Rules().Decide(read); d.Verdict == permission.Allow {
		t.Errorf("before the grant: %+v", d)
	}
	if got, failed := thread.Call(t.Context(), "Skill", json.RawMessage(`{"skill":"two"}`)); failed {
		t.Fatal(got)
	}
	has(thread.Texts(), "/two", "Second.", "allowed without asking")
	if d := thread.Rules().Decide(read); d.Verdict != permission.Allow {
		t.Errorf("the grant does not hold: %+v", d)
	}
	if d := thread.Rules().Decide(w.engine.PermissionRequest("WebFetch")); d.Verdict != permission.Deny || thread.Override.Effort != "high" {
		t.Errorf("%+v, effort %q", d, thread.Override.Effort)
	}
	thread.Begin()
	if d := thread.Rules().Decide(read); d.Verdict == permission.Allow || thread.Override.Effort != "" {
		t.Errorf("after the turn: %+v, %+v", d, thread.Override)
	}

	// The second of two typed skills fails: the text of the first is recorded as
	// told, so it is told with the next turn.
	if _, ended := thread.Typed(t.Context(), "one", "y"); ended {
		t.Fatal("the first ended the turn")
	}
	answer, ended := thread.Typed(t.Context(), "mine", "y")
	if !ended || !strings.Contains(answer, "mine") {
		t.Errorf("%q, %v", answer, ended)
	}
	thread.Begin()
	thread.Say("and now?")
	has(thread.Texts(), "/one", "First.", "effort: high", "and now?")
}

// forks runs subagents in the words of a test.
type forks func(invoke.ForkRequest) (invoke.ForkResult, error)

func (f forks) Fork(_ context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) { return f(r) }

// yes allows everything and notes that it was asked.
type yes struct{ asked *int }

func (y yes) Ask(context.Context, invoke.Question) (invoke.Answer, error) {
	*y.asked++
	return invoke.Answer{Allow: true}, nil
}

func TestThreadSub(t *testing.T) { // spec I-8, I-10
	w := newWorld(t, map[string]string{
		skills + "apart/SKILL.md":   skillFile("Look at $0.", "context: fork"),
		skills + "strict/SKILL.md":  skillFile("Be strict.", "disallowed-tools: WebFetch"),
		skills + "granted/SKILL.md": skillFile("Granted.", "allowed-tools: Bash"),
	})
	e := &threaded{Engine: w.engine}
	asked := 0
	e.ask = yes{&asked}
	thread := skilltool.For(e)
	var sub *agent.Thread
	e.fork = forks(func(r invoke.ForkRequest) (invoke.ForkResult, error) {
		child, err := thread.Sub(r)
		if err != nil {
			return invoke.ForkResult{}, err
		}
		sub = child
		return invoke.ForkResult{Text: "looked"}, nil
	})
	thread.Begin()
	if _, failed := thread.Call(t.Context(), "Skill", json.RawMessage(`{"skill":"strict"}`)); failed {
		t.Fatal("strict")
	}
	if answer, ended := thread.Typed(t.Context(), "apart", "a.go"); !ended || answer != "looked" {
		t.Fatalf("%q, %v", answer, ended)
	}
	if got := sub.Texts(); len(got) != 2 || !strings.Contains(got[0], "- apart") || !strings.Contains(got[1], "Look at a.go.") {
		t.Errorf("the subagent is told %q", got)
	}
	if d := sub.Rules().Decide(w.engine.PermissionRequest("WebFetch")); d.Verdict != permission.Deny {
		t.Errorf("a subagent may do what its agent may not: %+v", d)
	}
	if got, failed := sub.Call(t.Context(), "Skill", json.RawMessage(`{"skill":"apart"}`)); !failed || !strings.Contains(got, "cannot start itself") {
		t.Errorf("a fork of itself: %q", got)
	}
	if got, failed := sub.Call(t.Context(), "Skill", json.RawMessage(`{"skill":"granted"}`)); !failed || asked != 0 {
		t.Errorf("a subagent asked the person %d times: %q", asked, got)
	}
	if got, failed := thread.Call(t.Context(), "Skill", json.RawMessage(`{"skill":"granted"}`)); failed || asked != 1 {
		t.Errorf("the main agent asked the person %d times: %q", asked, got)
	}
	deep := invoke.ForkRequest{Parent: sub.Agent}
	for depth := 2; ; depth++ {
		next, err := thread.Sub(deep)
		if err != nil {
			if depth != session.MaxDepth+1 {
				t.Errorf("depth %d: %v", depth, err)
			}
			break
		}
		deep.Parent = next.Agent
	}
}

// TestThreadHooks: the hooks that a host puts beside the road hold for what a
// person types and for what a model calls, once for each call, and what they add
// for a subagent is told to it (spec H-2, H-6).
func TestThreadHooks(t *testing.T) {
	w := newWorld(t, map[string]string{
		skills + "shut/SKILL.md":  skillFile("Shut."),
		skills + "apart/SKILL.md": skillFile("Look.", "context: fork"),
	})
	var heard []string
	e := &threaded{Engine: w.engine, rules: permission.Rules{Allow: []permission.Rule{rule(t, "Skill")}}}
	e.hooks = func(_ context.Context, in hook.Input) hook.Outcome {
		heard = append(heard, string(in.Event))
		if in.CommandName == "shut" || in.Covers != nil && in.Covers("Skill(shut)") {
			return hook.Outcome{Block: true, Opinion: hook.Deny, Reason: "closed"}
		}
		return hook.Outcome{Context: []string{"be brief"}}
	}
	thread := skilltool.For(e)
	var sub *agent.Thread
	e.fork = forks(func(r invoke.ForkRequest) (invoke.ForkResult, error) {
		child, err := thread.Sub(r)
		sub = child
		return invoke.ForkResult{Text: "looked"}, err
	})
	if answer, ended := thread.Typed(t.Context(), "shut", ""); !ended || !strings.Contains(answer, "closed") {
		t.Errorf("typed: %q", answer)
	}
	if got, failed := thread.Call(t.Context(), "Skill", json.RawMessage(`{"skill":"shut"}`)); !failed || !strings.Contains(got, "closed") {
		t.Errorf("called: %q", got)
	}
	if got, failed := thread.Call(t.Context(), "Skill", json.RawMessage(`{"skill":"apart"}`)); failed {
		t.Fatal(got)
	}
	if want := []string{"UserPromptExpansion", "PreToolUse", "PreToolUse", "SkillInvoked"}; !slices.Equal(heard, want) {
		t.Errorf("events %q, want %q", heard, want)
	}
	got := sub.Texts()
	if n := len(got); n != 4 || !strings.Contains(got[1], "Look.") || !strings.Contains(got[2], "PreToolUse hook: be brief") || !strings.Contains(got[3], "SkillInvoked hook: be brief") {
		t.Errorf("the subagent is told %q", got)
	}
}

// TestThreadNotices: what is held back is told to the person.
func TestThreadNotices(t *testing.T) { // spec S-9
	w := newWorld(t, map[string]string{skills + "granted/SKILL.md": skillFile("Granted.", "allowed-tools: Bash")})
	e, err := knack.New(t.Context(), knack.Options{Dir: filepath.Join(w.dir, "project"), Home: filepath.Join(w.dir, "home"),
		StateDir: filepath.Join(w.dir, "state"), NoBundled: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	thread := skilltool.For(e)
	if _, ended := thread.Typed(t.Context(), "granted", ""); ended { // nobody listens
		t.Error("refused")
	}
	var told []string
	thread.Notice = func(s string) { told = append(told, s) }
	if _, ended := thread.Typed(t.Context(), "granted", "x"); ended || len(told) != 1 || !strings.Contains(told[0], "not trusted") {
		t.Errorf("told %q", told)
	}
	if o := thread.Override; len(o.AllowedTools) > 0 {
		t.Errorf("granted without trust: %+v", o)
	}
}
