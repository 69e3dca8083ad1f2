// Package embedding is the contract that the programs below examples keep: what
// an agent with a loop of its own gets of the skills of a project (spec A-10).
// Their tests run it against a loopback server of the provider's protocol.
package embedding

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// A Program talks with a person, whose lines are in, about the project in dir.
type Program func(ctx context.Context, dir string, in io.Reader, out io.Writer) error

// An Example is a program under test.
type Example struct {
	// Start starts a server that gives replies in order, and returns a program
	// that talks to it. Further requests are errors of the test.
	Start func(t *testing.T, replies ...llmtest.Reply) (Program, Server)
	// Forks says that the program runs subagents.
	Forks bool
}

// A Server says what it was asked.
type Server interface{ Seen() []llmtest.Seen }

// files are the project.
var files = map[string]string{
	".git/HEAD": "ref: refs/heads/main\n",
	// Whoever asks about release-notes has allowed it: programs may ask nobody.
	".claude/settings.json":                   `{"permissions": {"allow": ["Skill(release-notes)"]}}`,
	".claude/skills/release-notes/SKILL.md":   "---\ndescription: Writes release notes.\nallowed-tools: Read\n---\nWrite the notes of version $0. Read notes.txt.\n",
	".claude/skills/tidy/SKILL.md":            "---\ndescription: Tidies code.\n---\nTidy $0, and nothing else.\n",
	".claude/skills/audit/SKILL.md":           "---\ndescription: Audits code.\ncontext: fork\n---\nAudit $0.\n",
	".claude/skills/deploy/SKILL.md":          "---\ndescription: Deploys.\ndisable-model-invocation: true\n---\nDeploy.\n",
	".claude/skills/price-migration/SKILL.md": "---\ndescription: Migrates the table of prices.\nallowed-tools: Bash\n---\nMigrate.\n",
	"notes.txt":         "prices are rounded once\n",
	"../price-list.txt": "a pear costs 3\n", // which nobody may read unasked
}

// Project makes the project, and an environment in which nothing else is found
// and its workspace is trusted.
func Project(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(base, "shop", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"HOME": "home", "USERPROFILE": "home", "XDG_CACHE_HOME": "cache",
		"KNACK_STATE_DIR": "state", "KNACK_MANAGED_DIR": "managed"} {
		t.Setenv(name, filepath.Join(base, value))
	}
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("SLASH_COMMAND_TOOL_CHAR_BUDGET", "")
	t.Setenv("KNACK_TRUST", "1")
	t.Setenv("MODEL", "model-1")
	return filepath.Join(base, "shop")
}

// A Talk is what came of a conversation.
type Talk struct {
	Out      string // what the person saw
	Requests [][]llm.Block
	Tools    []string // of the first request
}

// Run has a conversation of these lines in a new project.
func (x Example) Run(t *testing.T, lines []string, replies ...llmtest.Reply) Talk {
	t.Helper()
	dir := Project(t)
	program, server := x.Start(t, replies...)
	var out bytes.Buffer
	if err := program(t.Context(), dir, strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	talk := Talk{Out: out.String()}
	for i, seen := range server.Seen() {
		talk.Requests = append(talk.Requests, seen.Blocks)
		for _, tool := range seen.Tools {
			if i == 0 {
				talk.Tools = append(talk.Tools, tool.Name)
			}
		}
	}
	if len(talk.Requests) != len(replies) {
		t.Errorf("%d requests, want %d", len(talk.Requests), len(replies))
	}
	return talk
}

// After returns the blocks of request n behind those of the one before it and
// the model's answer to that: what the program told the model then.
func (k Talk) After(t *testing.T, n int) []llm.Block {
	t.Helper()
	if n >= len(k.Requests) {
		t.Fatalf("there is no request %d", n)
	}
	if n == 0 {
		return k.Requests[0]
	}
	before, all := k.Requests[n-1], k.Requests[n]
	for i, b := range before {
		if i >= len(all) || all[i].Type != b.Type || all[i].Text != b.Text {
			t.Fatalf("request %d does not begin with request %d", n, n-1)
		}
	}
	return all[len(before):]
}

// texts are the texts of blocks that are no calls.
func texts(blocks []llm.Block) (out []string) {
	for _, b := range blocks {
		if b.Type != llm.ToolUse {
			out = append(out, b.Text)
		}
	}
	return out
}

// Say is a reply of the model in words; Use one that calls a tool.
func Say(text string) llmtest.Reply {
	return llmtest.Reply{Parts: []llmtest.Part{{Text: text}}}
}

// Use is a reply of the model that calls tools, given as name and input.
func Use(calls ...string) llmtest.Reply {
	r := llmtest.Reply{Stop: llm.ToolCalls}
	for pair := range slices.Chunk(calls, 2) {
		r.Parts = append(r.Parts, llmtest.Part{Call: &llm.ToolCall{
			ID: "call_" + string(rune('a'+len(r.Parts))), Name: pair[0], Input: []byte(pair[1])}})
	}
	return r
}
