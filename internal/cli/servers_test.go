//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
)

// TestServersOfEarlierSessions: a conversation has the tools of a server that an
// earlier one has met with its first request, byte for byte, while the server
// is silent; nobody waits for it, and its tools say so when they are called
// . Its skills appear when it does.
func TestServersOfEarlierSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.skill("there", described("from the other side"))
	server := w.file("../server.sh", "#!/bin/sh\n[ -e \"$FLAG\" ] && exec sleep 1000\nexec knack mcp -C "+w.repo+"\n")
	if err := os.Chmod(server, 0o755); err != nil {
		t.Fatal(err)
	}
	flag := w.path("../silent")
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"other": map[string]any{"command": server, "env": map[string]string{"FLAG": flag}}}})
	if err != nil {
		t.Fatal(err)
	}
	home := w.mkdir("../elsewhere")
	visit := func(script string) (output, []recordedRequest) {
		return w.requests(script, "-C", home, "-p", "go", "--mcp-config", string(config), "--allowedTools", "mcp__other")
	}
	const done = `{"steps":[{"text":"end"}]}`
	out, first := visit(done)
	if out.code != 0 || len(first) == 0 {
		t.Fatal(out)
	}
	if got := strings.Join(names(first[0].Tools), " "); !strings.Contains(got, "mcp__other__SkillSearch") {
		t.Fatalf("tools: %s\n%s", got, out.stderr)
	}
	w.file("../silent", "")
	out, again := visit(done)
	if out.code != 0 || len(again) == 0 || !reflect.DeepEqual(first[0].Tools, again[0].Tools) {
		t.Errorf("the tools are not the same: %s", out.stderr)
	}
	if strings.Contains(out.stderr, "have not answered") || strings.Contains(out.stderr, "next session") {
		t.Error(out.stderr)
	}
	if len(texts(again, "from the other side")) > 0 {
		t.Error("a skill of a server that is not there is listed")
	}
	out, called := visit(`{"steps":[` + calls(`{"name":"mcp__other__SkillSearch","input":{"query":"side"}}`) + `,{"text":"end"}]}`)
	if len(called) < 2 {
		t.Fatal(out)
	}
	if last := called[1].Messages; !strings.Contains(textsOf(last), "MCP server other is not connected yet: it does not answer") {
		t.Errorf("%s\n%s", textsOf(last), out.stderr)
	}
}

func textsOf(list []llm.Message) string {
	var b strings.Builder
	for _, m := range list {
		for _, c := range m.Content {
			b.WriteString(c.Text + "\n")
		}
	}
	return b.String()
}
