package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/internal/lab/collector"
	"github.com/knack-skills/knack/internal/otlp"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/scripted"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/source/bundled"
	"github.com/knack-skills/knack/telemetry"
)

// A lab is a recorder whose spans arrive at a collector.
type lab struct {
	t *testing.T
	*telemetry.Recorder
	s *collector.Server
	e *otlp.Exporter
}

func newLab(t *testing.T) *lab {
	t.Helper()
	s := collector.Start(t)
	c, err := otlp.FromEnv(func(k string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL}[k]
	})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, s: s, e: otlp.Start(c, nil)}
	l.Recorder, err = telemetry.New(telemetry.Options{Tracers: l.e.Tracers(), Meters: l.e.Meters(), Session: "s1", Provider: "gemini", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// spans returns what has arrived at the end, by name.
func (l *lab) spans() map[string]collector.Span {
	l.t.Helper()
	if err := l.e.Close(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	out := map[string]collector.Span{}
	for _, s := range l.s.Spans() {
		out[s.Name] = s
	}
	return out
}

// counts shows the metrics as "name{attributes} count".
func (l *lab) counts() map[string]uint64 {
	out := map[string]uint64{}
	for _, p := range l.s.Points() {
		key, _ := json.Marshal(p.Attributes)
		out[p.Metric+string(key)] = p.Count
	}
	return out
}

// TestConversation: the spans of a conversation nest as its work does, and hold
// what the conventions ask for; nothing of what was said.
func TestConversation(t *testing.T) {
	l := newLab(t)
	script, err := scripted.Parse("script", []byte(`{"steps":[
		{"calls":[{"name":"Skill","input":{"skill":"look","args":"SECRET"}}], "usage":{"input_tokens":10,"output_tokens":2,"cache_read_input_tokens":5}},
		{"text":"SECRET answer", "usage":{"input_tokens":20,"output_tokens":3}}],
		"subagents":{"*":[{"text":"SECRET found", "usage":{"input_tokens":7,"output_tokens":1}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	snap, err := catalog.New(catalog.Options{}, bundled.New(t.TempDir(),
		bundled.Skill{ID: "look", File: "---\ndescription: looks\ncontext: fork\n---\nLook at SECRET.\n"})).Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := session.New("s1")
	talk := agent.New(agent.Options{
		Model: l.Model(scripted.New(script)), ModelID: "m-1", Session: s, Trace: l.Tracer(), Tools: []agent.Tool{skillTool{}},
		Env: func() invoke.Env { return invoke.Env{Catalog: snap, Session: s, Rules: permission.Rules{}} },
	})
	ctx, end := l.Message(t.Context())
	_, err = talk.Submit(ctx, agent.Input{Text: "SECRET question"})
	end(err)
	if err != nil {
		t.Fatal(err)
	}
	spans := l.spans()
	want := `knack.message
  invoke_agent main
    chat m-1
    execute_tool Skill
      invoke_skill look
        invoke_agent general-purpose
          chat m-1
    chat m-1
`
	if diff := cmp.Diff(want, collector.Tree(l.s.Spans())); diff != "" {
		t.Error(diff)
	}
	for _, s := range l.s.Spans() {
		text, _ := json.Marshal(s)
		if strings.Contains(string(text), "SECRET") || s.Status != 0 || s.Attributes["gen_ai.conversation.id"] != "s1" {
			t.Errorf("%s", text)
		}
	}
	for name, want := range map[string]map[string]string{
		"invoke_agent main": {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": "main", "gen_ai.provider.name": "gcp.gemini",
			"gen_ai.usage.input_tokens": "35", "gen_ai.usage.output_tokens": "5"},
		"execute_tool Skill": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Skill", "gen_ai.tool.type": "function"},
		"invoke_skill look": {"knack.skill.id": "look", "knack.skill.source": "bundled", "knack.invocation.by": "model",
			"knack.invocation.mode": "fork", "knack.invocation.tokens": "8", "knack.outcome": "ok"},
		"invoke_agent general-purpose": {"gen_ai.agent.name": "general-purpose", "knack.skill.id": "look", "gen_ai.usage.input_tokens": "7"},
		"chat m-1": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "gen_ai.response.finish_reasons": "end_turn",
			"gen_ai.usage.input_tokens": "20", "knack.request.purpose": "turn", "gen_ai.agent.id": "main"},
	} {
		for k, v := range want {
			if got := spans[name].Attributes[k]; got != v {
				t.Errorf("%s: %s is %q, want %q", name, k, got, v)
			}
		}
	}
	if kind := spans["chat m-1"].Kind; kind != 3 {
		t.Errorf("a model call has kind %d", kind)
	}
	counts := l.counts()
	for name, want := range map[string]uint64{
		`gen_ai.client.operation.duration{"gen_ai.operation.name":"chat","gen_ai.provider.name":"gcp.gemini","gen_ai.request.model":"m-1"}`:                                   3,
		`gen_ai.client.token.usage{"gen_ai.operation.name":"chat","gen_ai.provider.name":"gcp.gemini","gen_ai.request.model":"m-1","gen_ai.token.type":"input"}`:              3,
		`gen_ai.client.token.usage{"gen_ai.operation.name":"chat","gen_ai.provider.name":"gcp.gemini","gen_ai.request.model":"m-1","gen_ai.token.type":"output"}`:             3,
		`knack.tool.duration{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"Skill"}`:                                                                              1,
		`knack.invocation.duration{"knack.invocation.by":"model","knack.invocation.mode":"fork","knack.outcome":"ok","knack.skill.id":"look","knack.skill.source":"bundled"}`: 1,
	} {
		if counts[name] != want {
			t.Errorf("%s: %d of %v", name, counts[name], counts)
		}
	}
}

// A skillTool invokes what the call names.
type skillTool struct{}

func (skillTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "Skill", InputSchema: []byte(`{"type":"object"}`)}
}

func (skillTool) Plan(input json.RawMessage) (agent.Plan, error) {
	var in struct{ Skill, Args string }
	if err := json.Unmarshal(input, &in); err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{Run: func(ctx context.Context, env agent.CallEnv) (agent.Result, error) {
		r, err := env.Invoke(ctx, in.Skill, in.Args)
		if err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: r.ToolResult()}, nil
	}}, nil
}

// A broken model fails, after a delta or before.
type broken struct {
	delta bool
	err   error
}

func (b broken) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if b.delta && !yield(llm.TextDelta{Text: "x"}, nil) {
			return
		}
		yield(nil, b.err)
	}
}

// TestModelErrors: what went wrong is a word, and the message one short line.
func TestModelErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		err     error
		stop    bool
		want    string
		message string
	}{
		"api":       {err: &llm.APIError{Status: 529, Type: "overloaded_error", Message: "busy"}, want: "overloaded_error", message: "busy"},
		"status":    {err: &llm.APIError{Status: 418}, want: "418"},
		"cut":       {err: llm.ErrCut, want: "cut_off"},
		"cancelled": {err: context.Canceled, want: "cancelled"},
		"timeout":   {err: context.DeadlineExceeded, want: "timeout"},
		"other":     {err: errors.New("boom\nSECRET" + strings.Repeat("x", 1000)), want: "_OTHER", message: "boom"},
		"long":      {err: errors.New(strings.Repeat("ü", 1000)), want: "_OTHER", message: "üüü"},
		"unheard":   {err: errors.New("boom"), stop: true, want: "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			for range l.Model(broken{delta: true, err: tt.err}).Stream(t.Context(), llm.Request{Model: "m"}) {
				if tt.stop {
					break
				}
			}
			s := l.spans()["chat m"]
			if s.Status != 2 || s.Attributes["error.type"] != tt.want || !strings.Contains(s.Message, tt.message) || len(s.Message) > 200 || strings.Contains(s.Message, "SECRET") {
				t.Errorf("%+v", s)
			}
			if n := l.counts()[`gen_ai.client.operation.duration{"error.type":"`+tt.want+`","gen_ai.operation.name":"chat","gen_ai.provider.name":"gcp.gemini","gen_ai.request.model":"m"}`]; n != 1 {
				t.Errorf("%v", l.counts())
			}
		})
	}
}

// TestInvocationErrors: a name that nobody knows is text of somebody, and does
// not become a series; a skill that failed is named.
func TestInvocationErrors(t *testing.T) {
	l := newLab(t)
	_, end := l.Invocation(t.Context(), invoke.Request{Name: "/SECRET", By: invoke.ByUser})
	end(nil, &catalog.NotFoundError{Name: "none"})
	_, end = l.Invocation(t.Context(), invoke.Request{Name: "/deploy", By: invoke.ByModel, Agent: "a1"})
	end(nil, &invoke.RefusedError{ID: "deploy", By: invoke.ByModel, Rule: "S-2", Reason: "no"})
	_, over := l.Hook(t.Context(), "PreToolUse", "command", "user")
	over("blocked", "it said no")
	l.spans()
	spans := l.s.Spans()
	if len(spans) != 3 {
		t.Fatalf("%+v", spans)
	}
	if a := spans[0].Attributes; a["knack.skill.id"] != "" || a["error.type"] != "unknown_skill" || a["knack.outcome"] != "error" {
		t.Errorf("%v", a)
	}
	if a := spans[1].Attributes; a["knack.skill.id"] != "deploy" || a["error.type"] != "denied" || a["knack.outcome"] != "blocked" || a["gen_ai.agent.id"] != "a1" {
		t.Errorf("%v", a)
	}
	if s := spans[2]; s.Name != "hook PreToolUse" || s.Status != 2 || s.Attributes["knack.outcome"] != "blocked" || s.Attributes["knack.hook.owner"] != "user" {
		t.Errorf("%+v", s)
	}
	if n := l.counts()[`knack.hook.duration{"knack.hook.event":"PreToolUse","knack.hook.type":"command","knack.outcome":"blocked"}`]; n != 1 {
		t.Errorf("%v", l.counts())
	}
}

// TestOff: without a provider there is no recorder, and none costs nothing.
func TestOff(t *testing.T) {
	r, err := telemetry.New(telemetry.Options{})
	if r != nil || err != nil {
		t.Fatal(r, err)
	}
	m := broken{}
	if r.Model(m) != llm.Model(m) || r.Tracer() != nil {
		t.Error("what is switched off wraps something")
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		_, end := r.Message(ctx)
		end(nil)
		_, done := r.Invocation(ctx, invoke.Request{})
		done(nil, nil)
		_, over := r.Hook(ctx, "", "", "")
		over("", "")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
