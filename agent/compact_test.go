package agent_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
)

// TestCompact: the summary, the skills, their names, and the words that were
// not answered yet.
func TestCompact(t *testing.T) { // spec M-2, L-7
	w := newWorld(t, map[string]string{skills + "first/SKILL.md": skillFile("First text."), skills + "other/SKILL.md": skillFile("Other text.")})
	dir := t.TempDir()
	o := w.options(w.engine, llm.Record(script(t, `{"steps":[
		{"calls":[{"name":"Skill","input":{"skill":"first","args":"a"}}]},
		{"text":"did it","usage":{"input_tokens":950}},
		{"text":"SUMMARY"},
		{"text":"went on"}]}`), dir))
	o.Window = 1000
	c := agent.New(o)
	for _, text := range []string{"do the first thing", "and the next"} {
		if _, err := c.Submit(t.Context(), agent.Input{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	reqs := recorded(t, dir)
	if len(reqs) != 4 || reqs[2].Purpose != llm.Summary {
		t.Fatalf("%d requests", len(reqs))
	}
	got := reqs[3].text()
	for _, want := range []string{"SUMMARY", "First text.", "They are no new request", "other", "and the next"} {
		if !strings.Contains(got, want) {
			t.Errorf("the new history lacks %q: %s", want, got)
		}
	}
	for _, not := range []string{"do the first thing", "Other text.", "other: about", "did it"} {
		if strings.Contains(got, not) {
			t.Errorf("the new history still has %q: %s", not, got)
		}
	}
	if e := of[agent.Compacted](w); len(e) != 1 || e[0].Asked || e[0].Tokens != 950 || e[0].Summary != "SUMMARY" || len(e[0].Restored.Skills) != 1 {
		t.Errorf("%+v", e)
	}
	// What was invoked counts as held, so it is not repeated (spec I-7).
	r, err := c.Invoke(t.Context(), invoke.Request{Name: "first", Args: "a", By: invoke.ByUser})
	if err != nil || !r.Repeat {
		t.Errorf("Repeat = %v, %v", r, err)
	}
}

// TestCompactUnderway: a compaction between a skill's call and the first answer
// to it leaves the skill a request to be followed, not one of the past.
func TestCompactUnderway(t *testing.T) { // spec M-2
	w := newWorld(t, map[string]string{"project/a.txt": "alpha", skills + "first/SKILL.md": skillFile("First text.")})
	dir := t.TempDir()
	o := w.options(w.engine, llm.Record(script(t, `{"steps":[
		{"calls":[{"name":"Read","input":{"file_path":"a.txt"}},{"name":"Skill","input":{"skill":"first"}}],"usage":{"input_tokens":950}},
		{"text":"SUMMARY"},{"text":"end"}]}`), dir))
	o.Window = 1000
	c := agent.New(o)
	if ans, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil || ans.Text != "end" {
		t.Fatalf("%+v, %v", ans, err)
	}
	valid(t, c.History())
	got := recorded(t, dir)[2].text()
	if n := strings.Count(got, "First text."); n != 1 || strings.Contains(got, "They are no new request") || strings.Contains(got, "tool_result") {
		t.Errorf("%d times: %s", n, got)
	}
}

// TestCompactFails: the history stays as it was.
func TestCompactFails(t *testing.T) { // spec M-2
	w := newWorld(t, nil)
	c := agent.New(w.options(w.engine, script(t, `{"steps":[{"text":"one"},{"error":{"status":400,"message":"no"}},{"text":""},{"text":"two"}]}`)))
	if err := c.Compact(t.Context(), ""); !errors.Is(err, agent.ErrNothingToCompact) {
		t.Errorf("empty: %v", err)
	}
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	before := c.History()
	for _, want := range []string{"no", "no summary"} {
		if err := c.Compact(t.Context(), "keep all"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v", err)
		}
		if d := cmp.Diff(before, c.History()); d != "" {
			t.Error(d)
		}
	}
	if ans, err := c.Submit(t.Context(), agent.Input{Text: "go on"}); err != nil || ans.Text != "two" {
		t.Errorf("%+v, %v", ans, err)
	}
}

// TestCompactAsked: what the person asks for reaches the model.
func TestCompactAsked(t *testing.T) {
	w := newWorld(t, nil)
	c := agent.New(w.options(w.engine, script(t, `{"steps":[{"text":"one"},
		{"expect":{"last_user_contains":"keep the names"},"text":"NAMES"}]}`)))
	if _, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Compact(t.Context(), "keep the names"); err != nil {
		t.Fatal(err)
	}
	if e := of[agent.Compacted](w); len(e) != 1 || !e[0].Asked || e[0].Instructions != "keep the names" {
		t.Errorf("%+v", e)
	}
}

// TestCompactFork: a subagent that fills its window goes on as well, and its
// parent keeps its history.
func TestCompactFork(t *testing.T) {
	w := newWorld(t, map[string]string{"project/a.txt": "alpha", skills + "forked/SKILL.md": skillFile("Fork text.", "context: fork")})
	read := `{"calls":[{"name":"Read","input":{"file_path":"a.txt"}}],"usage":{"input_tokens":950}}`
	o := w.options(w.engine, script(t, `{"steps":[`+runSkill+`,{"text":"end"}],
		"subagents":{"*":[`+read+`,{"text":"SUMMARY"},{"expect":{"last_user_contains":"Fork text."},"text":"done"}]}}`))
	o.Window = 1000
	c := agent.New(o)
	if ans, err := c.Submit(t.Context(), agent.Input{Text: "go"}); err != nil || ans.Text != "end" {
		t.Fatalf("%+v, %v", ans, err)
	}
	if e := of[agent.Compacted](w); len(e) != 1 || e[0].Agent == session.Main {
		t.Errorf("%+v", e)
	}
	if r := w.results(session.Main); !strings.HasSuffix(r[0].Text, "done") {
		t.Errorf("%+v", r)
	}
}

// TestResumeMends: what a killed process leaves is made a history that
// providers take.
func TestResumeMends(t *testing.T) { // spec M-4, A-1
	say := func(role llm.Role, blocks ...llm.Block) llm.Message { return llm.Message{Role: role, Content: blocks} }
	text := func(s string) llm.Block { return llm.Block{Type: llm.Text, Text: s} }
	use := func(id string) llm.Block {
		return llm.Block{Type: llm.ToolUse, ToolUseID: id, Name: "Read", Input: []byte("{}")}
	}
	res := func(id string) llm.Block { return llm.Block{Type: llm.ToolResult, ToolUseID: id, Text: "r" + id} }
	for name, tt := range map[string]struct {
		history []llm.Message
		want    string
	}{
		"sound":          {[]llm.Message{say(llm.User, text("a")), say(llm.Assistant, use("1")), say(llm.User, res("1"), text("b")), say(llm.Assistant, text("c"))}, "a | use 1 | r1 b | c"},
		"killed in call": {[]llm.Message{say(llm.User, text("a")), say(llm.Assistant, use("1"), use("2"))}, "a | use 1 use 2 | lost 1 lost 2"},
		"one is missing": {[]llm.Message{say(llm.Assistant, use("1"), use("2")), say(llm.User, res("2"), text("b"))}, "use 1 use 2 | lost 1 r2 b"},
		"message lost":   {[]llm.Message{say(llm.Assistant, use("1")), say(llm.Assistant, text("c"))}, "use 1 | lost 1 | c"},
		"words follow":   {[]llm.Message{say(llm.Assistant, use("1")), say(llm.User, text("b")), say(llm.User, text("c"))}, "use 1 | lost 1 b | c"},
		"no such call":   {[]llm.Message{say(llm.User, res("9"), text("a")), say(llm.User, res("8"))}, "a"},
		"result twice":   {[]llm.Message{say(llm.Assistant, use("1")), say(llm.User, res("1")), say(llm.User, res("1"), text("b"))}, "use 1 | r1 | b"},
		"nothing":        {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			c := agent.New(w.options(w.engine, model(func(context.Context, llm.Request) iter.Seq2[llm.Event, error] { return says() })))
			c.Resume(tt.history)
			valid(t, c.History())
			var messages []string
			for _, m := range c.History() {
				var blocks []string
				for _, b := range m.Content {
					switch {
					case b.Type == llm.ToolUse:
						blocks = append(blocks, "use "+b.ToolUseID)
					case b.Type == llm.ToolResult && b.IsError:
						blocks = append(blocks, "lost "+b.ToolUseID)
					default:
						blocks = append(blocks, b.Text)
					}
				}
				messages = append(messages, strings.Join(blocks, " "))
			}
			if got := strings.Join(messages, " | "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
