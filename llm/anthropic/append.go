package anthropic

import (
	"slices"
	"unicode/utf8"

	"github.com/knack-skills/knack/llm"
)

// The messages are written by hand: a long conversation is sent with every
// request, and encoding/json takes several times as long.

// appendMessages completes the body that begins with head.
func appendMessages(head []byte, ms []message) []byte {
	b := append(slices.Grow(head, size(ms)), `,"messages":[`...)
	for i, m := range ms {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`...)
		b = appendString(b, string(m.role))
		b = append(b, `,"content":[`...)
		for j, p := range m.parts {
			if j > 0 {
				b = append(b, ',')
			}
			b = appendPart(b, p)
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}

// size is a guess: text grows a little by its escapes.
func size(ms []message) int {
	n := 64
	for _, m := range ms {
		n += 32
		for _, p := range m.parts {
			n += 128 + len(p.Text) + len(p.Text)/8 + len(p.Input) + len(p.Opaque)
		}
	}
	return n
}

func appendPart(b []byte, p part) []byte {
	switch p.Type {
	case llm.Thinking:
		return append(b, p.Opaque...) // letter by letter, without a mark
	case llm.ToolUse:
		b = append(b, `{"type":"tool_use","id":`...)
		b = appendString(b, wireID(p.ToolUseID))
		b = append(b, `,"name":`...)
		b = appendString(b, p.Name)
		b = append(b, `,"input":`...)
		b = append(b, llm.Object(p.Input)...)
	case llm.ToolResult:
		b = append(b, `{"type":"tool_result","tool_use_id":`...)
		b = appendString(b, wireID(p.ToolUseID))
		if p.Text != "" {
			b = append(b, `,"content":`...)
			b = appendString(b, p.Text)
		}
		if p.IsError {
			b = append(b, `,"is_error":true`...)
		}
	default:
		b = append(b, `{"type":"text","text":`...)
		b = appendString(b, p.Text)
	}
	if p.marked {
		b = append(b, `,"cache_control":{"type":"ephemeral"}`...)
	}
	return append(b, '}')
}

// appendString appends s as a JSON string. What is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		b = append(b, s[start:i]...)
		switch {
		case c >= utf8.RuneSelf:
			b = append(b, "\ufffd"...)
		case c == '"', c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i += size
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
