package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/knack-skills/knack/llm"
)

// A message is one entry of the conversation as the API wants it.
type message struct {
	role  llm.Role
	parts []part
}

// A part is a block with or without a cache mark after it.
type part struct {
	*llm.Block
	marked bool
}

// messages maps a conversation. Neighbours of one role become one message, as
// the API would do, and the results of tools stand first in it, as the API
// demands: a skill's text may come between two results. cacheAt has marks for
// messages; the last free ones of them count.
func messages(ms []llm.Message, cacheAt []int, free int) []message {
	marked := lastMarks(ms, cacheAt, free)
	var out []message
	for i := 0; i < len(ms); {
		m := message{role: ms[i].Role}
		for ; i < len(ms) && ms[i].Role == m.role; i++ {
			m.parts = appendParts(m.parts, ms[i].Content, slices.Contains(marked, i))
		}
		if m.role == llm.User {
			resultsFirst(m.parts)
		}
		if len(m.parts) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// lastMarks picks the marks that count: a mark needs a block to stand on.
func lastMarks(ms []llm.Message, cacheAt []int, free int) []int {
	var marked []int
	for _, i := range slices.Backward(cacheAt) {
		if len(marked) == free {
			break
		}
		if i >= 0 && i < len(ms) && !slices.Contains(marked, i) && slices.ContainsFunc(ms[i].Content, markable) {
			marked = append(marked, i)
		}
	}
	return marked
}

// markable reports whether a block is sent and may have a cache mark.
func markable(b llm.Block) bool {
	return b.Type != llm.Thinking && (b.Type != llm.Text || !blank(b.Text))
}

// blank text is refused by the API.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func appendParts(parts []part, blocks []llm.Block, marked bool) []part {
	last := -1
	for i := range blocks {
		switch b := &blocks[i]; {
		case markable(*b):
			last = len(parts)
			parts = append(parts, part{Block: b})
		case b.Type == llm.Thinking && ours(b.Opaque):
			parts = append(parts, part{Block: b})
		}
	}
	if marked && last >= 0 {
		parts[last].marked = true
	}
	return parts
}

// ours reports whether thinking came from this API; another provider's would be
// refused.
func ours(raw json.RawMessage) bool {
	var o struct {
		Type      string `json:"type"`
		Signature string `json:"signature"`
		Data      string `json:"data"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return false
	}
	return o.Type == "thinking" && o.Signature != "" || o.Type == "redacted_thinking" && o.Data != ""
}

// wireID makes an id that another provider gave fit for this one.
func wireID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

func resultsFirst(parts []part) {
	order := func(a, b part) int { return rank(a) - rank(b) }
	if !slices.IsSortedFunc(parts, order) {
		slices.SortStableFunc(parts, order)
	}
}

func rank(p part) int {
	if p.Type == llm.ToolResult {
		return 0
	}
	return 1
}
