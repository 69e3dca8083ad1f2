// Package foreign holds `knack mcp` against programs of others: the inspector and
// the conformance suite of the protocol, and agents that are pointed at a
// loopback model. Their configurations are those that docs/mcp.md shows. The
// programs come from the npm registry; see package npm.
package foreign

import (
	"fmt"
	"regexp"
	"strings"
)

// A Snippet is a block of a document that stands for a file: a fenced block
// right after a line that ends in the file's name in backquotes and a colon.
type Snippet struct {
	Path string // as written, such as "~/.codex/config.toml"
	Lang string // of the fence
	Text string
}

var snippet = regexp.MustCompile("(?m)^.*`([^`\n]+)`:\n\n```(json|toml)\n((?s:.*?))^```$")

// Snippets returns the files that a document shows, in order.
func Snippets(doc string) (out []Snippet) {
	for _, m := range snippet.FindAllStringSubmatch(doc, -1) {
		out = append(out, Snippet{Path: m[1], Lang: m[2], Text: m[3]})
	}
	return out
}

// TOML reads the part of TOML that MCP servers are configured in: tables whose
// values are strings and lists of strings. A table is named by its path.
func TOML(text string) (map[string]map[string]string, error) {
	tables, current := map[string]map[string]string{}, ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		key, value, pair := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && !pair:
			current = line[1 : len(line)-1]
			tables[current] = map[string]string{}
		case pair && current != "":
			tables[current][strings.TrimSpace(key)] = strings.TrimSpace(value)
		default:
			return nil, fmt.Errorf("line %d: %q", i+1, line)
		}
	}
	return tables, nil
}
