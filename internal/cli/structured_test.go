package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// TestSchemaOverTheWire: with a provider on the other end of a socket, tools are
// used as usual, a misfit is mended, and no request differs from the one before
// it but at its end (spec A-7, L-1).
func TestSchemaOverTheWire(t *testing.T) {
	w := newWorld(t)
	usage := llm.Usage{InputTokens: 10, OutputTokens: 5}
	s := anthropicserver.Start(t,
		llmtest.Reply{Parts: []llmtest.Part{{Text: "I look."}, {Call: &llm.ToolCall{ID: "toolu_1", Name: "Glob", Input: json.RawMessage(`{"pattern":"*"}`)}}}, Stop: llm.ToolCalls, Usage: usage},
		llmtest.Reply{Parts: []llmtest.Part{{Text: "There are two."}}, Usage: usage},
		llmtest.Reply{Parts: []llmtest.Part{{Text: `{"n": 2}`}}, Usage: usage},
	)
	w.env = append(w.env, "ANTHROPIC_BASE_URL="+s.URL, "ANTHROPIC_API_KEY="+anthropicserver.Key, "KNACK_RECORD="+w.dir+"/record")
	out := w.run("-p", "count", "--model", "anthropic/claude-test", "--output-format", "json",
		"--json-schema", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	var r struct {
		Structured json.RawMessage `json:"structured_output"`
		NumTurns   int             `json:"num_turns"`
		Usage      llm.Usage
	}
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil || out.code != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := strings.Join(strings.Fields(string(r.Structured)), ""); got != `{"n":2}` || r.NumTurns != 3 || r.Usage.InputTokens != 30 {
		t.Errorf("%+v", r)
	}
	asked := readRecords(t, w.dir+"/record")
	if len(asked) != 3 {
		t.Fatalf("%d requests", len(asked))
	}
	for i := 1; i < len(asked); i++ {
		before, err1 := json.Marshal(asked[i-1].Messages)
		after, err2 := json.Marshal(asked[i].Messages[:len(asked[i-1].Messages)])
		if string(before) != string(after) || asked[i].System != asked[i-1].System || err1 != nil || err2 != nil {
			t.Errorf("request %d does not begin as the one before it", i+1)
		}
	}
	wholeHistory(t, asked[2].Messages)
}
