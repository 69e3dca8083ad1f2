package openai

import (
	"bytes"
	"encoding/json"

	"github.com/knack-skills/knack/llm"
)

// chatPiece is a piece of a tool call. Servers leave out what they like: the
// index, the id, the name in all pieces but the first, or repeat them in each.
type chatPiece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // string, or the object itself
	} `json:"function"`
}

// calls puts tool calls together from their pieces.
type calls struct {
	list []*partialCall
}

type partialCall struct {
	index     *int
	id, name  string
	arguments []byte
}

// add finds the call that a piece belongs to, or begins one.
func (s *calls) add(p chatPiece) {
	c := s.find(p)
	if c == nil {
		c = &partialCall{index: p.Index, id: p.ID}
		s.list = append(s.list, c)
	}
	if c.id == "" {
		c.id = p.ID
	}
	if p.Function.Name != c.name {
		c.name += p.Function.Name
	}
	var text string
	switch raw := bytes.TrimSpace(p.Function.Arguments); {
	case len(raw) == 0 || string(raw) == "null":
	case json.Unmarshal(raw, &text) == nil:
		c.arguments = append(c.arguments, text...)
	default:
		c.arguments = append(c.arguments, raw...)
	}
}

// find goes by the id where a piece has one, then by the index. A piece with
// neither continues the last call, unless it names a function: that begins one.
func (s *calls) find(p chatPiece) *partialCall {
	if len(s.list) == 0 {
		return nil
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		c := s.list[i]
		sameIndex := p.Index == nil || c.index == nil || *p.Index == *c.index
		// Some servers make up an id for each piece.
		sameID := p.ID == "" || c.id == "" || p.ID == c.id || p.Index != nil && p.Function.Name == ""
		switch {
		case !sameIndex || !sameID:
			continue
		case p.Index != nil && c.index != nil, p.ID != "" && c.id != "":
			return c
		}
	}
	last := s.list[len(s.list)-1]
	if p.Index != nil || p.ID != "" || p.Function.Name != "" {
		return nil
	}
	return last
}

// complete returns the calls. Those of an answer that reached its limit are
// complete only if their input is.
func (s *calls) complete(limited bool) (out []llm.ToolCall) {
	used := ids{}
	for _, c := range s.list {
		if limited && len(c.arguments) > 0 && !json.Valid(c.arguments) {
			continue
		}
		out = append(out, llm.ToolCall{ID: used.take(c.id), Name: c.name, Input: input(string(c.arguments))})
	}
	return out
}
