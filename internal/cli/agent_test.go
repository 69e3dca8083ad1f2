package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// requests runs knack with a scripted model and returns what the model was
// asked.
func (w *world) requests(script string, args ...string) (out output, asked []recordedRequest) {
	w.t.Helper()
	dir := w.t.TempDir()
	file := filepath.Join(dir, "script.json")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		w.t.Fatal(err)
	}
	env := w.env
	w.env = append(slices.Clone(env), "KNACK_RECORD="+filepath.Join(dir, "record"))
	defer func() { w.env = env }()
	out = w.run(append(args, "--model", "scripted:"+file)...)
	return out, readRecords(w.t, filepath.Join(dir, "record"))
}

type recordedRequest struct {
	Agent    string         `json:"agent_id"`
	System   string         `json:"system"`
	Messages []llm.Message  `json:"messages"`
	Model    string         `json:"model"`
	Effort   string         `json:"effort"`
	Tools    []llm.ToolSpec `json:"tools"`
}

// names are those of tools.
func names(specs []llm.ToolSpec) (out []string) {
	for _, s := range specs {
		out = append(out, s.Name)
	}
	return out
}

func readRecords(t *testing.T, dir string) (out []recordedRequest) {
	t.Helper()
	for i := 1; ; i++ {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%04d.json", i)))
		if err != nil {
			return out
		}
		var r recordedRequest
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
}

// texts returns the distinct blocks that hold a piece of text.
func texts(asked []recordedRequest, piece string) (out []string) {
	for _, r := range asked {
		for _, m := range r.Messages {
			for _, b := range m.Content {
				if b.Type == llm.Text && strings.Contains(b.Text, piece) && !slices.Contains(out, b.Text) {
					out = append(out, b.Text)
				}
			}
		}
	}
	return out
}

// TestEntryPoints: whichever way a skill is started, the model reads the same
// text (spec I-1).
func TestEntryPoints(t *testing.T) {
	w := newWorld(t)
	w.skill("shared", "---\ndescription: shared\n---\nShared text in ${CLAUDE_SKILL_DIR}, !`echo run`, \\$HOME.\n")
	w.skill("forked", "---\ndescription: forked\ncontext: fork\n---\nShared text in DIR.\n")
	w.file(".claude/agents/holder.md", "---\nname: holder\ndescription: holds\nskills: shared\n---\nYou hold.\n")
	w.file(".claude/agents/starter.md", "---\nname: starter\ndescription: starts\ninitialPrompt: /shared\n---\nYou start.\n")
	var rendered struct{ Text string }
	if err := json.Unmarshal([]byte(w.run("render", "shared", "--trust", "--json").stdout), &rendered); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(rendered.Text, "run, ") {
		t.Fatalf("rendered %q", rendered.Text)
	}
	const end = `{"steps":[{"text":"end"}],"subagents":{"*":[{"text":"sub"}]}}`
	for name, tt := range map[string]struct {
		script string
		args   []string
	}{
		"typed":               {end, []string{"-p", "/shared"}},
		"Skill tool":          {`{"steps":[{"calls":[{"name":"Skill","input":{"skill":"shared"}}]},{"text":"end"}]}`, []string{"-p", "go"}},
		"Skill tool, slashed": {`{"steps":[{"calls":[{"name":"Skill","input":{"skill":" /shared "}}]},{"text":"end"}]}`, []string{"-p", "go"}},
		"preloaded": {`{"steps":[{"calls":[{"name":"Agent","input":{"description":"d","prompt":"p","subagent_type":"holder"}}]},{"text":"end"}]}`,
			[]string{"-p", "go"}},
		"preloaded, main agent": {end, []string{"-p", "go", "--agent", "holder"}},
		"initialPrompt":         {end, []string{"-p", "", "--agent", "starter"}},
	} {
		args := tt.args
		if name == "initialPrompt" {
			// What is typed besides becomes the arguments; a body without any
			// placeholder gets them appended.
			args = []string{"-p", "with this", "--agent", "starter"}
		}
		out, asked := w.requests(tt.script, append(args, "--trust")...)
		if out.code != 0 || strings.TrimSpace(out.stdout) != "end" {
			t.Errorf("%s: %+v", name, out)
		}
		got := texts(asked, "Shared text in")
		if name == "initialPrompt" && len(got) == 1 {
			got[0], _, _ = strings.Cut(got[0], "\nARGUMENTS:")
			got[0] = strings.TrimRight(got[0], "\n") + "\n"
		}
		if len(got) != 1 || strings.TrimRight(got[0], "\n") != strings.TrimRight(rendered.Text, "\n") {
			t.Errorf("%s: the model read\n%q, rendered is\n%q", name, got, rendered.Text)
		}
	}
}

// TestCancelled: a signal in the middle of a call ends with 130, and the
// session can go on (spec ).
func TestCancelled(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("there is no interrupt to send")
	}
	w := newWorld(t)
	script := w.file("hang.json", `{"steps":[{"calls":[{"name":"Bash","input":{"command":"tail -f /dev/null","description":"hang"}}]}]}`)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := w.command(ctx, "-p", "go", "--model", "scripted:"+script, "--allowedTools", "Bash(tail *)", "--output-format", "stream-json")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	called := false
	for lines.Scan() {
		if !called && strings.Contains(lines.Text(), `"tool_use"`) {
			called = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); !called || code != 130 {
		t.Errorf("called %v, exit %d", called, code)
	}
	out, asked := w.requests(`{"steps":[{"text":"on"}]}`, "-p", "go on", "--continue")
	if out.code != 0 || len(asked) != 1 {
		t.Fatalf("%+v", out)
	}
	wholeHistory(t, asked[0].Messages)
	if !slices.ContainsFunc(asked[0].Messages, func(m llm.Message) bool { return m.Content[0].Type == llm.ToolUse }) {
		t.Error("the call is not in the history")
	}
}

// wholeHistory fails unless each call has its result in the next message.
func wholeHistory(t *testing.T, history []llm.Message) {
	t.Helper()
	for i, m := range history {
		for _, b := range m.Content {
			if b.Type != llm.ToolUse {
				continue
			}
			if i+1 == len(history) || !slices.ContainsFunc(history[i+1].Content, func(r llm.Block) bool {
				return r.Type == llm.ToolResult && r.ToolUseID == b.ToolUseID
			}) {
				t.Errorf("call %s has no result", b.ToolUseID)
			}
		}
	}
}

// TestKilled: wherever a process was killed, the session goes on with a history
// that providers take (spec M-4).
func TestKilled(t *testing.T) {
	w := newWorld(t)
	call := `{"calls":[{"name":"Skill","input":{"skill":"aaa"}},{"name":"Read","input":{"file_path":"none"}}]}`
	if out, _ := w.requests(`{"steps":[`+call+`,`+call+`,{"text":"end"}]}`, "-p", "go"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	transcript := ""
	err := filepath.WalkDir(filepath.Join(w.dir, "state"), func(path string, d os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".jsonl") && strings.Contains(path, "projects") {
			transcript = path
		}
		return err
	})
	if err != nil || transcript == "" {
		t.Fatalf("no transcript: %v", err)
	}
	whole, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	mended := 0
	lines := strings.SplitAfter(string(whole), "\n")
	for i := 2; i < len(lines); i++ {
		left := strings.Join(lines[:i], "") + lines[i][:len(lines[i])/2]
		if err := os.WriteFile(transcript, []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		out, asked := w.requests(`{"steps":[{"text":"on"}]}`, "-p", "go on", "--continue")
		if out.code != 0 || len(asked) != 1 {
			t.Fatalf("cut in line %d: %+v", i+1, out)
		}
		wholeHistory(t, asked[0].Messages)
		for _, m := range asked[0].Messages {
			for _, b := range m.Content {
				if b.Type == llm.ToolResult && strings.Contains(b.Text, "Interrupted") {
					mended++
				}
			}
		}
	}
	if mended == 0 {
		t.Error("no cut was between calls and their results")
	}
}

// TestAnthropic: the whole road with a real provider on the other end of a
// socket: listing, skill, tool, answer, usage (spec, K-11).
func TestAnthropic(t *testing.T) {
	w := newWorld(t)
	w.skill("greet", "---\ndescription: Greets\nallowed-tools: Bash(touch *)\n---\nDear $ARGUMENTS.\n")
	usage := llm.Usage{InputTokens: 10, OutputTokens: 5, CacheReadInputTokens: 100}
	use := func(id, name, input string) llmtest.Part {
		return llmtest.Part{Call: &llm.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}
	}
	s := anthropicserver.Start(t,
		llmtest.Reply{Parts: []llmtest.Part{{Text: "I look."}, use("toolu_1", "Skill", `{"skill":"greet","args":"Ann"}`)}, Stop: llm.ToolCalls, Usage: usage},
		llmtest.Reply{Status: 529, Type: "overloaded_error", Message: "busy"},
		llmtest.Reply{Parts: []llmtest.Part{use("toolu_2", "Bash", `{"command":"touch made","description":"d"}`), use("toolu_3", "Read", `{"file_path":"none"}`)}, Stop: llm.ToolCalls, Usage: usage},
		llmtest.Reply{Parts: []llmtest.Part{{Text: "Done."}}, Usage: usage},
	)
	w.env = append(w.env, "ANTHROPIC_BASE_URL="+s.URL, "ANTHROPIC_API_KEY="+anthropicserver.Key)
	out := w.run("-p", "welcome Ann", "--model", "anthropic/claude-test", "--output-format", "json", "--trust", "--allowedTools", "Skill(greet)")
	var r struct {
		Result   string
		IsError  bool `json:"is_error"`
		NumTurns int  `json:"num_turns"`
		Usage    llm.Usage
		Denials  []any `json:"permission_denials"`
	}
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil || out.code != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if r.Result != "Done." || r.IsError || r.NumTurns != 3 || len(r.Denials) != 0 || r.Usage.CacheReadInputTokens != 300 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(w.path("made")); err != nil {
		t.Error("the skill's grant did not hold")
	}
	if n := len(s.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}
