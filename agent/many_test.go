package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// TestManySessions: a hundred conversations over one workspace, each with tools
// and forks, while skills are added and read again. The race detector watches.
func TestManySessions(t *testing.T) { // spec M-6
	w := newWorld(t, map[string]string{
		"project/a.txt":            "alpha",
		skills + "forked/SKILL.md": skillFile("Fork $ARGUMENTS.", "context: fork"),
		skills + "inline/SKILL.md": skillFile("Inline $ARGUMENTS."),
	})
	const sessions = 100
	var wg sync.WaitGroup
	errs := make(chan error, sessions)
	for i := range sessions {
		id := fmt.Sprint("session-", i)
		e := w.open(id)
		o := w.options(e, script(t, `{"steps":[
			{"calls":[{"name":"Read","input":{"file_path":"a.txt"}},{"name":"Skill","input":{"skill":"forked","args":"`+id+`"}},{"name":"Skill","input":{"skill":"inline","args":"`+id+`"}}]},
			{"expect":{"last_user_contains":"Inline `+id+`."},"text":"end of `+id+`"}],
			"subagents":{"*":[{"expect":{"last_user_contains":"Fork `+id+`."},"calls":[{"name":"Grep","input":{"pattern":"alpha"}}]},{"text":"forked"}]}}`))
		o.Observe = nil
		c := agent.New(o)
		wg.Go(func() {
			if _, err := e.Refresh(t.Context()); err != nil {
				errs <- err
				return
			}
			ans, err := c.Submit(t.Context(), agent.Input{Text: id})
			if err == nil && ans.Text != "end of "+id {
				err = fmt.Errorf("%s answered %q", id, ans.Text)
			}
			if n := len(e.Session().Invoked(session.Main)); err == nil && n != 1 {
				err = fmt.Errorf("%s remembers %d invocations", id, n)
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	if err := errors.Join(collect(errs)...); err != nil {
		t.Error(err)
	}
}

func collect(errs <-chan error) (out []error) {
	for err := range errs {
		out = append(out, err)
	}
	return out
}

// TestConcurrentUse: all methods of one conversation at once.
func TestConcurrentUse(t *testing.T) {
	w := newWorld(t, map[string]string{
		skills + "bg/SKILL.md":     skillFile("Work.", "context: fork", "background: true"),
		skills + "inline/SKILL.md": skillFile("Inline $ARGUMENTS.", "allowed-tools: Read"),
	})
	w.rules.Allow = append(w.rules.Allow, rule(t, "Skill"))
	c := agent.New(w.options(w.engine, model(func(_ context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
		if len(r.Messages) > 40 || r.Messages[len(r.Messages)-1].Content[0].Type == llm.ToolResult || r.AgentID != "main" {
			return says(llm.TextDelta{Text: "end"})
		}
		return says(call(fmt.Sprint(len(r.Messages)), "Skill", `{"skill":"inline"}`))
	})))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for _, name := range []string{"bg", "inline"} {
				if _, err := c.Invoke(t.Context(), invoke.Request{Name: name, Args: fmt.Sprint(i), By: invoke.ByUser}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			c.Join(turn.Message{Role: turn.User, Text: "note"})
			_, _, _, _ = c.History(), c.Usage(), c.Denials(), c.Tasks()
		})
	}
	wg.Wait()
	if _, err := c.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	c.Close()
	valid(t, c.History())
}

// silent is a model that ends at once.
func silent(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return says(llm.TextDelta{Text: "ok"})
}

// long is a history of n messages with calls and their results.
func long(n int) (out []llm.Message) {
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprint("call-", i)
		out = append(out,
			llm.Message{Role: llm.Assistant, Content: []llm.Block{{Type: llm.ToolUse, ToolUseID: id, Name: "Read", Input: []byte(`{"file_path":"a.txt"}`)}}},
			llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, ToolUseID: id, Name: "Read", Text: strings.Repeat("word ", 50)}}})
	}
	return out
}

// BenchmarkTurn: what the loop adds to a call of the model, with 1,000 messages
// of history.
func BenchmarkTurn(b *testing.B) {
	w := newWorld(b, map[string]string{skills + "inline/SKILL.md": skillFile("Inline.")})
	o := w.options(w.engine, model(silent))
	o.Observe = nil
	c := agent.New(o)
	history := long(1000)
	for b.Loop() {
		c.Resume(history)
		if _, err := c.Submit(b.Context(), agent.Input{Text: "go"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFork: from the call of a forked skill to its answer.
func BenchmarkFork(b *testing.B) {
	w := newWorld(b, map[string]string{skills + "forked/SKILL.md": skillFile("Fork.", "context: fork")})
	o := w.options(w.engine, model(silent))
	o.Observe = nil
	c := agent.New(o)
	for b.Loop() {
		if _, err := c.Invoke(b.Context(), invoke.Request{Name: "forked", By: invoke.ByUser}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompact: 10,000 messages and 500 invocations (spec M-7).
func BenchmarkCompact(b *testing.B) {
	w := newWorld(b, map[string]string{skills + "inline/SKILL.md": skillFile("Inline $ARGUMENTS.\n" + strings.Repeat("Do this and that.\n", 500))})
	o := w.options(w.engine, model(silent))
	o.Observe = nil
	c := agent.New(o)
	for i := range 500 {
		if _, err := c.Invoke(b.Context(), invoke.Request{Name: "inline", Args: fmt.Sprint(i), By: invoke.ByUser}); err != nil {
			b.Fatal(err)
		}
	}
	history := long(10_000)
	for b.Loop() {
		c.Resume(history)
		if err := c.Compact(b.Context(), ""); err != nil {
			b.Fatal(err)
		}
	}
}
