package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/agenttool"
	"github.com/knack-skills/knack/agent/skilltool"
	"github.com/knack-skills/knack/agent/tool"
	"github.com/knack-skills/knack/agent/tool/bash"
	"github.com/knack-skills/knack/agent/tool/file"
	"github.com/knack-skills/knack/agent/tool/find"
	"github.com/knack-skills/knack/agent/tool/question"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/scripted"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/shell"
)

// A world is a workspace with the real engine and the real tools.
type world struct {
	t      testing.TB
	dir    string
	engine *knack.Engine
	rules  permission.Rules // besides those of the settings

	mu     sync.Mutex
	events []agent.Event
}

// newWorld makes a workspace with these files, trusted.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	for name, text := range files {
		w.write(name, text)
	}
	w.write("project/.git/HEAD", "ref: refs/heads/main\n")
	w.engine = w.open("")
	return w
}

// open makes one more engine over the same directories.
func (w *world) open(id string) *knack.Engine {
	w.t.Helper()
	e, err := knack.New(w.t.Context(), knack.Options{
		Dir: filepath.Join(w.dir, "project"), Home: filepath.Join(w.dir, "home"), StateDir: filepath.Join(w.dir, "state"),
		Trust: true, NoBundled: true, SessionID: id,
		Getenv: func(name string) string {
			if name == "KNACK_MANAGED_DIR" {
				return filepath.Join(w.dir, "managed")
			}
			return ""
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = e.Close() })
	return e
}

func (w *world) write(name, text string) {
	w.t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(name))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	data, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(data)
}

// skillFile is the text of a skill.
func skillFile(body string, fields ...string) string {
	return "---\n" + strings.Join(append([]string{"description: about"}, fields...), "\n") + "\n---\n" + body
}

const skills = "project/.claude/skills/"

// options are those of a conversation over e.
func (w *world) options(e *knack.Engine, m llm.Model, more ...agent.Tool) agent.Options {
	base := tool.Base{Dir: e.Dir(), Home: e.Place().Home}
	seen := file.NewSeen()
	shells := bash.NewShells(bash.Options{Base: base, Runner: shell.Exec{}})
	w.t.Cleanup(func() { _ = shells.Close() })
	tools := append([]agent.Tool{file.NewRead(base, seen), file.NewWrite(base, seen), file.NewEdit(base, seen), file.NewMultiEdit(base, seen)},
		find.Tools(find.Options{Base: base})...)
	tools = append(append(tools, shells.Tools()...), question.New(nil), agenttool.Agent{}, skilltool.Skill{}, skilltool.Search{Finder: e})
	return agent.Options{
		Model: m, ModelID: "session-model", System: "You are a test.", Tools: append(tools, more...), Session: e.Session(),
		Env: func() invoke.Env {
			env := e.Env()
			env.Rules.Deny = slices.Concat(w.rules.Deny, env.Rules.Deny)
			env.Rules.Ask = slices.Concat(w.rules.Ask, env.Rules.Ask)
			env.Rules = env.Rules.With(w.rules.Allow...)
			return env
		},
		Announce: func(_ context.Context, id session.AgentID, _ string) string { m, _ := e.Announce(id); return m.Text },
		AfterCompaction: func(session.AgentID) string {
			return listing.Names(e.Entries(), e.ListingOptions()).Text
		},
		Observe: func(ev agent.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, ev)
		},
	}
}

func rule(t testing.TB, text string) permission.Rule {
	t.Helper()
	r, err := permission.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	r.From, r.Scope = "test", "user"
	return r
}

// script returns a model that plays a scripted file (spec K-12).
func script(t testing.TB, text string) llm.Model {
	t.Helper()
	s, err := scripted.Parse("script.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(s)
}

// recorded reads the requests that llm.Record wrote into dir.
func recorded(t testing.TB, dir string) (out []request) {
	t.Helper()
	for i := 1; ; i++ {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%04d.json", i)))
		if err != nil {
			return out
		}
		var r request
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
}

type request struct {
	Agent    string            `json:"agent_id"`
	Purpose  llm.Purpose       `json:"purpose"`
	Model    string            `json:"model"`
	Effort   string            `json:"effort"`
	System   string            `json:"system"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
}

// text is all messages.
func (r request) text() string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.Write(m)
		b.WriteByte('\n')
	}
	return b.String()
}

func (r request) toolNames(t testing.TB) (out []string) {
	t.Helper()
	var specs []llm.ToolSpec
	if err := json.Unmarshal(r.Tools, &specs); err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		out = append(out, s.Name)
	}
	return out
}

// of returns the events of one type.
func of[E agent.Event](w *world) (out []E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// results returns the tool results of an agent's history, in order; "" is any.
func (w *world) results(id session.AgentID) (out []llm.Block) {
	for _, m := range of[agent.Message](w) {
		if id != "" && m.Agent != id {
			continue
		}
		for _, b := range m.Message.Content {
			if b.Type == llm.ToolResult {
				out = append(out, b)
			}
		}
	}
	return out
}

// valid fails unless every call of a history has its result in the next
// message, and no result is without a call.
func valid(t testing.TB, history []llm.Message) {
	t.Helper()
	var open []string
	for i, m := range history {
		var results []string
		for _, b := range m.Content {
			if b.Type == llm.ToolResult {
				results = append(results, b.ToolUseID)
			}
		}
		slices.Sort(open)
		slices.Sort(results)
		if !slices.Equal(open, results) {
			t.Fatalf("message %d has results of %q, the calls before are %q", i, results, open)
		}
		open = nil
		for _, b := range m.Content {
			if b.Type == llm.ToolUse {
				open = append(open, b.ToolUseID)
				if !json.Valid(b.Input) || !bytes.HasPrefix(bytes.TrimSpace(b.Input), []byte("{")) {
					t.Fatalf("message %d: input %s is no object", i, b.Input)
				}
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls %q have no results", open)
	}
}

// A model is a provider of one function.
type model func(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error]

func (m model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return m(ctx, r)
}

// says makes an answer of events, and ends it.
func says(events ...llm.Event) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		stop := llm.EndTurn
		for _, e := range events {
			if _, call := e.(llm.ToolCall); call {
				stop = llm.ToolCalls
			}
			if !yield(e, nil) {
				return
			}
		}
		yield(llm.Done{Stop: stop}, nil)
	}
}

func call(id, name, input string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

// A probe is a tool of the test, for what no real tool shows.
type probe struct {
	name string
	plan agent.Plan
}

func (p probe) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: p.name, Description: "A probe.", InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func (p probe) Plan(json.RawMessage) (agent.Plan, error) { return p.plan, nil }

func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, filepath.FromSlash(name)))
	return err == nil
}
