package openai

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// chat decodes an answer of the Chat Completions API, as OpenAI and the servers
// that imitate it send it.
type chat struct {
	model   string
	calls   calls
	finish  string // why the answer ended; empty as long as it has not
	thought strings.Builder
	kept    bool // thought is on its way back
	refused bool
	usage   chatUsage
}

func newChat(model string) wire.Decoder { return &chat{model: model} }

type chatChunk struct {
	Model   string          `json:"model"`
	Choices []chatChoice    `json:"choices"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type chatChoice struct {
	Delta   *chatDelta `json:"delta"`
	Message *chatDelta `json:"message"` // of a server that does not stream
	Finish  string     `json:"finish_reason"`
}

type chatDelta struct {
	Content   json.RawMessage `json:"content"` // string, null, or a list of parts
	Refusal   string          `json:"refusal"`
	Thought   string          `json:"reasoning_content"`
	Thought2  json.RawMessage `json:"reasoning"` // another name for it
	ToolCalls []chatPiece     `json:"tool_calls"`
	Function  *struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function_call"` // the form before there were several
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Hit        int `json:"prompt_cache_hit_tokens"` // one server's name for cached_tokens
	Details    struct {
		Read    int `json:"cached_tokens"`
		Created int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// stops translates what servers say at the end of an answer. What is not listed
// is an end like any other.
var stops = map[string]llm.StopReason{
	"tool_calls":     llm.ToolCalls,
	"tool_call":      llm.ToolCalls,
	"tool_use":       llm.ToolCalls,
	"function_call":  llm.ToolCalls,
	"length":         llm.MaxTokens,
	"max_tokens":     llm.MaxTokens,
	"model_length":   llm.MaxTokens,
	"content_filter": llm.Refusal,
	"safety":         llm.Refusal,
	"refusal":        llm.Refusal,
}

// failed are the ends that are none: something broke on the server's side.
var failed = []string{"error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource"}

// Feed implements wire.Decoder.
func (d *chat) Feed(e wire.Event) ([]llm.Event, bool, error) {
	if string(e.Data) == "[DONE]" {
		out, err := d.End()
		return out, true, err
	}
	var c chatChunk
	if err := json.Unmarshal(e.Data, &c); err != nil {
		if e.Name == "error" {
			return nil, false, wire.Failure(http.StatusOK, nil, e.Data)
		}
		return nil, false, wire.Damaged(e, err)
	}
	if e.Name == "error" || len(c.Error) > 0 && string(c.Error) != "null" || e.Whole && c.Choices == nil {
		return nil, false, wire.Failure(http.StatusOK, nil, e.Data)
	}
	if c.Model != "" {
		d.model = c.Model
	}
	if c.Usage != nil {
		d.usage = *c.Usage
	}
	var out []llm.Event
	for _, choice := range c.Choices[:min(1, len(c.Choices))] { // one is asked for
		for _, delta := range []*chatDelta{choice.Delta, choice.Message} {
			if delta != nil {
				out = append(out, d.delta(delta)...)
			}
		}
		if choice.Finish != "" {
			d.finish = choice.Finish
		}
	}
	if slices.Contains(failed, d.finish) {
		return out, false, &llm.APIError{Status: http.StatusOK, Type: "server_error", Message: "the answer ended with " + d.finish}
	}
	if e.Whole {
		end, err := d.End()
		return append(out, end...), true, err
	}
	return out, false, nil
}

// delta reads a piece of the answer. Thinking ends where something else begins.
func (d *chat) delta(c *chatDelta) (out []llm.Event) {
	thought := c.Thought
	if thought == "" {
		thought = word(c.Thought2)
	}
	if thought != "" {
		d.thought.WriteString(thought)
		out = append(out, llm.ThinkingDelta{Text: thought})
	}
	text := content(c.Content)
	d.refused = d.refused || c.Refusal != ""
	if text += c.Refusal; text != "" {
		out = append(out, d.keepThought()...)
		out = append(out, llm.TextDelta{Text: text})
	}
	for _, p := range c.ToolCalls {
		d.calls.add(p)
	}
	if c.Function != nil {
		p := chatPiece{Index: new(int)}
		p.Function.Name, p.Function.Arguments = c.Function.Name, c.Function.Arguments
		d.calls.add(p)
	}
	return out
}

// content is the text of a piece.
func content(raw json.RawMessage) string {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		return word(raw)
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "" || p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// keepThought ends the thinking, in the form in which it goes back.
func (d *chat) keepThought() []llm.Event {
	if d.kept || d.thought.Len() == 0 {
		return nil
	}
	d.kept = true
	opaque := json.RawMessage(`{"type":"` + chatThoughtType + `"}`)
	return []llm.Event{llm.ThinkingDelta{Block: &llm.Block{Type: llm.Thinking, Text: d.thought.String(), Opaque: opaque}}}
}

// End implements wire.Decoder. The reason why an answer ended is its last word;
// the usage, and a mark that the stream is over, may follow or not.
func (d *chat) End() ([]llm.Event, error) {
	if d.finish == "" {
		return nil, llm.ErrCut
	}
	out := d.keepThought()
	stop, known := stops[d.finish]
	if !known {
		stop = llm.EndTurn
	}
	if d.refused {
		stop = llm.Refusal
	}
	found := d.calls.complete(stop == llm.MaxTokens)
	for _, c := range found {
		out = append(out, c)
	}
	switch {
	case stop == llm.ToolCalls && len(found) == 0:
		stop = llm.EndTurn
	case stop == llm.EndTurn && len(found) > 0:
		stop = llm.ToolCalls
	}
	u := d.usage
	read := max(u.Details.Read, u.Hit)
	return append(out, llm.Done{Stop: stop, Model: d.model, Usage: llm.Usage{
		InputTokens:              max(0, u.Prompt-read-u.Details.Created),
		OutputTokens:             u.Completion,
		CacheReadInputTokens:     read,
		CacheCreationInputTokens: u.Details.Created,
	}}), nil
}
