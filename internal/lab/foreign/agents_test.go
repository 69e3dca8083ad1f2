package foreign_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack/internal/lab/foreign"
	"github.com/knack-skills/knack/internal/lab/npm"
)

// An agent is a foreign program with the loopback model that it is pointed at.
type agent struct {
	name   string
	pkg    string
	config string // which file of docs/mcp.md makes it start knack
	// more writes what else it needs to know, given the model's address.
	more func(p *place, url string)
	env  func(url string) []string
	args []string
}

const wish = "Please greet Ann."

func agents() []agent {
	return []agent{
		{
			name: "opencode", pkg: "opencode-ai@1.18.33", config: "opencode.json",
			more: func(p *place, url string) {
				p.merge("opencode.json", `{"model":"lab/gpt-5","small_model":"lab/gpt-5","autoupdate":false,"share":"disabled","provider":{"lab":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"`+url+`/v1","apiKey":"test-key"},"models":{"gpt-5":{}}}}}`)
			},
			args: []string{"run", wish},
		},
		{
			name: "qwen", pkg: "@qwen-code/qwen-code@0.24.4", config: ".qwen/settings.json",
			env: func(url string) []string {
				return []string{"OPENAI_API_KEY=test-key", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=gpt-5"}
			},
			args: []string{"--auth-type", "openai", "--yolo", "-p", wish},
		},
		{
			name: "gemini", pkg: "@google/gemini-cli@0.61.0", config: ".gemini/settings.json",
			more: func(p *place, _ string) {
				p.merge(".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
			},
			env: func(url string) []string {
				return []string{"GEMINI_API_KEY=test-key", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
			},
			args: []string{"--yolo", "-m", "gemini-2.5-pro", "-p", wish},
		},
		{
			name: "codex", pkg: "@openai/codex@0.171.0", config: "~/.codex/config.toml",
			more: func(p *place, url string) {
				p.write("~/.codex/config.toml", "model = \"gpt-5\"\nmodel_provider = \"lab\"\n\n[model_providers.lab]\nname = \"lab\"\nbase_url = \""+url+"/v1\"\nenv_key = \"LAB_KEY\"\nwire_api = \"responses\"\n\n"+p.read("~/.codex/config.toml"))
			},
			env:  func(string) []string { return []string{"LAB_KEY=test-key"} },
			args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", wish},
		},
		{
			name: "claude", pkg: "@anthropic-ai/claude-code@2.1.332", config: ".mcp.json",
			env: func(url string) []string {
				return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=test-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false"}
			},
			args: []string{"-p", wish, "--mcp-config", ".mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__knack__Skill", "--model", "claude-opus-4-8"},
		},
	}
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
			m := newModel(t)
			if a.more != nil {
				a.more(p, m.URL)
			}
			var env []string
			if a.env != nil {
				env = a.env(m.URL)
			}
			stdout, stderr, err := p.run(set, env, a.name, a.args...)
			if err != nil || !strings.Contains(stdout, finished) {
				t.Errorf("%s: %v\n%s\n%s", a.name, err, stdout, stderr)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			if !strings.Contains(m.offered, "- greet: Greets somebody.") {
				t.Errorf("the skill is not offered: %q; requests: %q", m.offered, m.paths)
			}
			if !strings.Contains(m.given, greeting) {
				t.Errorf("the model was given %q", m.given)
			}
			if log := p.audited(); !strings.Contains(log, `"by":"mcp-client"`) || !strings.Contains(log, `"skill":"greet"`) {
				t.Errorf("the audit log holds\n%s", log)
			}
		})
	}
}
