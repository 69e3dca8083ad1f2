//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knack-skills/knack/internal/lab/anthropicserver"
	"github.com/knack-skills/knack/internal/lab/geminiserver"
	"github.com/knack-skills/knack/internal/lab/loopback"
	"github.com/knack-skills/knack/internal/lab/openaiserver"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/llmtest"
)

// A mind is a model: it answers what it was told.
type mind func(seen llmtest.Seen) llmtest.Reply

var (
	ordered = regexp.MustCompile(`is (\S+)\. Answer with this `)
	sealed  = regexp.MustCompile(`seal: (\S+)`)
	brought = regexp.MustCompile(`(?s)completed \(forked\)\.\n\nResult:\n(.*)`)
)

// obedient does what skills say, and calls the one that fits.
func obedient(seen llmtest.Seen) llmtest.Reply {
	var seals []string
	for _, b := range seen.Blocks {
		if m := sealed.FindStringSubmatch(b.Text); m != nil {
			seals = append(seals, m[1])
		}
	}
	if len(seals) > 0 {
		return words(strings.Join(seals, " and "))
	}
	for _, b := range slices.Backward(seen.Blocks) {
		for _, r := range []*regexp.Regexp{brought, ordered} {
			if m := r.FindStringSubmatch(b.Text); m != nil {
				return words(m[1])
			}
		}
	}
	if asked(seen, "How many nuts") {
		return uses(`{"skill": "stock-count", "args": "nuts"}`)
	}
	return uses(`{"skill": "warehouse-code", "args": "south"}`)
}

func words(text string) llmtest.Reply { return llmtest.Reply{Parts: []llmtest.Part{{Text: text}}} }

func uses(input string) llmtest.Reply {
	return llmtest.Reply{Stop: llm.ToolCalls, Parts: []llmtest.Part{{Call: &llm.ToolCall{ID: "call_1", Name: "Skill", Input: []byte(input)}}}}
}

// asked reports whether a message of the conversation begins like this.
func asked(seen llmtest.Seen, begin string) bool {
	return slices.ContainsFunc(seen.Blocks, func(b llm.Block) bool { return strings.HasPrefix(b.Text, begin) })
}

// A provider is a loopback server and the environment that leads to it.
type provider struct {
	name, model string
	start       func(t *testing.T, m mind) (env []string)
}

var providers = []provider{
	{"anthropic", "", func(t *testing.T, m mind) []string {
		s := anthropicserver.StartFunc(t, func(_ int, r loopback.Request) llmtest.Reply { return m(r.Seen) })
		return []string{"ANTHROPIC_API_KEY=" + anthropicserver.Key, "ANTHROPIC_BASE_URL=" + s.URL}
	}},
	{"responses", "openai/model-1", func(t *testing.T, m mind) []string {
		s := openaiserver.StartFunc(t, func(_ int, r loopback.Request) llmtest.Reply { return m(r.Seen) })
		return []string{"OPENAI_API_KEY=" + openaiserver.Key, "OPENAI_BASE_URL=" + s.URL + "/v1"}
	}},
	{"chat", "openai-chat/model-1", func(t *testing.T, m mind) []string {
		s := openaiserver.StartFunc(t, func(_ int, r loopback.Request) llmtest.Reply { return m(r.Seen) })
		return []string{"OPENAI_API_KEY=" + openaiserver.Key, "OPENAI_BASE_URL=" + s.URL + "/v1"}
	}},
	{"gemini", "", func(t *testing.T, m mind) []string {
		s := geminiserver.StartFunc(t, func(_ int, r loopback.Request) llmtest.Reply { return m(r.Seen) })
		return []string{"GEMINI_API_KEY=" + geminiserver.Key, "GEMINI_BASE_URL=" + s.URL + "/v1beta"}
	}},
}

// try runs docs/try-a-model.sh.
func try(t *testing.T, env []string, args ...string) (out string, code int) {
	t.Helper()
	script, err := filepath.Abs("../../docs/try-a-model.sh")
	if err != nil {
		t.Fatal(err)
	}
	knack, err := exec.LookPath("knack") // see TestMain
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{script}, args...)...)
	tmp := t.TempDir()
	cmd.Env = append(append(append(os.Environ(), isolated(tmp)...), "KNACK="+knack, "TMPDIR="+tmp,
		"ANTHROPIC_BASE_URL=", "OPENAI_BASE_URL=", "GEMINI_BASE_URL="), env...)
	cmd.Dir = tmp
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "tmp.*")); err != nil || len(left) > 0 {
		t.Errorf("the script left %q", left)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

// TestTryAModel: the script for real providers passes with a model that does
// what skills say, in each protocol.
func TestTryAModel(t *testing.T) {
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			var args []string
			if p.model != "" {
				args = []string{p.model}
			}
			out, code := try(t, p.start(t, obedient), args...)
			if code != 0 || strings.Count(out, "\npass  ") != 6 || !strings.HasSuffix(out, "\n6 of 6 passed\n") {
				t.Errorf("exit %d:\n%s", code, out)
			}
		})
	}
}

// TestTryAModelFails: the script fails, and says with what, when a model does
// not do what skills say.
func TestTryAModelFails(t *testing.T) {
	all := []string{"a person types /name", "the model finds a skill and calls it", "a skill runs as a subagent",
		"the model starts a subagent and reads its result", "two skills stack", "a resumed session remembers"}
	called := []string{all[1], all[3]}
	for _, tt := range []struct {
		name string
		mind mind
		want []string // that fail
	}{
		{"it knows nothing", func(llmtest.Seen) llmtest.Reply { return words("I do not know.") }, all},
		{"it calls nothing", func(s llmtest.Seen) llmtest.Reply {
			if r := obedient(s); r.Stop != llm.ToolCalls {
				return r
			}
			return words("The skill warehouse-code would know.")
		}, called},
		{"it does not read results", func(s llmtest.Seen) llmtest.Reply {
			if slices.ContainsFunc(s.Blocks, func(b llm.Block) bool { return b.Type == llm.ToolResult }) {
				return words("Done.")
			}
			return obedient(s)
		}, called},
		{"it forgets", func(s llmtest.Seen) llmtest.Reply {
			if asked(s, "Repeat the code") {
				return words("Which code?")
			}
			return obedient(s)
		}, all[5:]},
		{"it follows one skill of two", func(s llmtest.Seen) llmtest.Reply {
			r := obedient(s)
			r.Parts[0].Text, _, _ = strings.Cut(r.Parts[0].Text, " and ")
			return r
		}, all[4:5]},
		{"it has no access", func(llmtest.Seen) llmtest.Reply {
			return llmtest.Reply{Status: 401, Type: "invalid_api_key", Message: "Incorrect API key provided: " + openaiserver.Key}
		}, all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chat := providers[2]
			out, code := try(t, chat.start(t, tt.mind), chat.model)
			for _, name := range all {
				if failed := strings.Contains(out, "\nFAIL  "+name+": "); failed != slices.Contains(tt.want, name) {
					t.Errorf("%q failed: %v", name, failed)
				}
			}
			if code != 1 || strings.Contains(out, openaiserver.Key) || strings.Contains(out, "6 of 6") {
				t.Errorf("exit %d", code)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// TestTryAModelUsage: without a key, or with too much, it does not begin.
func TestTryAModelUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"a", "b"}, {"--help"}} {
		if out, code := try(t, nil, args...); code != 2 || !strings.Contains(out, "usage: docs/try-a-model.sh") {
			t.Errorf("%q: exit %d: %s", args, code, out)
		}
	}
}
