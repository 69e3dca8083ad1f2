//go:build unix

package run

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/hook"
)

// hooksOf opens a workspace with these hooks of the person's, and runs them.
func hooksOf(t *testing.T, config, format string, bare bool) (h *hooks, stdout, stderr *bytes.Buffer) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "work")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := knack.New(t.Context(), knack.Options{Dir: dir, Home: filepath.Join(root, "home"), StateDir: filepath.Join(root, "state"),
		Getenv: func(string) string { return "" }, Settings: `{"hooks":{` + config + `}}`})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return newHooks(e, bare, newWriter(format, stdout, stderr, e), nil), stdout, stderr
}

func says(event, command string) string {
	return `"` + event + `":[{"hooks":[{"type":"command","command":"` + command + `"}]}]`
}

// TestSessionHooks: a session begins and ends once, however many messages it has.
func TestSessionHooks(t *testing.T) {
	note := func(event string) string { return says(event, "echo "+event+" >>ran") }
	for bare, want := range map[bool]string{false: "SessionStart\nUserPromptSubmit\nUserPromptSubmit\nSessionEnd\n", true: ""} {
		h, _, _ := hooksOf(t, strings.Join([]string{note("SessionStart"), note("SessionEnd"), note("UserPromptSubmit")}, ","), "text", bare)
		for range 2 {
			if err := h.begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := h.hear(t.Context(), "hello"); err != nil {
				t.Fatal(err)
			}
		}
		h.end()
		data, err := os.ReadFile(filepath.Join(h.e.Dir(), "ran"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if string(data) != want {
			t.Errorf("bare %v: %q ran, want %q", bare, data, want)
		}
	}
}

// TestHookWords: what hooks add for a model is no part of an answer without one,
// and stands in a stream; what they say to the person, and what those in the
// background still had to say, is told.
func TestHookWords(t *testing.T) {
	config := says("UserPromptSubmit", "echo be brief") + `,"SessionStart":[{"hooks":[{"type":"command","command":"echo '{\"systemMessage\":\"hello\"}'"},
		{"type":"command","async":true,"command":"echo '{\"systemMessage\":\"done\"}'"}]}]`
	for _, format := range []string{"text", "json", "stream-json"} {
		h, stdout, stderr := hooksOf(t, config, format, false)
		if err := h.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.hear(t.Context(), "hi"); err != nil {
			t.Fatal(err)
		}
		h.end()
		all := stdout.String() + stderr.String()
		if shown := strings.Contains(stdout.String(), "UserPromptSubmit hook: be brief"); shown != (format == "stream-json") || strings.Contains(stderr.String(), "be brief") {
			t.Errorf("%s: %s", format, all)
		}
		if !strings.Contains(all, "hello") || !strings.Contains(all, "done") {
			t.Errorf("%s: the person is told %s", format, all)
		}
	}
}

// TestHookServers: the servers of hooks that can run, and no others.
func TestHookServers(t *testing.T) {
	tool := func(event, server string) string {
		return `"` + event + `":[{"hooks":[{"type":"mcp_tool","server":"` + server + `","tool":"t"}]}]`
	}
	config := strings.Join([]string{tool("SkillInvoked", "guard"), tool("Stop", "late"), says("PreToolUse", "true")}, ",")
	h, _, _ := hooksOf(t, config, "text", false)
	if got := hookServers(h.e, false); !slices.Equal(got, []string{"guard"}) {
		t.Errorf("servers %q", got)
	}
	if got := hookServers(h.e, true); len(got) != 0 {
		t.Errorf("a bare run has %q", got)
	}
	out := h.run(t.Context(), hook.Input{Event: hook.SkillInvoked})
	if out.Refuses() || len(out.Notices) != 1 || !strings.Contains(out.Notices[0], `no MCP server "guard"`) {
		t.Errorf("a server that is not there: %+v", out)
	}
}
