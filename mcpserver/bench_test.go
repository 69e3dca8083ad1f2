package mcpserver_test

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/invoke"
)

// BenchmarkSkill is one call over pipes, as over stdio; the difference to
// BenchmarkInvoke is what the protocol costs (at most 2 ms).
func BenchmarkSkill(b *testing.B) {
	cs := open(b, skills).connect(nil)
	for b.Loop() {
		res, err := cs.CallTool(b.Context(), &mcp.CallToolParams{Name: "Skill", Arguments: object{"skill": "greet", "args": "Ann"}})
		if err != nil || res.IsError {
			b.Fatal(res, err)
		}
	}
}

// BenchmarkInvoke is the same call without a client.
func BenchmarkInvoke(b *testing.B) {
	w := open(b, skills)
	for b.Loop() {
		if _, err := w.engine.Invoke(b.Context(), invoke.Request{Name: "greet", Args: "Ann", By: invoke.ByMCPClient}); err != nil {
			b.Fatal(err)
		}
	}
}
