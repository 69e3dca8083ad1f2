//go:build unix

package mcp

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/session"
)

// with opens a workspace with these hooks.
func with(t testing.TB, config string) (*hooks, *bytes.Buffer) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "work")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	e, err := knack.New(t.Context(), knack.Options{Dir: dir, Home: filepath.Join(root, "home"), StateDir: filepath.Join(root, "state"),
		Trust: true, Getenv: func(string) string { return "" }, Settings: `{"hooks":{` + config + `}}`})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	var log bytes.Buffer
	return newHooks(e, slog.New(slog.NewTextHandler(&log, nil))), &log
}

func command(line, more string) string {
	return fmt.Sprintf(`"SkillInvoked":[{"hooks":[{"type":"command","command":%q%s}]}]`, line, more)
}

// TestOnce: a hook that is to run once runs once for each client (spec H-8).
func TestOnce(t *testing.T) {
	h, _ := with(t, command("echo x >>ran", `,"once":true`))
	one, two := session.New("one"), session.New("two")
	for _, s := range []*session.Session{one, one, two, two} {
		h.Run(t.Context(), s, hook.Input{Event: hook.SkillInvoked})
	}
	h.End(one)
	h.close()
	if data, err := os.ReadFile(filepath.Join(h.engine.Dir(), "ran")); err != nil || string(data) != "x\nx\n" {
		t.Errorf("it ran %q, %v", data, err)
	}
}

// TestLastWords: what hooks in the background say to the person is told at the
// end, of a client that is gone as well, and nothing passes a server that stops.
func TestLastWords(t *testing.T) {
	h, log := with(t, command(`echo '{"systemMessage":"done"}'`, `,"async":true`))
	gone, here := session.New("gone"), session.New("here")
	h.Run(t.Context(), gone, hook.Input{Event: hook.SkillInvoked})
	h.End(gone)
	h.Run(t.Context(), here, hook.Input{Event: hook.SkillInvoked})
	h.close()
	if n := strings.Count(log.String(), "done"); n != 2 {
		t.Errorf("told %d times: %s", n, log)
	}
	if out := h.Run(t.Context(), here, hook.Input{Event: hook.SkillInvoked}); !out.Refuses() {
		t.Errorf("after the end: %+v", out)
	}
	if out := h.Run(t.Context(), here, hook.Input{Event: hook.PreToolUse}); out.Refuses() {
		t.Errorf("an event without hooks: %+v", out)
	}
}

// TestModelHooks: a hook that needs a session of its own fails, and says so.
func TestModelHooks(t *testing.T) {
	h, _ := with(t, `"SkillInvoked":[{"hooks":[{"type":"prompt","prompt":"Is it fine?"}]}]`)
	defer h.close()
	out := h.Run(context.Background(), session.New("s"), hook.Input{Event: hook.SkillInvoked})
	if out.Refuses() || len(out.Notices) != 1 {
		t.Errorf("%+v", out)
	}
}

// BenchmarkNoHooks is what an event costs where there are none.
func BenchmarkNoHooks(b *testing.B) {
	h, _ := with(b, "")
	s := session.New("s")
	for b.Loop() {
		h.Run(b.Context(), s, hook.Input{Event: hook.SkillInvoked})
	}
}
