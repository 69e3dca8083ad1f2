//go:build unix

package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSubscribeHook: what a hook keeps away from readers it keeps away from those
// who would watch it.
func TestSubscribeHook(t *testing.T) {
	w := open(t, skills)
	w.hook(map[string]string{"PreToolUse SkillRead": "grep -q greet && { echo closed >&2; exit 2; } || exit 0"})
	cs := w.listen("", versions[0])
	if err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: mainURI}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("kept away: %v", err)
	}
	cs.subscribe(t, "skill://shell/SKILL.md")
	w.watched(1)
}
