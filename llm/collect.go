package llm

import (
	"bytes"
	"encoding/json"
	"iter"
)

// An Answer is what the events of one stream add up to. Its zero value is
// empty. It is not safe for concurrent use.
type Answer struct {
	// Message is the answer as an entry of the history, valid at any time: an
	// answer that was cancelled holds what came until then.
	Message Message
	// Calls are the tool calls as the model wrote them. The same calls are in
	// Message, where input that is no JSON object was made one (see [Object]),
	// so that the history can be sent again.
	Calls []ToolCall
	// Done is the end of the answer. It is nil until the answer is complete.
	Done *Done
}

// Add appends an event.
func (a *Answer) Add(e Event) {
	a.Message.Role = Assistant
	switch e := e.(type) {
	case TextDelta:
		a.text(e.Text)
	case ThinkingDelta:
		// Thinking without a block is for the eyes of people; the provider does
		// not want it back.
		if e.Block != nil {
			a.Message.Content = append(a.Message.Content, *e.Block)
		}
	case ToolCall:
		a.Calls = append(a.Calls, e)
		a.Message.Content = append(a.Message.Content,
			Block{Type: ToolUse, ToolUseID: e.ID, Name: e.Name, Input: Object(e.Input)})
	case Done:
		a.Done = &e
	}
}

func (a *Answer) text(s string) {
	if s == "" {
		return
	}
	if n := len(a.Message.Content); n > 0 && a.Message.Content[n-1].Type == Text {
		a.Message.Content[n-1].Text += s
		return
	}
	a.Message.Content = append(a.Message.Content, Block{Type: Text, Text: s})
}

// Text is the text of the answer.
func (a *Answer) Text() string {
	var b bytes.Buffer
	for _, c := range a.Message.Content {
		if c.Type == Text {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// Collect reads a stream to its end. With an error it returns what came until
// then.
func Collect(events iter.Seq2[Event, error]) (Answer, error) {
	var a Answer
	for e, err := range events {
		if err != nil {
			return a, err
		}
		a.Add(e)
	}
	if a.Done == nil {
		return a, ErrCut
	}
	return a, nil
}

// Object returns the input of a tool call as providers take it back: a JSON
// object. Input that is none stands in it as {"malformed_input": "…"}.
func Object(raw json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 {
		return json.RawMessage("{}")
	}
	if trimmed[0] == '{' && json.Valid(trimmed) {
		return raw
	}
	kept, err := json.Marshal(map[string]string{"malformed_input": string(raw)})
	if err != nil { // a string always marshals
		return json.RawMessage("{}")
	}
	return kept
}
