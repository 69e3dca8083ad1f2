package llmtest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// ask sends one request and fails the test unless the answer is complete.
func ask(t *testing.T, s Server, r llm.Request) llm.Answer {
	t.Helper()
	a, events, err := gather(t, s.Model(), r)
	if err != nil {
		t.Fatalf("Stream: %v", err)
	}
	if a.Done == nil {
		t.Fatalf("the answer has no Done: %#v", events)
	}
	if a.Done.Model == "" {
		t.Error("Done does not name the model")
	}
	return a
}

// gather reads a stream and checks what holds of all: nothing comes after an
// error or a Done, and an error is not beside an event.
func gather(t *testing.T, m llm.Model, r llm.Request) (llm.Answer, []llm.Event, error) {
	t.Helper()
	var (
		a      llm.Answer
		events []llm.Event
		failed error
	)
	for e, err := range m.Stream(t.Context(), r) {
		switch {
		case failed != nil:
			t.Fatalf("after error %v came %#v, %v", failed, e, err)
		case a.Done != nil:
			t.Fatalf("after Done came %#v, %v", e, err)
		case err != nil:
			failed = err
			continue
		}
		events = append(events, e)
		a.Add(e)
	}
	if failed == nil && a.Done == nil {
		t.Fatalf("the stream ended with neither Done nor an error: %#v", events)
	}
	return a, events, failed
}

func testText(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Parts: []Part{text("Hello, wörld. 你好 👩‍👩‍👧")}})
	a := ask(t, s, Request())
	if got := a.Text(); got != "Hello, wörld. 你好 👩‍👩‍👧" {
		t.Errorf("text = %q", got)
	}
	if a.Done.Stop != llm.EndTurn || len(a.Calls) != 0 {
		t.Errorf("Stop = %q, calls %v", a.Done.Stop, a.Calls)
	}
}

func testEmpty(t *testing.T, p Provider) {
	a := ask(t, p.Start(t, Reply{}), Request())
	if a.Done.Stop != llm.EndTurn || len(a.Message.Content) != 0 {
		t.Errorf("Stop = %q, content %v", a.Done.Stop, a.Message.Content)
	}
}

func testCalls(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Stop: llm.ToolCalls, Parts: []Part{
		text("I look."), call("c1", "Look", `{"path":"a"}`), call("c2", "Look", `{"path":"b"}`), call("c3", "Other", `{"n":9007199254740993}`),
	}})
	a := ask(t, s, Request())
	if a.Done.Stop != llm.ToolCalls || a.Text() != "I look." {
		t.Errorf("Stop = %q, text %q", a.Done.Stop, a.Text())
	}
	want := []llm.ToolCall{{Name: "Look", Input: []byte(`{"path":"a"}`)}, {Name: "Look", Input: []byte(`{"path":"b"}`)}, {Name: "Other", Input: []byte(`{"n":9007199254740993}`)}}
	if len(a.Calls) != len(want) {
		t.Fatalf("calls = %v", a.Calls)
	}
	ids := map[string]bool{}
	for i, c := range a.Calls {
		if c.Name != want[i].Name || compact(t, c.Input) != string(want[i].Input) {
			t.Errorf("call %d = %s %s", i, c.Name, c.Input)
		}
		if c.ID == "" || ids[c.ID] {
			t.Errorf("call %d has the id %q", i, c.ID)
		}
		ids[c.ID] = true
	}
}

// testCallInput: no input is an empty object, and what is no JSON reaches the
// agent as the model wrote it.
func testCallInput(t *testing.T, p Provider) {
	a := ask(t, p.Start(t, Reply{Stop: llm.ToolCalls, Parts: []Part{call("c1", "Look", ``)}}), Request())
	if len(a.Calls) != 1 || compact(t, a.Calls[0].Input) != "{}" {
		t.Errorf("calls = %+v", a.Calls)
	}
	a = ask(t, p.Start(t, Reply{Stop: llm.ToolCalls, Parts: []Part{call("c1", "Look", `{}`)}}), Request())
	if len(a.Calls) != 1 || compact(t, a.Calls[0].Input) != "{}" {
		t.Errorf("calls = %+v", a.Calls)
	}
	if p.ObjectInput {
		return
	}
	const broken = `{"path": "a`
	a = ask(t, p.Start(t, Reply{Stop: llm.ToolCalls, Parts: []Part{call("c1", "Look", broken)}}), Request())
	if len(a.Calls) != 1 || string(a.Calls[0].Input) != broken {
		t.Errorf("calls = %+v", a.Calls)
	}
}

func testStops(t *testing.T, p Provider) {
	for _, stop := range []llm.StopReason{llm.EndTurn, llm.MaxTokens, llm.Refusal} {
		a := ask(t, p.Start(t, Reply{Parts: []Part{text("so far")}, Stop: stop}), Request())
		if a.Done.Stop != stop || a.Text() != "so far" {
			t.Errorf("Stop = %q with text %q, want %q", a.Done.Stop, a.Text(), stop)
		}
	}
}

func testUsage(t *testing.T, p Provider) {
	want := llm.Usage{InputTokens: 11, OutputTokens: 22, CacheReadInputTokens: 33, CacheCreationInputTokens: 44}
	if p.NoCacheCreation {
		want.CacheCreationInputTokens = 0
	}
	a := ask(t, p.Start(t, Reply{Parts: []Part{text("x")}, Usage: want}), Request())
	if a.Done.Usage != want {
		t.Errorf("Usage = %+v, want %+v", a.Done.Usage, want)
	}
}

// testLong: pieces longer than the buffers that line readers have by default.
func testLong(t *testing.T, p Provider) {
	long := strings.Repeat("0123456789abcdef", 20_000)
	input := `{"content":"` + long + `"}`
	s := p.Start(t, Reply{Stop: llm.ToolCalls, Parts: []Part{text(long), call("c1", "Write", input)}})
	a := ask(t, s, Request())
	if a.Text() != long {
		t.Errorf("%d bytes of text, want %d", len(a.Text()), len(long))
	}
	if len(a.Calls) != 1 || compact(t, a.Calls[0].Input) != input {
		t.Errorf("%d calls", len(a.Calls))
	}
}

func testSlow(t *testing.T, p Provider) {
	s := p.Start(t, Reply{Fault: Slow, Stop: llm.ToolCalls, Usage: llm.Usage{InputTokens: 1, OutputTokens: 2},
		Parts: []Part{text("日本語 👩‍👩‍👧"), call("c1", "Look", `{"path":"é"}`)}})
	a := ask(t, s, Request())
	if a.Text() != "日本語 👩‍👩‍👧" || len(a.Calls) != 1 || compact(t, a.Calls[0].Input) != `{"path":"é"}` {
		t.Errorf("text %q, calls %v", a.Text(), a.Calls)
	}
}

// testThinking: reasoning is shown, and goes back as the provider wants it.
func testThinking(t *testing.T, p Provider) {
	if p.NoThinking {
		return
	}
	s := p.Start(t, Reply{Stop: llm.ToolCalls, Parts: []Part{
		{Thinking: "Where is it?", Signature: "c2lnbmF0dXJl"}, call("c1", "Look", `{"path":"a"}`),
	}}, Reply{Parts: []Part{text("There.")}})
	r := Request()
	a, events, err := gather(t, s.Model(), r)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for _, e := range events {
		if d, ok := e.(llm.ThinkingDelta); ok {
			shown.WriteString(d.Text)
		}
	}
	if shown.String() != "Where is it?" {
		t.Errorf("thinking = %q", shown.String())
	}
	r.Messages = append(r.Messages, saved(t, a.Message), llm.Message{Role: llm.User, Content: []llm.Block{
		{Type: llm.ToolResult, ToolUseID: a.Calls[0].ID, Text: "here"}}})
	ask(t, s, r)
	seen := s.Seen()
	if n := len(seen); n != 2 || !bytes.Contains(seen[n-1].Body, []byte("c2lnbmF0dXJl")) {
		t.Errorf("the signature did not go back in request %d: %s", n, seen[n-1].Body)
	}
}

// saved is a message after a stay in a transcript.
func saved(t *testing.T, m llm.Message) llm.Message {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back llm.Message
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(m, back) {
		t.Errorf("the message changed on its way through JSON:\n%+v\n%+v", m, back)
	}
	return back
}

func compact(t *testing.T, raw []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Errorf("%q: %v", raw, err)
	}
	return b.String()
}
