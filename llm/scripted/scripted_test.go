package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/scripted"
)

func parse(t *testing.T, text string) *scripted.Model {
	t.Helper()
	s, err := scripted.Parse("s.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(s)
}

// ask sends one request with the texts of a last user message.
func ask(t *testing.T, m llm.Model, r llm.Request, texts ...string) (llm.Answer, error) {
	t.Helper()
	msg := llm.Message{Role: llm.User}
	for _, s := range texts {
		msg.Content = append(msg.Content, llm.Block{Type: llm.Text, Text: s})
	}
	r.Messages = append(r.Messages, msg)
	return llm.Collect(m.Stream(t.Context(), r))
}

// must is ask where an error ends the test.
func must(t *testing.T, m llm.Model, r llm.Request, texts ...string) llm.Answer {
	t.Helper()
	a, err := ask(t, m, r, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var mainAgent = llm.Request{AgentID: "main", Model: "m"}

func TestSteps(t *testing.T) { // spec K-12
	m := parse(t, `{"steps": [
		{"expect": {"last_user_contains": "rev"}, "text": "I start it.",
		 "calls": [{"name": "Skill", "input": {"skill": "x", "args": "y <z>"}}, {"name": "Wait"}],
		 "usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}},
		{"text": "Done."}
	]}`)
	a := must(t, m, mainAgent, "please review")
	if a.Text() != "I start it." || a.Done.Stop != llm.ToolCalls || a.Done.Model != "m" ||
		a.Done.Usage != (llm.Usage{InputTokens: 1, OutputTokens: 2, CacheReadInputTokens: 3, CacheCreationInputTokens: 4}) {
		t.Errorf("%+v, %+v", a, a.Done)
	}
	if len(a.Calls) != 2 || a.Calls[0].Name != "Skill" || string(a.Calls[0].Input) != `{"skill": "x", "args": "y <z>"}` ||
		a.Calls[1].Name != "Wait" || string(a.Calls[1].Input) != "{}" || a.Calls[0].ID == a.Calls[1].ID || a.Calls[0].ID == "" {
		t.Errorf("calls = %+v", a.Calls)
	}
	if a = must(t, m, mainAgent, "x"); a.Text() != "Done." || a.Done.Stop != llm.EndTurn {
		t.Errorf("%+v", a)
	}
	for range 2 { // running out of steps ends the turn with empty text
		if a = must(t, m, mainAgent, "x"); a.Text() != "" || a.Done.Stop != llm.EndTurn || len(a.Message.Content) != 0 {
			t.Errorf("%+v", a)
		}
	}
}

func TestSubagents(t *testing.T) { // spec K-12: by agent type or skill id, else "*"
	m := parse(t, `{"steps": [{"text": "main"}], "subagents": {
		"Explore": [{"text": "explore 1"}, {"text": "explore 2"}],
		"review": [{"text": "review"}],
		"*": [{"text": "any"}]}}`)
	for _, tt := range []struct {
		r    llm.Request
		want []string
	}{
		{llm.Request{AgentID: "a1", AgentType: "Explore"}, []string{"explore 1", "explore 2", ""}},
		{llm.Request{AgentID: "a2", AgentType: "Explore"}, []string{"explore 1"}},
		{llm.Request{AgentID: "a3", AgentType: "review"}, []string{"review", ""}},
		{llm.Request{AgentID: "a4", AgentType: "Explore", Skill: "review"}, []string{"review"}},
		{llm.Request{AgentID: "a5", AgentType: "Explore", Skill: "other"}, []string{"explore 1"}},
		{llm.Request{AgentID: "a6", AgentType: "Plan", Skill: "other"}, []string{"any", ""}},
		{llm.Request{AgentID: "main"}, []string{"main", ""}},
	} {
		for i, want := range tt.want {
			if a := must(t, m, tt.r, "x"); a.Text() != want {
				t.Errorf("%s, step %d: %q, want %q", tt.r.AgentID, i, a.Text(), want)
			}
		}
	}
	none := parse(t, `{"steps": [{"text": "main"}]}`)
	if a := must(t, none, llm.Request{AgentID: "a1", AgentType: "Explore"}, "x"); a.Text() != "" {
		t.Errorf("a subagent got the steps of the main agent: %q", a.Text())
	}
}

// TestExpect: what counts is all that the user's side said since the last
// answer; a failure fails the run, for good.
func TestExpect(t *testing.T) {
	const script = `{"steps": [{}, {"expect": {"last_user_contains": "wanted"}}, {"text": "later"}],
"subagents": {"*": [
  {"expect": {"last_user_contains": "wanted"}}]}}`
	after := func(ms ...llm.Message) llm.Request {
		return llm.Request{AgentID: "main", Messages: append([]llm.Message{
			{Role: llm.User, Content: []llm.Block{{Type: llm.Text, Text: "wanted"}}},
			{Role: llm.Assistant, Content: []llm.Block{{Type: llm.Text, Text: "wanted"}}}}, ms...)}
	}
	m := parse(t, script)
	must(t, m, mainAgent, "x")
	must(t, m, after(llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.ToolResult, Text: "is wanted"}}}), "a skill's text")

	m = parse(t, script)
	must(t, m, mainAgent, "x")
	_, err := ask(t, m, after(), "un", "wan", "ted")
	var e *scripted.ExpectError
	if !errors.As(err, &e) || e.Agent != "main" || e.Line != 1 || e.Want != "wanted" || llm.Retryable(err) {
		t.Fatalf("error = %v", err)
	}
	if _, again := ask(t, m, mainAgent, "wanted"); !errors.Is(again, err) || !errors.Is(m.Err(), err) {
		t.Errorf("the run went on: %v, %v", again, m.Err())
	}

	m = parse(t, script)
	_, err = ask(t, m, llm.Request{AgentID: "sub"}, "other")
	if !errors.As(err, &e) || e.Agent != "sub" || e.Line != 3 {
		t.Errorf("error = %v", err)
	}
	if _, err := ask(t, m, mainAgent, "x"); err == nil {
		t.Error("a subagent's failure did not fail the run")
	}
}

func TestExpectMessage(t *testing.T) {
	err := &scripted.ExpectError{Agent: "main", Line: 7, Want: "w", Got: "begin" + strings.Repeat("語", 5000) + "end"}
	if s := err.Error(); !strings.Contains(s, "line 7") || !strings.Contains(s, "begin") || !strings.Contains(s, `end"`) || len([]rune(s)) > 1200 {
		t.Errorf("%d characters: %s", len([]rune(s)), s)
	}
}

func TestErrors(t *testing.T) { // spec K-12: error.status; the next call takes the next step
	m := parse(t, `{"steps": [
		{"error": {"status": 529}},
		{"text": "so far", "error": {"status": 400, "type": "invalid_request_error", "message": "bad"}},
		{"text": "fine"}]}`)
	a, err := ask(t, m, mainAgent, "x")
	var api *llm.APIError
	if !errors.As(err, &api) || api.Status != 529 || !api.Retryable() || a.Text() != "" {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = ask(t, m, mainAgent, "x")
	if want := (&llm.APIError{Status: 400, Type: "invalid_request_error", Message: "bad"}); !errors.As(err, &api) || *api != *want || a.Text() != "so far" {
		t.Errorf("%+v, %v", a, err)
	}
	if a := must(t, m, mainAgent, "x"); a.Text() != "fine" {
		t.Errorf("%+v", a)
	}
}

func TestCancelled(t *testing.T) {
	m := parse(t, `{"steps": [{"text": "one"}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Collect(m.Stream(ctx, mainAgent)); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if a := must(t, m, mainAgent, "x"); a.Text() != "one" {
		t.Errorf("a cancelled request took a step: %+v", a)
	}
}

func TestConcurrent(t *testing.T) {
	m := parse(t, `{"subagents": {"*": [{"text": "1"}, {"text": "2"}]}}`)
	var wg sync.WaitGroup
	got := make([]string, 20)
	for i := range got {
		wg.Go(func() {
			for range 2 {
				a, err := llm.Collect(m.Stream(t.Context(), llm.Request{AgentID: fmt.Sprint(i)}))
				if err != nil {
					t.Error(err)
				}
				got[i] += a.Text()
			}
		})
	}
	wg.Wait()
	for i, g := range got {
		if g != "12" {
			t.Errorf("agent %d got %q", i, g)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, `s.json:1:1: unexpected end of JSON input`},
		{"{\n \"steps\": [\n  {\"text\": x}\n ]}", `s.json:3:12: invalid character 'x'`},
		{"{\"steps\": []\n", `s.json:2:1: unexpected end`},
		{`{"steps": []} more`, `s.json:1:15: invalid character 'm' after top-level value`},
		{"{\"steps\": [{\"text\": \"語\", \"txt\": 1}]}", `s.json:1:26: a step has no key "txt"; the keys are calls, error, expect, text, usage`},
		{"{\n\t\"stesp\": []}", `s.json:2:2: the script has no key "stesp"; the keys are steps, subagents`},
		{`{"steps": [], "steps": []}`, `s.json:1:15: the script has the key "steps" twice`},
		{`[]`, `s.json:1:1: the script must be an object`},
		{`{"steps": {}}`, `s.json:1:11: steps must be a list`},
		{`{"steps": [1]}`, `s.json:1:12: a step must be an object`},
		{`{"steps": [{"text": 1}]}`, `s.json:1:21: text must be a string`},
		{`{"steps": [{"text": null}]}`, `s.json:1:21: text must be a string`},
		{`{"steps": [{"expect": {"last": ""}}]}`, `s.json:1:24: expect has no key "last"; the keys are last_user_contains`},
		{`{"steps": [{"calls": [{"input": {}}]}]}`, `s.json:1:23: a call needs a name`},
		{`{"steps": [{"calls": [{"name": "A", "inputs": {}}]}]}`, `s.json:1:37: a call has no key "inputs"`},
		{`{"steps": [{"usage": {"input_tokens": -1}}]}`, `s.json:1:39: input_tokens must be a whole number from 0`},
		{`{"steps": [{"usage": {"input_tokens": "1"}}]}`, `s.json:1:39: input_tokens must be`},
		{`{"steps": [{"error": {}}]}`, `s.json:1:22: an error needs a status`},
		{`{"steps": [{"error": {"status": 52.9}}]}`, `s.json:1:33: status must be a whole number from 100`},
		{`{"steps": [{"error": {"status": 529}, "calls": [{"name": "A"}]}]}`, `s.json:1:12: a step with an error has no calls`},
		{`{"subagents": []}`, `s.json:1:15: subagents must be an object`},
		{`{"subagents": {"a": {}}}`, `s.json:1:21: subagents."a" must be a list`},
		{`{"subagents": {"a": [], "a": []}}`, `s.json:1:25: subagents has the key "a" twice`},
		{"{\"steps\": [{\"text\": \"\xff\"}]}", `s.json:1:22: the file is not UTF-8`},
	} {
		_, err := scripted.Parse("s.json", []byte(tt.text))
		var e *scripted.SyntaxError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q:\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte("\ufeff{\"steps\": [\n{\"text\": \"a\"}]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scripted.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &scripted.Script{Steps: []scripted.Step{{Text: "a", Line: 2}}, Subagents: map[string][]scripted.Step{}}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	if _, err := scripted.Load(path + ".not"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
}

// FuzzParse: a file is read, or the place of its fault lies in it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"steps":[{"expect":{"last_user_contains":"a"},"text":"b","calls":[{"name":"c","input":{"d":[1]}}],"usage":{"input_tokens":1},"error":{"status":529}}],"subagents":{"*":[]}}`,
		"{\n}", `{"steps":[{"text":1}]}`, "\ufeff{}", "{\"a\":\"\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scripted.Parse("s.json", data)
		if err == nil {
			if _, err := llm.Collect(scripted.New(s).Stream(t.Context(), llm.Request{AgentID: "sub"})); errors.Is(err, llm.ErrCut) {
				t.Error(err)
			}
			return
		}
		var e *scripted.SyntaxError
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Line > strings.Count(string(data), "\n")+1 {
			t.Errorf("%v", err)
		}
	})
}
