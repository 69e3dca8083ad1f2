package cli_test

import (
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/llm/llmtest"
)

// TestSilence: KNACK_MODEL_SILENCE ends the wait for a provider that has fallen
// silent.
func TestSilence(t *testing.T) { // spec A-2
	s := anthropicserver.StartFunc(t, func(n int, _ loopback.Request) llmtest.Reply {
		return llmtest.Reply{Parts: []llmtest.Part{{Text: "so far"}}, Fault: llmtest.Hang}
	})
	w := newWorld(t)
	w.env = append(w.env, "ANTHROPIC_API_KEY="+anthropicserver.Key, "ANTHROPIC_BASE_URL="+s.URL, "KNACK_MODEL_SILENCE=500ms")
	if out := w.run("-p", "hello"); out.code != 1 || !strings.Contains(out.stderr, "the server sent nothing for 500ms") {
		t.Errorf("exit %d: %s%s", out.code, out.stdout, out.stderr)
	}
	for _, bad := range []string{"soon", "5", "-1s"} {
		w.env = append(w.env, "KNACK_MODEL_SILENCE="+bad)
		if out := w.run("-p", "hello"); out.code != 2 || !strings.Contains(out.stderr, "KNACK_MODEL_SILENCE is") {
			t.Errorf("%s: exit %d: %s%s", bad, out.code, out.stdout, out.stderr)
		}
	}
}
