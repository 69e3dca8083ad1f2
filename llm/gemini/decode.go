package gemini

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/wire"
)

// decoder decodes one answer.
type decoder struct {
	model   string
	finish  string // why the answer ended; empty as long as it has not
	message string // what the server says about it
	blocked bool   // the prompt was refused
	called  map[string]bool
	usage   usage
}

type chunk struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		Reason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage `json:"usageMetadata"`
	Model string `json:"modelVersion"`
}

type candidate struct {
	Content struct {
		Parts []struct {
			Text      string `json:"text"`
			Thought   bool   `json:"thought"`
			Call      *call  `json:"functionCall"`
			Signature string `json:"thoughtSignature"`
		} `json:"parts"`
	} `json:"content"`
	Finish  string `json:"finishReason"`
	Message string `json:"finishMessage"`
}

type usage struct {
	Prompt   int `json:"promptTokenCount"`
	Tools    int `json:"toolUsePromptTokenCount"`
	Cached   int `json:"cachedContentTokenCount"` // a part of Prompt
	Answer   int `json:"candidatesTokenCount"`
	Thoughts int `json:"thoughtsTokenCount"`
}

// stops translates why an answer ended.
var stops = map[string]llm.StopReason{
	"STOP":                      llm.EndTurn,
	"FINISH_REASON_UNSPECIFIED": llm.EndTurn,
	"MAX_TOKENS":                llm.MaxTokens,
	"SAFETY":                    llm.Refusal,
	"RECITATION":                llm.Refusal,
	"BLOCKLIST":                 llm.Refusal,
	"PROHIBITED_CONTENT":        llm.Refusal,
	"SPII":                      llm.Refusal,
	"IMAGE_SAFETY":              llm.Refusal,
	"IMAGE_PROHIBITED_CONTENT":  llm.Refusal,
	"IMAGE_RECITATION":          llm.Refusal,
}

// slips are ends after which the same request may well succeed: the model wrote
// what nobody can read.
var slips = []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "OTHER"}

// Feed implements wire.Decoder.
func (d *decoder) Feed(e wire.Event) ([]llm.Event, bool, error) {
	if e.Whole {
		return d.whole(e)
	}
	if string(e.Data) == "[DONE]" { // of proxies that come from another API
		return nil, false, nil
	}
	out, err := d.chunk(e)
	return out, false, err
}

// whole reads an answer that is one JSON value: a list of what would have been
// events, or one of them.
func (d *decoder) whole(e wire.Event) (out []llm.Event, done bool, err error) {
	var list []json.RawMessage
	if json.Unmarshal(e.Data, &list) != nil {
		list = []json.RawMessage{e.Data}
	}
	for _, data := range list {
		more, err := d.chunk(wire.Event{Data: data})
		out = append(out, more...)
		if err != nil {
			return out, false, err
		}
	}
	end, err := d.End()
	return append(out, end...), true, err
}

func (d *decoder) chunk(e wire.Event) (out []llm.Event, err error) {
	if wire.IsFailure(e.Data) {
		return nil, wire.Failure(http.StatusOK, nil, e.Data)
	}
	var c chunk
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return nil, wire.Damaged(e, err)
	}
	if c.Model != "" {
		d.model = c.Model
	}
	if c.Usage != nil {
		d.usage = *c.Usage
	}
	d.blocked = d.blocked || c.Feedback.Reason != "" && c.Feedback.Reason != "BLOCK_REASON_UNSPECIFIED"
	if len(c.Candidates) > 0 { // one is asked for
		out = d.candidate(c.Candidates[0])
	}
	return out, nil
}

func (d *decoder) candidate(c candidate) (out []llm.Event) {
	for _, p := range c.Content.Parts {
		switch {
		case p.Call != nil:
			if p.Signature != "" {
				out = append(out, keep(p.Signature, onCall, ""))
			}
			out = append(out, llm.ToolCall{ID: d.id(p.Call.ID), Name: p.Call.Name, Input: object(p.Call.Args)})
		case p.Thought:
			if p.Text != "" {
				out = append(out, llm.ThinkingDelta{Text: p.Text})
			}
			if p.Signature != "" {
				out = append(out, keep(p.Signature, onThought, p.Text))
			}
		default:
			if p.Text != "" {
				out = append(out, llm.TextDelta{Text: p.Text})
			}
			if p.Signature != "" {
				out = append(out, keep(p.Signature, onText, ""))
			}
		}
	}
	if c.Finish != "" {
		d.finish, d.message = c.Finish, c.Message
	}
	return out
}

// keep is the event for a signature, which goes back with the next request.
func keep(sig, on, text string) llm.Event {
	opaque, err := json.Marshal(signature{sig, on})
	if err != nil { // strings always marshal
		return llm.ThinkingDelta{}
	}
	return llm.ThinkingDelta{Block: &llm.Block{Type: llm.Thinking, Text: text, Opaque: opaque}}
}

// id makes up an id where the server gives none, or one that is taken.
func (d *decoder) id(id string) string {
	if d.called == nil {
		d.called = map[string]bool{}
	}
	if id == "" || d.called[id] {
		id = madeUp + rand.Text()
	}
	d.called[id] = true
	return id
}

// End implements wire.Decoder. The stream has no mark of its end; what counts is
// that the candidate says why it ended, or that the prompt was blocked.
func (d *decoder) End() ([]llm.Event, error) {
	if d.finish == "" && !d.blocked {
		return nil, llm.ErrCut
	}
	if slices.Contains(slips, d.finish) {
		return nil, fmt.Errorf("%w by the model itself: %s %s", llm.ErrCut, d.finish, d.message)
	}
	stop, known := stops[d.finish]
	switch {
	case d.finish == "":
		stop = llm.Refusal
	case !known:
		return nil, &llm.APIError{Status: http.StatusOK, Type: d.finish, Message: d.message}
	case stop == llm.EndTurn && len(d.called) > 0:
		stop = llm.ToolCalls
	}
	u := d.usage
	return []llm.Event{llm.Done{Stop: stop, Model: d.model, Usage: llm.Usage{
		InputTokens:          max(0, u.Prompt+u.Tools-u.Cached),
		OutputTokens:         u.Answer + u.Thoughts,
		CacheReadInputTokens: u.Cached,
	}}}, nil
}
