package foreign_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/internal/lab/foreign"
	"github.com/knack-skills/knack/internal/lab/geminiserver"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/internal/lab/npm"
	"github.com/knack-skills/knack/internal/lab/openaiserver"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// A script is a model that calls the skill as soon as it is offered the tool,
// and repeats what it was given.
type script struct {
	t  *testing.T
	mu sync.Mutex // guards the fields below

	offered string // the description of the tool
	given   string // what the tool answered
}

const finished = "The skill was read."

func (s *script) answer(seen llmtest.Seen) llmtest.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range seen.Blocks {
		if b.Type == llm.ToolResult {
			s.given = b.Text
			return llmtest.Reply{Parts: []llmtest.Part{{Text: finished}}}
		}
	}
	for _, tool := range seen.Tools {
		if strings.Contains(tool.Name, "Skill") && strings.Contains(tool.Description, "- greet: ") {
			s.offered = tool.Description
			return llmtest.Reply{Stop: llm.ToolCalls, Parts: []llmtest.Part{{Call: &llm.ToolCall{ID: "call_1", Name: tool.Name, Input: json.RawMessage(`{"skill":"greet","args":"Ann"}`)}}}}
		}
	}
	return llmtest.Reply{Parts: []llmtest.Part{{Text: "Nothing is offered."}}}
}

// An agent is a foreign program with the loopback model that it is pointed at.
type agent struct {
	name   string
	pkg    string
	config string // which file of docs/mcp.md makes it start knack
	start  func(s *script) (url string)
	// more writes what else it needs to know, given the model's address.
	more func(p *place, url string)
	env  func(url string) []string
	args []string
}

const wish = "Please greet Ann."

func agents() []agent {
	return []agent{
		{
			name: "opencode", pkg: "opencode-ai@1.18.33", config: "opencode.json", start: chat,
			more: func(p *place, url string) {
				p.merge("opencode.json", `{"model":"lab/gpt-5","small_model":"lab/gpt-5","autoupdate":false,"share":"disabled","provider":{"lab":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"`+url+`/v1","apiKey":"test-key"},"models":{"gpt-5":{}}}}}`)
			},
			args: []string{"run", wish},
		},
		{
			name: "qwen", pkg: "@qwen-code/qwen-code@0.24.4", config: ".qwen/settings.json", start: chat,
			env: func(url string) []string {
				return []string{"OPENAI_API_KEY=test-key", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=gpt-5"}
			},
			args: []string{"--auth-type", "openai", "--yolo", "-p", wish},
		},
		{
			name: "gemini", pkg: "@google/gemini-cli@0.61.0", config: ".gemini/settings.json",
			start: func(s *script) string {
				return geminiserver.StartFunc(s.t, func(_ int, r loopback.Request) llmtest.Reply { return s.answer(r.Seen) }).URL
			},
			env: func(url string) []string {
				return []string{"GEMINI_API_KEY=test-key", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
			},
			args: []string{"--yolo", "-m", "gemini-2.5-pro", "-p", wish},
		},
		{
			name: "codex", pkg: "@openai/codex@0.171.0", config: "~/.codex/config.toml", start: chat,
			more: func(p *place, url string) {
				p.write("~/.codex/config.toml", "model = \"gpt-5\"\nmodel_provider = \"lab\"\n\n[model_providers.lab]\nname = \"lab\"\nbase_url = \""+url+"/v1\"\nenv_key = \"LAB_KEY\"\nwire_api = \"responses\"\n\n"+p.read("~/.codex/config.toml"))
			},
			env:  func(string) []string { return []string{"LAB_KEY=test-key"} },
			args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", wish},
		},
		{
			name: "claude", pkg: "@anthropic-ai/claude-code@2.1.332", config: ".mcp.json",
			start: func(s *script) string {
				return anthropicserver.StartFunc(s.t, func(_ int, r anthropicserver.Request) llmtest.Reply { return s.answer(r.Seen) }).URL
			},
			env: func(url string) []string {
				return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=test-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false"}
			},
			args: []string{"-p", wish, "--mcp-config", ".mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__knack__Skill", "--model", "claude-sonnet-4-5"},
		},
	}
}

func chat(s *script) string {
	return openaiserver.StartFunc(s.t, func(_ int, r loopback.Request) llmtest.Reply { return s.answer(r.Seen) }).URL
}

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(strings.TrimPrefix(name, "~/"))))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// merge adds keys to a JSON file.
func (p *place) merge(name, more string) {
	p.t.Helper()
	all := map[string]any{}
	for _, text := range []string{p.read(name), more} {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			p.t.Fatal(err)
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(name, string(data))
}

// TestAgents: agents of others, configured as docs/mcp.md says, show the skill to
// their model, and give it the instructions when it calls.
func TestAgents(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			set := npm.Install(t, a.pkg)
			p := newPlace(t)
			for _, s := range foreign.Snippets(string(doc)) {
				if s.Path == a.config {
					p.write(s.Path, s.Text)
				}
			}
			s := &script{t: t}
			url := a.start(s)
			if a.more != nil {
				a.more(p, url)
			}
			var env []string
			if a.env != nil {
				env = a.env(url)
			}
			stdout, stderr, err := p.run(set, env, a.name, a.args...)
			if err != nil || !strings.Contains(stdout, finished) {
				t.Errorf("%s: %v\n%s\n%s", a.name, err, stdout, stderr)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if !strings.Contains(s.offered, "- greet: Greets somebody.") {
				t.Errorf("the skill is not offered: %q", s.offered)
			}
			if !strings.Contains(s.given, greeting) {
				t.Errorf("the model was given %q", s.given)
			}
			if log := p.audited(); !strings.Contains(log, `"by":"mcp-client"`) || !strings.Contains(log, `"skill":"greet"`) {
				t.Errorf("the audit log holds\n%s", log)
			}
		})
	}
}
