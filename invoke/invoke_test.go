package invoke_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/turn"
)

// Whatever goes wrong, nothing is remembered and no command has run that comes
// after a refused one.
func TestNoTrace(t *testing.T) { // spec I-2, P-10, P-12
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/hidden/SKILL.md":  file("x", "user-invocable: false"),
		"user/second/SKILL.md":  file("!`touch marker`\n\n!`rm -r other`", "allowed-tools: Bash(touch *)"),
		"user/fails/SKILL.md":   file("!`sh -c 'exit 3'`", "allowed-tools: Bash"),
		"user/forks/SKILL.md":   file("!`touch marker`", "allowed-tools: Bash(touch *)", "context: fork"),
		"user/missing/SKILL.md": file("!`no-such-program-here`", "allowed-tools: Bash"),
	})
	for _, tt := range []struct{ name, want string }{
		{"hidden", "user-invocable"},
		{"nobody", "unknown skill"},
		{"second", "rm -r other"},
		{"fails", "exit code 3"},
		{"missing", "command not found"},
		{"forks", "cannot run skills in a subagent"},
	} {
		env := w.env()
		r, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, By: invoke.ByUser}, env)
		if r != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v", tt.name, r, err)
		}
		if got := env.Session.Invoked(session.Main); len(got) > 0 {
			t.Errorf("%s: recorded %+v", tt.name, got)
		}
		if w.exists("marker") {
			t.Fatalf("%s: left a file", tt.name)
		}
	}
	env := w.env()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := invoke.Invoke(ctx, invoke.Request{Name: "fails", By: invoke.ByUser}, env); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Compiling remembers nothing, even when it succeeds.
	if _, err := invoke.Compile(t.Context(), invoke.Request{Name: "forks", By: invoke.ByUser}, env); err != nil {
		t.Error(err)
	}
	if got := env.Session.Invoked(session.Main); len(got) > 0 {
		t.Errorf("Compile recorded %+v", got)
	}
}

func TestRepeat(t *testing.T) { // spec I-7
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/s/SKILL.md": file("For $ARGUMENTS.", "allowed-tools: Read"),
		"user/t/SKILL.md": file("For $ARGUMENTS."),
	})
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	env := w.env()
	env.Now = func() time.Time { return at }
	for i, tt := range []struct {
		name, args string
		agent      session.AgentID
		repeat     bool
	}{
		{"s", "a", "", false},
		{"s", "a", "", true},
		{"s", "a", session.Main, true}, // the default
		{"s", "b", "", false},          // another text
		{"t", "a", "", false},          // another skill
		{"s", "a", "worker", false},    // another agent
		{"s", "a", "worker", true},
		{"s", "a", "", true}, // still there
	} {
		r, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, Args: tt.args, By: invoke.ByUser, Agent: tt.agent}, env)
		if err != nil {
			t.Fatal(err)
		}
		body := r.Messages[1]
		if r.Repeat != tt.repeat || strings.Contains(body.Text, "For ") == tt.repeat || !body.Meta || strings.Contains(body.Text, "\n") && tt.repeat {
			t.Errorf("call %d: repeat %v, message %q", i, r.Repeat, body.Text)
		}
		contains(t, "compiled text", r.Text, "For "+tt.args+".")
		if tt.name == "s" { // grants apply again, and the model is told
			if !cmp.Equal(r.Override.AllowedTools, []string{"Read"}) || len(r.Messages) != 3 {
				t.Errorf("call %d: %+v, %d messages", i, r.Override, len(r.Messages))
			}
		}
	}
	got := env.Session.Invoked("worker")
	e := w.entry("s")
	want := session.Invoked{ID: "s", Path: e.Origin.Path, Args: "a", At: at,
		Text: "Base directory for this skill: " + e.Origin.Dir + "\n\nFor a.\n"}
	want.Hash = fmt.Sprintf("%x", sha256.Sum256([]byte(want.Text)))
	if d := cmp.Diff([]session.Invoked{want, want}, got); d != "" {
		t.Error(d)
	}
	// An edit is seen, and is a new text (spec F-9).
	write(t, e.Origin.Path, file("Now for $ARGUMENTS."))
	r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", Args: "a", By: invoke.ByUser}, env)
	if err != nil || r.Repeat || !strings.Contains(r.Messages[1].Text, "Now for a.") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWithoutSession(t *testing.T) {
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/s/SKILL.md": file("x ${CLAUDE_SESSION_ID}."),
		"user/c/SKILL.md": file("x", "paths: '*.go'"),
	})
	env := w.env()
	env.Session = nil
	for range 2 {
		r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", By: invoke.ByModel}, env)
		if err != nil || r.Repeat {
			t.Errorf("%+v, %v", r, err)
		}
	}
	_, err := invoke.Invoke(t.Context(), invoke.Request{Name: "c", By: invoke.ByModel}, env)
	contains(t, "conditional", refusal(t, err).Error(), "none was touched")
}

func TestFork(t *testing.T) { // spec I-8
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/audit/SKILL.md": file("Audit $ARGUMENTS.", "context: fork", "agent: Explore", "background: true",
			"model: opus", "allowed-tools: Read"),
		"user/ask/SKILL.md": file("!`touch marker`", "context: fork"),
	})
	fork := &agents{result: invoke.ForkResult{Text: "All fine."}}
	env := w.env()
	env.Fork = fork
	r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "audit", Args: "src", By: invoke.ByUser, Agent: "worker"}, env)
	if err != nil {
		t.Fatal(err)
	}
	text := "Base directory for this skill: " + w.entry("audit").Origin.Dir + "\n\nAudit src.\n"
	want := invoke.ForkRequest{Parent: "worker", Skill: "audit", Agent: "Explore", Prompt: text, Background: true,
		Override: turn.Override{Model: "opus", AllowedTools: []string{"Read"}},
		Limit:    []string{"Read"}, Dir: w.entry("audit").Origin.Dir, Path: w.entry("audit").Origin.Path, Origin: w.entry("audit").Origin}
	if d := cmp.Diff([]invoke.ForkRequest{want}, fork.got); d != "" {
		t.Error(d)
	}
	// Neither the text nor the grants are for the parent.
	if r.Mode != skill.Fork || r.Fork == nil || r.Fork.Text != "All fine." || r.Text != text ||
		len(r.Messages) > 0 || !cmp.Equal(r.Override, turn.Override{}) {
		t.Errorf("%+v", r)
	}
	if got := env.Session.Invoked("worker"); len(got) > 0 {
		t.Errorf("recorded for the parent: %+v", got)
	}
	fork.err = errors.New("too many agents")
	r, err = invoke.Invoke(t.Context(), invoke.Request{Name: "audit", By: invoke.ByUser}, env)
	if r != nil || !errors.Is(err, fork.err) || !strings.Contains(err.Error(), `skill "audit"`) {
		t.Errorf("%+v, %v", r, err)
	}
	// Without a Forker nobody is asked about what cannot run, but a refusal by
	// a rule is told first.
	p := &person{answer: invoke.Answer{Allow: true}}
	env = w.env()
	env.Ask = p
	if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: "ask", By: invoke.ByModel}, env); !errors.Is(err, invoke.ErrNoFork) || len(p.asked) > 0 {
		t.Errorf("%v, asked %+v", err, p.asked)
	}
	env.Rules = rulesOf(t, "deny user Skill(ask)")
	_, err = invoke.Invoke(t.Context(), invoke.Request{Name: "ask", By: invoke.ByModel}, env)
	contains(t, "refusal", refusal(t, err).Error(), "denied by")
}

func TestToolResult(t *testing.T) { // spec I-5, I-8
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/here/SKILL.md":  file("x"),
		"user/there/SKILL.md": file("x", "context: fork"),
	})
	for _, tt := range []struct {
		name   string
		result invoke.ForkResult
		want   string
	}{
		{"here", invoke.ForkResult{}, "Launching skill: here"},
		{"there", invoke.ForkResult{Text: "Done."}, "Skill \"there\" completed (forked).\n\nResult:\nDone."},
		{"there", invoke.ForkResult{Text: " \n"}, "Skill execution completed"},
		{"there", invoke.ForkResult{Task: "t7"}, `Skill "there" runs in the background as task t7; its result will follow`},
	} {
		env := w.env()
		env.Fork = &agents{result: tt.result}
		r, err := invoke.Invoke(t.Context(), invoke.Request{Name: tt.name, By: invoke.ByModel}, env)
		if err != nil || r.ToolResult() != tt.want {
			t.Errorf("%q, %v; want %q", r.ToolResult(), err, tt.want)
		}
	}
	r, err := invoke.Compile(t.Context(), invoke.Request{Name: "there", By: invoke.ByModel}, w.env())
	if len(r.Messages) != 1 || r.Messages[0].Text != r.Text {
		t.Errorf("what the subagent would begin with: %+v", r.Messages)
	}
	if err != nil || r.ToolResult() != `Skill "there" was not started` {
		t.Errorf("%q, %v", r.ToolResult(), err)
	}
}

// Many invocations of one session at once, by several agents, while skills are
// activated: every text is recorded, and exactly one of each is not a repeat.
func TestConcurrent(t *testing.T) { // spec M-6
	w := newWorld(t, catalog.Options{}, map[string]string{
		"user/s/SKILL.md":            file("For $ARGUMENTS: !`echo $0`.", "paths: '*.go'"),
		"bundled/b":                  file("Shared."),
		"web/s/SKILL.md":             file("x"),
		"project/other/SKILL.md":     file("x"),
		"plugin/p/skills/x/SKILL.md": file("x"),
	})
	const calls = 50
	env := w.env()
	env.Session.Activate("s")
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			agent := []session.AgentID{session.Main, "worker"}[i%2]
			r, err := invoke.Invoke(t.Context(), invoke.Request{Name: "s", Args: "it", By: invoke.ByModel, Agent: agent}, env)
			if err != nil || !strings.Contains(r.Text, "For it: it.") {
				t.Errorf("%+v, %v", r, err)
				return
			}
			if !r.Repeat {
				fresh.Add(1)
			}
			env.Session.Activate("other")
			if _, err := invoke.Invoke(t.Context(), invoke.Request{Name: "b", By: invoke.ByUser, Agent: "third"}, env); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := fresh.Load(); n != 2 {
		t.Errorf("%d calls got the text, want one for each of two agents", n)
	}
	for agent, n := range map[session.AgentID]int{session.Main: calls / 2, "worker": calls / 2, "third": calls} {
		if got := len(env.Session.Invoked(agent)); got != n {
			t.Errorf("%s: %d recorded, want %d", agent, got, n)
		}
	}
}
