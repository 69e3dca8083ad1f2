package foreign_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/knack-skills/knack/internal/lab/foreign"
	"github.com/knack-skills/knack/internal/lab/npm"
)

const inspector = "@modelcontextprotocol/inspector@2.12.0"

// TestInspector: the inspector's command line sees what the server offers.
func TestInspector(t *testing.T) {
	set := npm.Install(t, inspector)
	p := newPlace(t)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"tools/list", []string{`"Skill"`, `"SkillSearch"`, `"SkillRead"`, "- greet: Greets somebody."}},
		{"tools/call --tool-name Skill --tool-arg skill=greet --tool-arg args=Ann", []string{greeting}},
		{"tools/call --tool-name SkillRead --tool-arg skill=greet --tool-arg path=notes.md", []string{"Be kind."}},
		{"prompts/list", []string{`"release"`, `"version"`, `"greet"`}},
		{"prompts/get --prompt-name release --prompt-args version=1.2", []string{"Release 1.2."}},
		{"resources/list", []string{"skill://greet/SKILL.md"}},
		{"resources/read --uri skill://greet/notes.md", []string{"Be kind."}},
		{"resources/templates/list", []string{"skill://{skill}/{+path}"}},
		{"skills/list", []string{"skill://greet/SKILL.md", "sha256:"}},
		{"skills/get --uri skill://greet/SKILL.md", []string{"skill://greet/notes.md"}},
	} {
		args := append([]string{"--cli", filepath.Join(p.bin, "knack"), "mcp", "--method"}, strings.Fields(tt.args)...)
		stdout, stderr, err := p.run(set, nil, "mcp-inspector", args...)
		if err != nil {
			t.Errorf("%s: %v\n%s\n%s", tt.args, err, stdout, stderr)
		}
		for _, want := range tt.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: %q is missing in\n%s", tt.args, want, stdout)
			}
		}
	}
}

// command returns a command of a snippet, as an agent would start it here.
func (p *place) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.dir, "PATH=" + p.bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	return cmd
}

// commandOf finds the command line in a configuration, whatever the agent calls it.
func commandOf(t *testing.T, s foreign.Snippet) []string {
	t.Helper()
	if s.Lang == "toml" {
		tables, err := foreign.TOML(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		for name, table := range tables {
			if strings.HasSuffix(name, ".knack") {
				return words(t, table["command"], table["args"])
			}
		}
		t.Fatalf("%s configures no server", s.Path)
	}
	var config map[string]any
	if err := json.Unmarshal([]byte(s.Text), &config); err != nil {
		t.Fatalf("%s: %v", s.Path, err)
	}
	for _, key := range []string{"mcpServers", "servers", "mcp"} {
		if servers, ok := config[key].(map[string]any); ok {
			server, _ := servers["knack"].(map[string]any)
			command, _ := json.Marshal(server["command"])
			args, _ := json.Marshal(server["args"])
			return words(t, string(command), string(args))
		}
	}
	t.Fatalf("%s configures no server", s.Path)
	return nil
}

// words reads a command, which may be a list, and its arguments from JSON.
func words(t *testing.T, command, args string) (out []string) {
	t.Helper()
	var one string
	if json.Unmarshal([]byte(command), &one) == nil {
		out = []string{one}
	} else if err := json.Unmarshal([]byte(command), &out); err != nil {
		t.Fatalf("command %s: %v", command, err)
	}
	var more []string
	if err := json.Unmarshal([]byte(args), &more); err != nil {
		t.Fatalf("args %s: %v", args, err)
	}
	return append(out, more...)
}

// TestSnippets: each configuration of docs/mcp.md can be read, and the command in
// it starts a server that offers the skills.
func TestSnippets(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	all := foreign.Snippets(string(doc))
	blocks := strings.Count(string(doc), "```json") + strings.Count(string(doc), "```toml")
	if len(all) < 5 || blocks-len(hooksOf(string(doc))) != len(all) {
		t.Fatalf("%d blocks stand for files", len(all))
	}
	for _, s := range all {
		t.Run(s.Path, func(t *testing.T) {
			p := newPlace(t)
			argv := commandOf(t, s)
			for i := range argv {
				argv[i] = strings.ReplaceAll(argv[i], "${workspaceFolder}", p.dir)
			}
			cmd := p.command(t.Context(), argv[0], argv[1:]...)
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "Skill", Arguments: object{"skill": "greet", "args": "Ann"}})
			if err != nil || res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, greeting) {
				t.Errorf("%v: %+v, %v", argv, res, err)
			}
		})
	}
}

// hooksOf are the blocks of a document that hold hooks.
func hooksOf(doc string) (out []string) {
	for _, block := range strings.Split(doc, "```json\n")[1:] {
		if text, _, _ := strings.Cut(block, "```"); strings.HasPrefix(text, "{\n  \"hooks\":") {
			out = append(out, text)
		}
	}
	return out
}

// TestHookOfThePage: the hook of docs/mcp.md keeps its skill away from an agent,
// by tool, by prompt and as a file, and no other skill.
func TestHookOfThePage(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	list := hooksOf(string(doc))
	if len(list) != 1 {
		t.Fatalf("%d blocks hold hooks", len(list))
	}
	p := newPlace(t)
	p.write(".claude/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: Deploys\n---\nDeploy.\n")
	p.write("~/.claude/settings.json", list[0])
	cmd := p.command(t.Context(), "knack", "mcp", "--trust")
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	const refused = "people deploy, agents do not"
	for tool, args := range map[string]object{"Skill": {"skill": "deploy"}, "SkillRead": {"skill": "deploy", "path": "./SKILL.md"}} {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, refused) {
			t.Errorf("%s: %+v, %v", tool, res, err)
		}
	}
	if _, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "deploy"}); err == nil || !strings.Contains(err.Error(), refused) {
		t.Error("prompt:", err)
	}
	if _, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://deploy/SKILL.md"}); err == nil || !strings.Contains(err.Error(), refused) {
		t.Error("resource:", err)
	}
	if res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "Skill", Arguments: object{"skill": "greet", "args": "Ann"}}); err != nil || res.IsError {
		t.Errorf("another skill: %+v, %v", res, err)
	}
}
