package mcpclient

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/source/mcp"
	words "github.com/knack-skills/knack/text"
)

// Text puts the pieces of an answer together. What is no text is named: nothing
// is left out silently.
func Text(list []Content) string {
	parts := make([]string, 0, len(list))
	for _, c := range list {
		t := c.Text
		switch {
		case c.Kind == "link":
			t = "[resource " + c.URI + "]"
		case c.Data != nil, c.Kind != "text" && c.Kind != "resource":
			t = fmt.Sprintf("[%s of %d bytes left out%s]", kind(c), len(c.Data), from(c))
		}
		if c.Role == "assistant" {
			t = "Assistant: " + t
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, "\n\n")
}

func kind(c Content) string {
	if c.MIME != "" {
		return c.MIME
	}
	return c.Kind
}

func from(c Content) string {
	if c.URI == "" {
		return ""
	}
	return ", " + c.URI
}

// clean makes text of a server harmless for a model (spec L-9).
func clean(s string) string {
	return words.Block(strings.ToValidUTF8(s, "\uFFFD"))
}

// mcpLabel is a server's name as ids of its skills have it.
func mcpLabel(name string) string { return mcp.ServerName(name) }
