package openai

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// responses decodes an answer of the Responses API.
type responses struct {
	model string
	ids   ids

	finished map[int]bool // items that are complete
	texted   map[int]bool // items whose text came in pieces
	last     int          // item that the last text came from
	spoke    bool
	part     int  // part of a summary that the last thought came from
	thought  bool // a thought of the present item has come
	refused  bool
	called   bool
}

func newResponses(model string) wire.Decoder {
	return &responses{model: model, ids: ids{}, finished: map[int]bool{}, texted: map[int]bool{}}
}

// responsesEvent has the fields of all events that matter. What is a string in
// one may be an object in another.
type responsesEvent struct {
	Type     string          `json:"type"`
	Delta    json.RawMessage `json:"delta"`
	Index    int             `json:"output_index"`
	Part     int             `json:"summary_index"`
	Item     json.RawMessage `json:"item"`
	Response json.RawMessage `json:"response"`
}

type responsesAnswer struct {
	Model   string            `json:"model"`
	Status  string            `json:"status"`
	Output  []json.RawMessage `json:"output"`
	Reasons struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		Details struct {
			Read    int `json:"cached_tokens"`
			Created int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

type responsesItem struct {
	Type      string        `json:"type"`
	ID        string        `json:"id"`
	Status    string        `json:"status"`
	CallID    string        `json:"call_id"`
	Name      string        `json:"name"`
	Arguments string        `json:"arguments"`
	Summary   []contentPart `json:"summary"`
	Encrypted string        `json:"encrypted_content"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// Feed implements wire.Decoder.
func (d *responses) Feed(e wire.Event) ([]llm.Event, bool, error) {
	if e.Whole {
		if wire.IsFailure(e.Data) {
			return nil, false, wire.Failure(http.StatusOK, nil, e.Data)
		}
		return d.end(e, e.Data)
	}
	if string(e.Data) == "[DONE]" { // of servers that come from the other API
		return nil, false, nil
	}
	var ev responsesEvent
	if err := json.Unmarshal(e.Data, &ev); err != nil {
		return nil, false, wire.Damaged(e, err)
	}
	switch ev.Type {
	case "response.output_text.delta", "response.refusal.delta":
		d.refused = d.refused || ev.Type == "response.refusal.delta"
		d.texted[ev.Index] = true
		return d.text(ev.Index, word(ev.Delta)), false, nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return d.think(ev.Part, word(ev.Delta)), false, nil
	case "response.output_item.done":
		out, err := d.item(ev.Index, ev.Item)
		if err != nil {
			err = wire.Damaged(e, err)
		}
		return out, false, err
	case "response.completed", "response.incomplete", "response.failed":
		return d.end(e, ev.Response)
	case "error":
		return nil, false, wire.Failure(http.StatusOK, nil, wrapped(e.Data))
	case "":
		if wire.IsFailure(e.Data) {
			return nil, false, wire.Failure(http.StatusOK, nil, e.Data)
		}
	}
	return nil, false, nil // progress, and events that are yet to be invented
}

// End implements wire.Decoder.
func (d *responses) End() ([]llm.Event, error) { return nil, llm.ErrCut }

// wrapped puts an error event, whose fields may stand at its top, into the form
// that errors have elsewhere.
func wrapped(data []byte) []byte {
	if wire.IsFailure(data) {
		return data
	}
	var flat struct {
		Code    any `json:"code"`
		Message any `json:"message"`
		Param   any `json:"param"`
	}
	if json.Unmarshal(data, &flat) != nil {
		return data
	}
	full, err := json.Marshal(map[string]any{"error": flat})
	if err != nil {
		return data
	}
	return full
}

func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "" // a delta that is no text
	}
	return s
}

// text keeps the texts of two messages apart.
func (d *responses) text(index int, s string) []llm.Event {
	if s == "" {
		return nil
	}
	if d.spoke && d.last != index {
		s = "\n\n" + s
	}
	d.spoke, d.last = true, index
	return []llm.Event{llm.TextDelta{Text: s}}
}

func (d *responses) think(part int, s string) []llm.Event {
	if s == "" {
		return nil
	}
	if d.thought && part != d.part {
		s = "\n\n" + s
	}
	d.thought, d.part = true, part
	return []llm.Event{llm.ThinkingDelta{Text: s}}
}

// item reads a complete item.
func (d *responses) item(index int, raw json.RawMessage) ([]llm.Event, error) {
	var it responsesItem
	if err := json.Unmarshal(raw, &it); err != nil {
		return nil, err
	}
	if d.finished[index] {
		return nil, nil
	}
	d.finished[index] = true
	switch it.Type {
	case "message":
		return d.message(index, it), nil
	case "reasoning":
		d.thought = false
		if it.Encrypted == "" {
			return nil, nil
		}
		return reasoned(it)
	case "function_call":
		if it.Status == "incomplete" {
			return nil, nil
		}
		d.called = true
		return []llm.Event{llm.ToolCall{ID: d.ids.take(it.CallID), Name: it.Name, Input: input(it.Arguments)}}, nil
	}
	return nil, nil
}

// message returns the text of a message that came in one piece.
func (d *responses) message(index int, it responsesItem) (out []llm.Event) {
	for _, c := range it.Content {
		d.refused = d.refused || c.Type == "refusal"
		if !d.texted[index] {
			out = append(out, d.text(index, c.Text+c.Refusal)...)
		}
	}
	return out
}

// reasoned keeps a reasoning item for the next request.
func reasoned(it responsesItem) ([]llm.Event, error) {
	texts := make([]string, len(it.Summary))
	for i, s := range it.Summary {
		texts[i] = s.Text
	}
	if it.Summary == nil {
		it.Summary = []contentPart{}
	}
	opaque, err := json.Marshal(reasoningItem{"reasoning", it.ID, it.Summary, it.Encrypted})
	if err != nil {
		return nil, err
	}
	return []llm.Event{llm.ThinkingDelta{Block: &llm.Block{Type: llm.Thinking,
		Text: strings.Join(texts, "\n\n"), Opaque: opaque}}}, nil
}

// end reads the response as a whole, which says how it ended. Items that did
// not come by themselves are in it.
func (d *responses) end(e wire.Event, raw json.RawMessage) (out []llm.Event, done bool, err error) {
	var a responsesAnswer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, false, wire.Damaged(e, err)
	}
	if a.Status == "failed" || a.Status == "cancelled" {
		return nil, false, wire.Failure(http.StatusOK, nil, raw)
	}
	for i, item := range a.Output {
		more, err := d.item(i, item)
		if err != nil {
			return out, false, wire.Damaged(e, err)
		}
		out = append(out, more...)
	}
	u := a.Usage
	end := llm.Done{Stop: d.stop(a), Model: a.Model, Usage: llm.Usage{
		InputTokens:              max(0, u.Input-u.Details.Read-u.Details.Created),
		OutputTokens:             u.Output,
		CacheReadInputTokens:     u.Details.Read,
		CacheCreationInputTokens: u.Details.Created,
	}}
	if end.Model == "" {
		end.Model = d.model
	}
	return append(out, end), true, nil
}

func (d *responses) stop(a responsesAnswer) llm.StopReason {
	switch {
	case a.Status == "incomplete" && a.Reasons.Reason == "content_filter", d.refused:
		return llm.Refusal
	case a.Status == "incomplete":
		return llm.MaxTokens
	case d.called:
		return llm.ToolCalls
	}
	return llm.EndTurn
}

// ids are the ids of the calls of an answer. Some servers give none, or the
// same to all.
type ids map[string]bool

func (used ids) take(id string) string {
	if id == "" || used[id] {
		id = "call_" + rand.Text()
	}
	used[id] = true
	return id
}

// input is what the model wrote as the input of a call; nothing is no input.
func input(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}
