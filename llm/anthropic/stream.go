package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// An event is what we read of a server-sent event; the rest of it is ignored, as
// the API asks of its clients.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage counts `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage counts `json:"usage"`
}

// counts are cumulative; a later event repeats only some of them.
type counts struct {
	Input         *int `json:"input_tokens"`
	Output        *int `json:"output_tokens"`
	CacheRead     *int `json:"cache_read_input_tokens"`
	CacheCreation *int `json:"cache_creation_input_tokens"`
}

func (c counts) into(u *llm.Usage) {
	for _, f := range []struct {
		from *int
		to   *int
	}{
		{c.Input, &u.InputTokens}, {c.Output, &u.OutputTokens},
		{c.CacheRead, &u.CacheReadInputTokens}, {c.CacheCreation, &u.CacheCreationInputTokens},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
}

// A block is a content block that is being put together.
type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`

	raw    json.RawMessage // as it began
	pieces bytes.Buffer    // of the input of a call, or of thinking
}

// An answer turns events into ours.
type answer struct {
	yield  func(llm.Event) bool
	blocks map[int]*block
	done   llm.Done
}

// take reports whether the stream goes on.
func (a *answer) take(e *event) bool {
	switch e.Type {
	case "message_start":
		a.done.Model = e.Message.Model
		e.Message.Usage.into(&a.done.Usage)
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		return a.delta(e)
	case "content_block_stop":
		return a.stop(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.done.Stop = stopReason(e.Delta.StopReason)
		}
		e.Usage.into(&a.done.Usage)
	case "message_stop":
		if a.done.Stop == "" {
			a.done.Stop = llm.EndTurn
		}
		a.yield(a.done)
		return false
	}
	return true
}

func (a *answer) start(e *event) bool {
	b := &block{raw: e.ContentBlock}
	if json.Unmarshal(e.ContentBlock, b) != nil {
		return true // a block of a kind we do not ask for
	}
	a.blocks[e.Index] = b
	switch {
	case b.Type == "text" && b.Text != "":
		return a.yield(llm.TextDelta{Text: b.Text})
	case b.Type == "thinking" && b.Thinking != "":
		b.pieces.WriteString(b.Thinking)
		return a.yield(llm.ThinkingDelta{Text: b.Thinking})
	}
	return true
}

func (a *answer) delta(e *event) bool {
	b := a.blocks[e.Index]
	if b == nil {
		return true
	}
	switch d := &e.Delta; d.Type {
	case "text_delta":
		return d.Text == "" || a.yield(llm.TextDelta{Text: d.Text})
	case "input_json_delta":
		b.pieces.WriteString(d.PartialJSON)
	case "thinking_delta":
		b.pieces.WriteString(d.Thinking)
		return d.Thinking == "" || a.yield(llm.ThinkingDelta{Text: d.Thinking})
	case "signature_delta":
		b.Signature += d.Signature
	}
	return true
}

func (a *answer) stop(index int) bool {
	b := a.blocks[index]
	delete(a.blocks, index)
	if b == nil {
		return true
	}
	switch b.Type {
	case "tool_use":
		input := json.RawMessage(b.pieces.Bytes())
		if len(input) == 0 { // no input, or a server that sends it in one piece
			input = b.Input
		}
		if len(bytes.TrimSpace(input)) == 0 || string(input) == "null" {
			input = json.RawMessage("{}")
		}
		return a.yield(llm.ToolCall{ID: b.ID, Name: b.Name, Input: input})
	case "thinking":
		text := b.pieces.String()
		return a.yield(llm.ThinkingDelta{Block: &llm.Block{Type: llm.Thinking, Text: text, Opaque: thinkingBlock(text, b.Signature)}})
	case "redacted_thinking":
		return a.yield(llm.ThinkingDelta{Block: &llm.Block{Type: llm.Thinking, Opaque: b.raw}})
	}
	return true
}

// thinkingBlock is the block as the API wants it back, letter by letter.
func thinkingBlock(text, signature string) json.RawMessage {
	b, err := wire.Encode(opaque{Type: "thinking", Thinking: text, Signature: signature})
	if err != nil {
		return nil // three strings always encode
	}
	return b
}

// opaque is what Block.Opaque of this provider looks like.
type opaque struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// stops maps the API's reasons; all others are EndTurn.
var stops = map[string]llm.StopReason{
	"tool_use":                      llm.ToolCalls,
	"max_tokens":                    llm.MaxTokens,
	"model_context_window_exceeded": llm.MaxTokens,
	"refusal":                       llm.Refusal,
}

func stopReason(s string) llm.StopReason {
	if r, ok := stops[strings.TrimSpace(s)]; ok {
		return r
	}
	return llm.EndTurn
}
