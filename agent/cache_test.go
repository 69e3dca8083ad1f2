package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/llm"
)

// TestPromptCache: thirty turns with skills that appear on disk, inline and
// forked invocations, grants, models, and one compaction. Each request of an
// agent begins with the bytes of the one before it, but for the first one after
// the compaction; tools and system prompt never change.
func TestPromptCache(t *testing.T) { // spec L-1, L-6, L-7, A-2
	w := newWorld(t, map[string]string{
		"project/a.txt":            "alpha",
		skills + "forked/SKILL.md": skillFile("Fork $ARGUMENTS.", "context: fork"),
		skills + "strong/SKILL.md": skillFile("Be strong: $ARGUMENTS.", "model: opus", "effort: high", "allowed-tools: Bash(touch x)", "disallowed-tools: Write"),
	})
	w.rules.Allow = append(w.rules.Allow, rule(t, "Skill"))
	dir := t.TempDir()
	const compactedTurn = 20
	turns, step := 0, 0
	o := w.options(w.engine, llm.Record(model(func(_ context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
		step++
		switch last := r.Messages[len(r.Messages)-1]; {
		case r.Purpose == llm.Summary:
			return says(llm.TextDelta{Text: "SUMMARY"})
		case r.AgentID != "main" && len(r.Messages) > 3, r.AgentID == "main" && last.Content[0].Type == llm.ToolResult:
			return full(turns == compactedTurn)
		case r.AgentID != "main":
			return says(call(fmt.Sprint("s", step), "Read", `{"file_path":"a.txt"}`))
		}
		skill := []string{"forked", "strong", fmt.Sprint("new-", turns/3*3)}[turns%3]
		return says(call(fmt.Sprint("a", step), "Skill", fmt.Sprintf(`{"skill":%q,"args":"turn %d"}`, skill, turns)),
			call(fmt.Sprint("b", step), "Read", `{"file_path":"a.txt"}`))
	}), dir))
	o.Window = 1000
	c := agent.New(o)
	for turns = range 30 {
		if turns%3 == 0 {
			w.write(fmt.Sprintf("%snew-%d/SKILL.md", skills, turns), skillFile(fmt.Sprint("New in turn ", turns)))
			if _, err := w.engine.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Submit(t.Context(), agent.Input{Text: fmt.Sprint("turn ", turns)}); err != nil {
			t.Fatal(err)
		}
	}
	valid(t, c.History())
	checkPrefixes(t, recorded(t, dir))
	if n := len(of[agent.Compacted](w)); n != 1 {
		t.Errorf("%d compactions", n)
	}
}

// full is an answer after which the window is nearly full, or not.
func full(nearly bool) iter.Seq2[llm.Event, error] {
	var u llm.Usage
	if nearly {
		u.CacheReadInputTokens = 950
	}
	return func(yield func(llm.Event, error) bool) {
		if yield(llm.TextDelta{Text: "done"}, nil) {
			yield(llm.Done{Stop: llm.EndTurn, Usage: u}, nil)
		}
	}
}

func checkPrefixes(t *testing.T, reqs []request) {
	t.Helper()
	last := map[string]request{}
	mains, forks, broken := 0, 0, 0
	for i, r := range reqs {
		before, seen := last[r.Agent]
		last[r.Agent] = r
		if r.Agent == "main" {
			mains++
		} else {
			forks++
		}
		if !seen {
			continue
		}
		if r.System != before.System || !bytes.Equal(r.Tools, before.Tools) {
			t.Fatalf("request %d of %s has another system prompt or other tools", i+1, r.Agent)
		}
		if before.Purpose == llm.Summary {
			broken++
			continue
		}
		if len(r.Messages) <= len(before.Messages) {
			t.Fatalf("request %d of %s has %d messages after %d", i+1, r.Agent, len(r.Messages), len(before.Messages))
		}
		for j, m := range before.Messages {
			if !bytes.Equal(m, r.Messages[j]) {
				t.Fatalf("request %d of %s: message %d was\n%s\nand is\n%s", i+1, r.Agent, j, m, r.Messages[j])
			}
		}
	}
	if mains < 60 || forks != 20 || broken != 1 {
		t.Errorf("%d requests of the main agent, %d of forks, %d compactions: not the session that was meant", mains, forks, broken)
	}
}

// TestCacheMarks: marks stand at the end of this request and of the one before.
func TestCacheMarks(t *testing.T) { // spec A-2
	w := newWorld(t, map[string]string{"project/a.txt": "alpha"})
	var marks []string
	n := 0
	c := agent.New(w.options(w.engine, model(func(_ context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
		marks = append(marks, fmt.Sprint(r.CacheAt, " of ", len(r.Messages)))
		if n++; n < 3 {
			return says(call(fmt.Sprint(n), "Read", `{"file_path":"a.txt"}`))
		}
		return says(llm.TextDelta{Text: "end"})
	})))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(marks, ", "); got != "[0] of 1, [0 2] of 3, [2 4] of 5" {
		t.Error(got)
	}
}
