package invoke_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
)

// says are hooks that answer by event, and note what they were told.
type says struct {
	answers map[hook.Event]hook.Outcome
	heard   []hook.Input
}

func (s *says) run(_ context.Context, in hook.Input) hook.Outcome {
	s.heard = append(s.heard, in)
	return s.answers[in.Event]
}

func (s *says) events() string {
	var out []string
	for _, in := range s.heard {
		out = append(out, string(in.Event))
	}
	return strings.Join(out, " ")
}

// Which hooks stand beside the road for whom (spec I-1, H-2).
func TestHooksFor(t *testing.T) {
	const expansion, tool, invoked = "UserPromptExpansion ", "PreToolUse ", "SkillInvoked"
	w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file("Go.")})
	for by, want := range map[invoke.Caller]string{
		invoke.ByUser: expansion + invoked, invoke.ByKeyword: expansion + invoked,
		invoke.ByModel: tool + invoked, invoke.BySchedule: invoked, invoke.ByAgent: invoked,
		invoke.ByMCPClient: tool + invoked, invoke.ByMCPPrompt: tool + expansion + invoked,
		"somebody else": tool + invoked,
	} {
		s := &says{}
		env := w.env()
		env.Hooks = s.run
		if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: "/s", Args: "a b", By: by}, env); err != nil {
			t.Errorf("%s: %v", by, err)
		}
		if got := s.events(); got != want {
			t.Errorf("%s: %s, want %s", by, got, want)
		}
		for _, in := range s.heard {
			if in.By != string(by) || in.SkillSource != "user" || in.SkillPath == "" {
				t.Errorf("%s: %s is told %+v", by, in.Event, in)
			}
			if in.Event == hook.PreToolUse {
				if in.ToolName != "Skill" || string(in.ToolInput) != `{"skill":"s","args":"a b"}` || !in.Covers("Skill(s)") || in.Covers("Skill(t)") {
					t.Errorf("%s: the call is %s %s", by, in.ToolName, in.ToolInput)
				}
			} else if in.CommandName != "s" || in.CommandArgs != "a b" {
				t.Errorf("%s: %s is told of %q %q", by, in.Event, in.CommandName, in.CommandArgs)
			}
		}
	}
}

// A loop that has run the PreToolUse hooks of a model's call says so, and they do
// not run twice; it has no say for anybody else.
func TestHooksCalled(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file("Go.")})
	for by, want := range map[invoke.Caller]string{invoke.ByModel: "SkillInvoked", invoke.ByMCPClient: "PreToolUse SkillInvoked"} {
		s := &says{}
		env := w.env("allow managed Skill(s)")
		env.Hooks, env.Called = s.run, true
		if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", By: by}, env); err != nil {
			t.Errorf("%s: %v", by, err)
		}
		if got := s.events(); got != want {
			t.Errorf("%s: %s, want %s", by, got, want)
		}
	}
}

// What hooks add for a skill that runs in a subagent is told to the subagent, and
// to nobody else.
func TestHooksAddToForks(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file("Go.", "context: fork")})
	env := w.env()
	f := &begun{}
	env.Fork = f
	env.Hooks = (&says{answers: map[hook.Event]hook.Outcome{
		hook.UserPromptExpansion: {Context: []string{"first"}}, hook.SkillInvoked: {Context: []string{"second"}},
	}}).run
	r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", By: invoke.ByUser}, env)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.r.Added; len(got) != 2 || !strings.Contains(got[0].Text, "UserPromptExpansion hook: first") || !strings.Contains(got[1].Text, "SkillInvoked hook: second") || !got[0].Meta {
		t.Errorf("the subagent is told %+v", got)
	}
	if strings.Contains(f.r.Prompt, "first") || len(r.Messages) != 0 {
		t.Errorf("prompt %q, messages %+v", f.r.Prompt, r.Messages)
	}
}

// begun is a Forker that notes what it was to run.
type begun struct{ r invoke.ForkRequest }

func (b *begun) Fork(_ context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
	b.r = r
	return invoke.ForkResult{Text: "done"}, nil
}

// What a hook refuses leaves no trace but the record of it (spec I-2, I-13).
func TestHooksRefuse(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{"user/guard/SKILL.md": file("!`touch ran`", guarded, "allowed-tools: Bash")})
	for _, event := range []hook.Event{hook.PreToolUse, hook.UserPromptExpansion, hook.SkillInvoked} {
		for name, out := range map[string]hook.Outcome{
			"blocks": {Block: true, Opinion: hook.Deny, Reason: "not today"}, "stops": {Stop: true, StopReason: "not today"},
		} {
			t.Run(string(event)+" "+name, func(t *testing.T) {
				s, b := &says{answers: map[hook.Event]hook.Outcome{event: out}}, &book{}
				env := w.env()
				env.Hooks, env.Audit = s.run, b
				_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "guard", By: invoke.ByMCPPrompt}, env)
				var blocked *hook.BlockedError
				var stopped *hook.StoppedError
				if !errors.As(err, &blocked) && !errors.As(err, &stopped) || !strings.Contains(err.Error(), "not today") || !strings.Contains(err.Error(), string(event)) {
					t.Fatalf("error %v", err)
				}
				if len(env.Session.Hooks(session.Main)) != 0 || len(env.Session.Invoked(session.Main)) != 0 {
					t.Error("the refused invocation left a trace")
				}
				if ran := strings.Contains(b.lines(), "command"); ran != (event == hook.SkillInvoked) {
					t.Errorf("commands of the skill ran: %v", ran)
				}
				if got := b.lines(); !strings.HasSuffix(got, "invocation Skill blocked") {
					t.Errorf("on record: %s", got)
				}
			})
		}
	}
}

// What hooks add follows the skill's text, of a repeated one as well.
func TestHooksAdd(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file("Go.")})
	env := w.env()
	env.Hooks = (&says{answers: map[hook.Event]hook.Outcome{
		hook.PreToolUse: {Context: []string{"first"}}, hook.SkillInvoked: {Context: []string{"second", "third"}},
	}}).run
	for range 2 {
		r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", By: invoke.ByMCPClient}, env)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range r.Messages[len(r.Messages)-3:] {
			if !m.Meta {
				t.Error("a hook's words pass for the person's")
			}
			got = append(got, m.Text)
		}
		want := []string{"<system-reminder>\nPreToolUse hook: first\n</system-reminder>",
			"<system-reminder>\nSkillInvoked hook: second\n</system-reminder>", "<system-reminder>\nSkillInvoked hook: third\n</system-reminder>"}
		if !slices.Equal(got, want) || len(r.Added) != 3 {
			t.Errorf("messages %q", got)
		}
	}
}

// A hook may change what is called; what that needs is judged anew.
func TestHooksChange(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/s/SKILL.md": file("Go $ARGUMENTS."), "user/other/SKILL.md": file("Other $ARGUMENTS."), "user/shut/SKILL.md": file("Shut."),
	})
	for _, tt := range []struct{ input, text, err, record string }{
		{`{"skill":"s","args":"slowly"}`, "Go slowly.", "", "s"},
		{`{"skill":"other","args":"now"}`, "Other now.", "", "other"},
		{`{"skill":"/other"}`, "Other .", "", "other"},
		{`{"skill":"shut"}`, "", "Skill(shut)", "shut"},
		{`{"skill":"nobody"}`, "", "nobody", ""},
		{`{"skill":" "}`, "", `does not fit: "skill" is missing`, "s"},
		{`{"name":"s"}`, "", "does not fit", "s"},
		{`["s"]`, "", "does not fit", "s"},
	} {
		s := &says{answers: map[hook.Event]hook.Outcome{hook.PreToolUse: {UpdatedInput: json.RawMessage(tt.input)}}}
		b := &book{}
		env := w.env("deny user Skill(shut)")
		env.Hooks, env.Audit = s.run, b
		r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", Args: "x", By: invoke.ByMCPClient}, env)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %q", tt.input, err, tt.err)
			}
		case err != nil || !strings.HasSuffix(strings.TrimSpace(r.Text), tt.text):
			t.Errorf("%s: %+v, %v", tt.input, r, err)
		case s.heard[len(s.heard)-1].CommandName != tt.record:
			t.Errorf("%s: later hooks are told of %q", tt.input, s.heard[len(s.heard)-1].CommandName)
		}
		if last := b.list[len(b.list)-1]; last.Skill != tt.record {
			t.Errorf("%s: on record as %q", tt.input, last.Skill)
		}
	}
}

// A hook wants the person asked: no rule and no other hook answers for them.
func TestHooksAsk(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file("Go.")})
	for _, tt := range []struct {
		name    string
		ask     invoke.Asker
		request hook.Outcome // of PermissionRequest hooks
		want    string
	}{
		{"nobody", nil, hook.Outcome{}, "a hook wants the person asked: careful, and nobody is here to ask"},
		{"nobody, and a hook would allow it", invoke.Nobody{}, hook.Outcome{Opinion: hook.Allow}, "nobody is here to ask"},
		{"a hook refuses", invoke.Nobody{}, hook.Outcome{Opinion: hook.Deny, Reason: "never"}, "a PermissionRequest hook refused it: never"},
		{"they say no", answers(false), hook.Outcome{}, "the person declined"},
		{"they say yes", answers(true), hook.Outcome{}, ""},
	} {
		env := w.env("allow managed Skill(s)")
		env.Ask = tt.ask
		env.Hooks = (&says{answers: map[hook.Event]hook.Outcome{
			hook.PreToolUse: {Opinion: hook.Ask, Reason: "careful"}, hook.PermissionRequest: tt.request}}).run
		_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", By: invoke.ByMCPClient}, env)
		var refused *invoke.RefusedError
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// PermissionRequest hooks answer what rules leave open, unless a rule asks (spec
// H-7), and finding out what may run sets off none.
func TestHooksAnswer(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file("Go.", "allowed-tools: Bash(rm *)")})
	for _, tt := range []struct {
		rule string
		ask  invoke.Asker
		want string
	}{
		{"", invoke.Nobody{}, ""},
		{"", nil, "nobody is here to ask"},
		{"ask user Skill(s)", invoke.Nobody{}, "nobody is here to ask"},
		{"deny user Skill(s)", invoke.Nobody{}, "Skill(s)"},
	} {
		var rules []string
		if tt.rule != "" {
			rules = append(rules, tt.rule)
		}
		s := &says{answers: map[hook.Event]hook.Outcome{hook.PermissionRequest: {Opinion: hook.Allow}}}
		env := w.env(rules...)
		env.Hooks, env.Ask = s.run, tt.ask
		req := invoke.Request{Name: "s", By: invoke.ByMCPClient}
		if _, err := invoke.Invoke(t.Context(), req, env); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%q: %v, want %q", tt.rule, err, tt.want)
		}
		s.heard = nil
		_ = invoke.Check(t.Context(), req, env)
		if len(s.heard) > 0 {
			t.Errorf("%q: Check set off %s", tt.rule, s.events())
		}
	}
}

// A call that ends while hooks run has not been let through.
func TestHooksInterrupted(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{"user/s/SKILL.md": file("Go.")})
	for _, event := range []hook.Event{hook.PreToolUse, hook.SkillInvoked} {
		ctx, stop := context.WithCancel(t.Context())
		env := w.env()
		env.Hooks = func(_ context.Context, in hook.Input) hook.Outcome {
			if in.Event == event {
				stop()
			}
			return hook.Outcome{}
		}
		if _, err := invoke.Invoke(ctx, invoke.Request{Name: "s", By: invoke.ByMCPClient}, env); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", event, err)
		}
		if len(env.Session.Invoked(session.Main)) != 0 {
			t.Errorf("%s: it is remembered", event)
		}
		stop()
	}
}
