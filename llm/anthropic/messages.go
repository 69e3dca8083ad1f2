package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/knack-skills/knack/llm"
)

// messages maps a conversation. Neighbours of one role become one message, as
// the API would do, and the results of tools stand first in it, as the API
// demands: a skill's text may come between two results. cacheAt has marks for
// messages; the last free ones of them count.
func messages(ms []llm.Message, cacheAt []int, free int) []message {
	marked := lastMarks(ms, cacheAt, free)
	var out []message
	for i := 0; i < len(ms); {
		m := message{Role: ms[i].Role}
		for ; i < len(ms) && ms[i].Role == m.Role; i++ {
			m.Content = appendParts(m.Content, ms[i].Content, slices.Contains(marked, i))
		}
		if m.Role == llm.User {
			m.Content = resultsFirst(m.Content)
		}
		if len(m.Content) > 0 {
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
	for _, b := range blocks {
		switch {
		case b.Type == llm.Thinking:
			if ours(b.Opaque) {
				parts = append(parts, part{raw: b.Opaque})
			}
			continue
		case !markable(b):
			continue
		case b.Type == llm.Text:
			parts = append(parts, part{Type: "text", Text: b.Text})
		case b.Type == llm.ToolUse:
			parts = append(parts, part{Type: "tool_use", ID: wireID(b.ToolUseID), Name: b.Name, Input: llm.Object(b.Input)})
		case b.Type == llm.ToolResult:
			parts = append(parts, part{Type: "tool_result", ToolUseID: wireID(b.ToolUseID), Content: b.Text, IsError: b.IsError})
		}
		last = len(parts) - 1
	}
	if marked && last >= 0 {
		parts[last].Cache = ephemeral()
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

func resultsFirst(parts []part) []part {
	isResult := func(p part) int {
		if p.Type == "tool_result" {
			return 0
		}
		return 1
	}
	if !slices.IsSortedFunc(parts, func(a, b part) int { return isResult(a) - isResult(b) }) {
		slices.SortStableFunc(parts, func(a, b part) int { return isResult(a) - isResult(b) })
	}
	return parts
}
