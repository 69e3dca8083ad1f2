package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
)

// TestCalls: what comes of one call of a model, with the real tools.
func TestCalls(t *testing.T) { // spec, S-10
	for _, tt := range []struct {
		name, call string // name and input
		mode       agent.Mode
		allow      string
		deny       string
		want       string // in the result
		failed     bool
		denied     bool
		file       string // that exists afterwards
	}{
		{name: "read", call: `"Read","input":{"file_path":"a.txt"}`, want: "alpha"},
		{name: "unknown tool", call: `"Nope","input":{}`, want: `There is no tool "Nope". The tools are: Read, Write`, failed: true},
		{name: "missing key", call: `"Read","input":{}`, want: "file_path", failed: true},
		{name: "misspelt key", call: `"Skill","input":{"skil":"x"}`, want: "skil", failed: true},
		{name: "unknown skill", call: `"Skill","input":{"skill":"inlin"}`, want: "inline", failed: true},
		{name: "hostile skill", call: `"Skill","input":{"skill":"../x"}`, want: "x", failed: true},
		{name: "person's skill", call: `"Skill","input":{"skill":"mine"}`, want: "disable-model-invocation", failed: true, denied: true},
		{name: "nobody allows", call: `"Bash","input":{"command":"touch made","description":"d"}`, want: "Permission denied: needs approval", failed: true, denied: true},
		{name: "allowed", call: `"Bash","input":{"command":"touch made","description":"d"}`, allow: "Bash(touch *)", want: "", file: "made"},
		{name: "denied", call: `"Bash","input":{"command":"touch made","description":"d"}`, allow: "Bash(touch *)", deny: "Bash(touch *)", want: "Bash(touch *)", failed: true, denied: true},
		{name: "denied by name", call: `"Skill","input":{"skill":"inline"}`, deny: "Skill", want: "denied", failed: true, denied: true},
		{name: "person", call: `"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"a"},{"label":"b"}]}]}`, want: "", failed: true},
		{name: "plan reads", call: `"Bash","input":{"command":"cat a.txt","description":"d"}`, mode: agent.ModePlan, want: "alpha"},
		{name: "plan writes nothing", call: `"Bash","input":{"command":"touch made","description":"d"}`, mode: agent.ModePlan, allow: "Bash", want: "plan mode", failed: true, denied: true},
		{name: "plan edits nothing", call: `"Write","input":{"file_path":"made","content":"x"}`, mode: agent.ModePlan, allow: "Edit", want: "plan mode", failed: true, denied: true},
		{name: "plan and inline commands", call: `"Skill","input":{"skill":"touches"}`, mode: agent.ModePlan, allow: "Bash(touch *)", want: "plan mode", failed: true},
		{name: "accept edits", call: `"Write","input":{"file_path":"made","content":"x"}`, mode: agent.ModeAcceptEdits, want: "", file: "made"},
		{name: "accept edits, outside", call: `"Write","input":{"file_path":"../made","content":"x"}`, mode: agent.ModeAcceptEdits, want: "denied", failed: true, denied: true},
		{name: "accept edits, commands", call: `"Bash","input":{"command":"touch made","description":"d"}`, mode: agent.ModeAcceptEdits, want: "denied", failed: true, denied: true},
		{name: "accept edits, protected", call: `"Write","input":{"file_path":".git/config","content":"x"}`, mode: agent.ModeAcceptEdits, want: "denied", failed: true, denied: true},
		{name: "bypass", call: `"Bash","input":{"command":"touch made","description":"d"}`, mode: agent.ModeBypass, want: "", file: "made"},
		{name: "bypass and skills", call: `"Skill","input":{"skill":"touches"}`, mode: agent.ModeBypass, want: "Launching", file: "touched"},
		{name: "bypass keeps protected paths", call: `"Write","input":{"file_path":".git/config","content":"x"}`, mode: agent.ModeBypass, want: "denied", failed: true, denied: true},
		{name: "bypass keeps denials", call: `"Bash","input":{"command":"touch made","description":"d"}`, mode: agent.ModeBypass, deny: "Bash(touch *)", want: "denied", failed: true, denied: true},
		{name: "dontAsk", call: `"Bash","input":{"command":"touch made","description":"d"}`, mode: agent.ModeDontAsk, want: "denied", failed: true, denied: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				"project/a.txt":             "alpha\n",
				skills + "inline/SKILL.md":  skillFile("Do it."),
				skills + "mine/SKILL.md":    skillFile("Mine.", "disable-model-invocation: true"),
				skills + "touches/SKILL.md": skillFile("!`touch touched`"),
			})
			if tt.allow != "" {
				w.rules.Allow = []permission.Rule{rule(t, tt.allow)}
			}
			if tt.deny != "" {
				w.rules.Deny = []permission.Rule{rule(t, tt.deny)}
			}
			o := w.options(w.engine, script(t, `{"steps":[{"calls":[{"name":`+tt.call+`}]},{"text":"end"}]}`))
			o.Mode = tt.mode
			c := agent.New(o)
			ans, err := c.Submit(t.Context(), agent.Input{Text: "go"})
			if err != nil || ans.Text != "end" || ans.Turns != 2 {
				t.Fatalf("%+v, %v", ans, err)
			}
			valid(t, c.History())
			got := w.results("")
			if len(got) != 1 || got[0].IsError != tt.failed || !strings.Contains(got[0].Text, tt.want) {
				t.Errorf("results %+v, want %q (failed %v)", got, tt.want, tt.failed)
			}
			if d := c.Denials(); (len(d) == 1) != tt.denied {
				t.Errorf("denials %+v", d)
			}
			if tt.file != "" && !exists(w, tt.file) {
				t.Errorf("%s was not made", tt.file)
			}
			if tt.file == "" && (exists(w, "made") || exists(w, "touched")) {
				t.Error("something was made")
			}
		})
	}
}

func exists(w *world, name string) bool {
	list, err := filepath.Glob(filepath.Join(w.dir, "project", name))
	return err == nil && len(list) == 1
}

// TestDeniedAgain: a model that repeats what was refused hears the same again,
// and each refusal is reported.
func TestDeniedAgain(t *testing.T) {
	w := newWorld(t, nil)
	touch := `{"calls":[{"name":"Bash","input":{"command":"touch made","description":"d"}}]}`
	c := agent.New(w.options(w.engine, script(t, `{"steps":[`+touch+`,`+touch+`,{"text":"I give up"}]}`)))
	if ans, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil || ans.Text != "I give up" {
		t.Fatalf("%+v, %v", ans, err)
	}
	valid(t, c.History())
	got := w.results(session.Main)
	if len(got) != 2 || got[0].Text != got[1].Text || len(c.Denials()) != 2 || exists(w, "made") {
		t.Errorf("results %+v, denials %+v", got, c.Denials())
	}
}

// TestMalformedInput: the model is told, and the history can be sent again.
func TestMalformedInput(t *testing.T) {
	w := newWorld(t, nil)
	n := 0
	c := agent.New(w.options(w.engine, model(func(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
		if n++; n == 1 {
			return says(call("1", "Read", `{"file_path":`), call("2", "Skill", `[]`), call("3", "Bash", `null`), call("4", "Agent", ``))
		}
		return says(llm.TextDelta{Text: "end"})
	})))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	valid(t, c.History())
	for _, r := range w.results("") {
		if !r.IsError || !strings.Contains(r.Text, "wrong") {
			t.Errorf("%+v", r)
		}
	}
}

// TestParallel: ten read-only calls of one answer run at the same time: each
// waits for all others. What changes something runs alone, in order.
func TestParallel(t *testing.T) { // spec A-1
	w := newWorld(t, nil)
	const n = 10
	arrived, all := make(chan struct{}), make(chan struct{})
	go func() {
		for range n {
			<-arrived
		}
		close(all)
	}()
	var order []string
	meet := probe{"Meet", agent.Plan{ReadOnly: true, Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
		arrived <- struct{}{}
		select {
		case <-all:
			return agent.Result{Text: env.ID}, nil
		case <-ctx.Done():
			return agent.Result{}, ctx.Err()
		}
	}}}
	change := probe{"Change", agent.Plan{Run: func(_ context.Context, env agent.CallEnv) (agent.Result, error) {
		order = append(order, env.ID) // the race detector would see two at once
		return agent.Result{Text: env.ID}, nil
	}}}
	asked := 0
	c := agent.New(w.options(w.engine, model(func(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
		if asked++; asked > 1 {
			return says(llm.TextDelta{Text: "end"})
		}
		var calls []llm.Event
		for i := range n {
			calls = append(calls, call(fmt.Sprint(i), "Meet", "{}"))
		}
		return says(append(calls, call("x", "Change", "{}"), call("y", "Change", "{}"))...)
	}), meet, change))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	valid(t, c.History())
	var ids []string
	for _, r := range w.results("") {
		ids = append(ids, r.ToolUseID)
		if r.Text != r.ToolUseID {
			t.Errorf("%+v", r)
		}
	}
	if got := strings.Join(ids, ""); got != "0123456789xy" || strings.Join(order, "") != "xy" {
		t.Errorf("results %s, changes %v", got, order)
	}
}

// TestPlannedLate: a call is understood when its turn comes, after what the
// calls before it changed.
func TestPlannedLate(t *testing.T) {
	w := newWorld(t, map[string]string{"secret/key": "s3cret", "project/a.txt": "alpha"})
	w.rules.Allow = []permission.Rule{rule(t, "Bash(ln *)")}
	c := agent.New(w.options(w.engine, script(t, `{"steps":[{"calls":[
		{"name":"Bash","input":{"command":"ln -s ../secret in","description":"d"}},
		{"name":"Read","input":{"file_path":"in/key"}}]},{}]}`)))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	got := w.results("")
	if len(got) != 2 || got[0].IsError || !got[1].IsError || strings.Contains(got[1].Text, "s3cret") {
		t.Errorf("%+v", got)
	}
	if len(c.Denials()) != 1 {
		t.Errorf("denials %+v: the link was judged as if it were not there", c.Denials())
	}
}

// TestCancel: whatever the loop is doing, the history stays valid and the next
// turn goes on from it.
func TestCancel(t *testing.T) { // spec A-1
	for _, phase := range []string{"before", "stream", "after calls", "call", "asking", "between calls", "summary", "fork"} {
		t.Run(phase, func(t *testing.T) {
			w := newWorld(t, map[string]string{skills + "forked/SKILL.md": skillFile("Work.", "context: fork")})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop := probe{"Stop", agent.Plan{Run: func(ctx context.Context, _ agent.CallEnv) (agent.Result, error) {
				cancel()
				<-ctx.Done()
				if phase == "between calls" {
					return agent.Result{Text: "done"}, nil
				}
				return agent.Result{}, ctx.Err()
			}}}
			ended := false
			o := w.options(w.engine, model(func(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
				return func(yield func(llm.Event, error) bool) {
					if err := ctx.Err(); err != nil {
						yield(nil, err)
						return
					}
					if ended {
						says(llm.TextDelta{Text: "on"})(yield)
						return
					}
					cancelIn(phase, r, cancel)(yield)
				}
			}), stop)
			o.Ask = asks(func() { cancel() })
			if phase == "summary" {
				o.Window = 10
			}
			c := agent.New(o)
			if phase == "before" {
				cancel()
			}
			if _, err := c.Submit(ctx, agent.Input{Text: "go"}); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v", err)
			}
			valid(t, c.History())
			for _, d := range c.Denials() {
				t.Errorf("a cancelled call counts as denied: %+v", d)
			}
			if phase == "between calls" {
				if got := w.results(""); len(got) != 2 || got[0].Text != "done" || !strings.Contains(got[1].Text, "before it ran") {
					t.Errorf("%+v", got)
				}
			}
			ended = true
			if ans, err := c.Submit(t.Context(), agent.Input{Text: "and now"}); err != nil || ans.Text != "on" {
				t.Errorf("next turn: %+v, %v", ans, err)
			}
			valid(t, c.History())
			if n := len(of[agent.AgentStarted](w)) - len(of[agent.AgentEnded](w)); n != 0 {
				t.Errorf("%d subagents were left", n)
			}
		})
	}
}

// cancelIn answers so that the phase comes, and cancels when it is the model's.
func cancelIn(phase string, r llm.Request, cancel func()) iter.Seq2[llm.Event, error] {
	broken := func(events ...llm.Event) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			for _, e := range events {
				yield(e, nil)
			}
			cancel()
			yield(nil, context.Canceled)
		}
	}
	switch {
	case phase == "stream":
		return broken(llm.TextDelta{Text: "I beg"})
	case phase == "after calls":
		return broken(call("1", "Read", `{"file_path":"a"}`))
	case phase == "asking":
		return says(call("1", "Bash", `{"command":"touch x","description":"d"}`))
	case phase == "fork" && r.AgentID == "main":
		return says(call("1", "Skill", `{"skill":"forked"}`))
	case phase == "summary" && r.Purpose == llm.Summary:
		return broken(llm.TextDelta{Text: "We"})
	case phase == "summary":
		return func(yield func(llm.Event, error) bool) {
			yield(call("1", "Read", `{"file_path":"a"}`), nil)
			yield(llm.Done{Stop: llm.ToolCalls, Usage: llm.Usage{InputTokens: 100}}, nil)
		}
	}
	return says(call("1", "Stop", "{}"), call("2", "Stop", "{}"))
}

// asks is a person who does something else before answering.
type asks func()

func (a asks) Ask(ctx context.Context, _ invoke.Question) (invoke.Answer, error) {
	a()
	return invoke.Answer{}, ctx.Err()
}

// TestEnds: how a turn can end.
func TestEnds(t *testing.T) { // spec
	read := says(call("1", "Read", `{"file_path":"a.txt"}`))
	with := func(stop llm.StopReason) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			yield(llm.TextDelta{Text: "half"}, nil)
			yield(llm.Done{Stop: stop}, nil)
		}
	}
	for name, tt := range map[string]struct {
		answer iter.Seq2[llm.Event, error]
		want   string
		is     error
	}{
		"never stops": {read, "3 in one turn", agent.ErrTurnLimit},
		"cut": {func(yield func(llm.Event, error) bool) { yield(llm.TextDelta{Text: "half an ans"}, nil) },
			"", llm.ErrCut},
		"cut call": {func(yield func(llm.Event, error) bool) { yield(call("1", "Read", "{}"), nil) },
			"", llm.ErrCut},
		"token limit": {with(llm.MaxTokens), "token limit", nil},
		"refusal":     {with(llm.Refusal), "refused", nil},
		"empty":       {says(), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"project/a.txt": "alpha"})
			o := w.options(w.engine, model(func(context.Context, llm.Request) iter.Seq2[llm.Event, error] { return tt.answer }))
			o.MaxTurns = 3
			c := agent.New(o)
			_, err := c.Submit(t.Context(), agent.Input{Text: "go"})
			switch {
			case (err == nil) != (tt.want == "" && tt.is == nil):
				t.Errorf("error %v", err)
			case err != nil && !strings.Contains(err.Error(), tt.want), tt.is != nil && !errors.Is(err, tt.is):
				t.Errorf("error %v, want %q, %v", err, tt.want, tt.is)
			}
			valid(t, c.History())
		})
	}
}

// TestLongResult: the model gets 30,000 characters and the place of the rest.
func TestLongResult(t *testing.T) { // spec A-3
	for _, spill := range []bool{true, false} {
		w := newWorld(t, nil)
		long := strings.Repeat("ä", agent.MaxResult+5)
		o := w.options(w.engine, script(t, `{"steps":[{"calls":[{"name":"Long","input":{}}]},{}]}`),
			probe{"Long", agent.Plan{Run: func(context.Context, agent.CallEnv) (agent.Result, error) {
				return agent.Result{Text: long}, nil
			}}})
		if spill {
			o.SpillDir = filepath.Join(w.dir, "new", "spill")
		}
		c := agent.New(o)
		if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		valid(t, c.History())
		got := w.results("")[0].Text
		cut, note, ok := strings.Cut(got, "\n[cut after 30000 of 30005 characters; ")
		if !ok || cut != long[:2*agent.MaxResult] {
			t.Fatalf("result ends %q", got[len(got)-100:])
		}
		if !spill {
			if !strings.HasPrefix(note, "the rest is lost") {
				t.Error(note)
			}
			continue
		}
		path := strings.TrimSuffix(strings.TrimPrefix(note, "the whole result is in "), "]")
		rel, err := filepath.Rel(w.dir, path)
		if err != nil || w.read(rel) != long {
			t.Errorf("%q does not hold the result", path)
		}
	}
}

// TestOverride: what a skill changes holds until the turn ends (spec I-5, I-6).
func TestOverride(t *testing.T) {
	w := newWorld(t, map[string]string{skills + "strong/SKILL.md": skillFile("Be strong.",
		"model: opus", "effort: high", "allowed-tools: Bash(touch one)", "disallowed-tools: Bash(touch two)")})
	w.rules.Allow = []permission.Rule{rule(t, "Skill(strong)"), rule(t, "Bash(touch two)")}
	dir := t.TempDir()
	touch := func(name string) string {
		return `{"name":"Bash","input":{"command":"touch ` + name + `","description":"d"}}`
	}
	o := w.options(w.engine, llm.Record(script(t, `{"steps":[
		{"calls":[{"name":"Skill","input":{"skill":"strong"}},`+touch("one")+`,`+touch("two")+`]},{"text":"a"},
		{"calls":[`+touch("one")+`,`+touch("two")+`]},{"text":"b"}]}`), dir))
	o.ResolveModel = func(name string) (string, error) { return "resolved-" + name, nil }
	c := agent.New(o)
	for range 2 {
		if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	var failed []bool
	for _, r := range w.results("") {
		failed = append(failed, r.IsError)
	}
	if fmt.Sprint(failed) != "[false false true true false]" {
		t.Errorf("failed %v: %+v", failed, w.results(""))
	}
	var models []string
	for _, r := range recorded(t, dir) {
		models = append(models, r.Model+"/"+r.Effort)
	}
	if got := strings.Join(models, " "); got != "session-model/ resolved-opus/high session-model/ session-model/" {
		t.Error(got)
	}
}

// TestForbiddenModel: the session's model stays, and one notice says so.
func TestForbiddenModel(t *testing.T) { // spec I-5
	w := newWorld(t, map[string]string{"project/a.txt": "alpha", skills + "strong/SKILL.md": skillFile("Be strong.", "model: opus")})
	dir := t.TempDir()
	o := w.options(w.engine, llm.Record(script(t, `{"steps":[{"calls":[{"name":"Skill","input":{"skill":"strong"}}]},
		{"calls":[{"name":"Read","input":{"file_path":"a.txt"}}]},{"calls":[{"name":"Read","input":{"file_path":"a.txt"}}]},{}]}`), dir))
	o.ResolveModel = func(string) (string, error) { return "", errors.New("not for you") }
	if _, err := agent.New(o).Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range recorded(t, dir) {
		if r.Model != "session-model" {
			t.Errorf("asked %s", r.Model)
		}
	}
	if n := of[agent.Notice](w); len(n) != 1 || !strings.Contains(n[0].Text, "not for you") {
		t.Errorf("notices %+v", n)
	}
}
