package knack_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/slash"
	"github.com/knack-skills/knack/turn"
	"github.com/knack-skills/knack/watch/fsnotify"
)

// The pieces of docs/guide-embedding.md, put together to a small agent.

// A host is an agent around an engine. Its model is a function.
type host struct {
	engine   *knack.Engine
	history  []turn.Message
	override turn.Override // of the running turn
	frozen   bool          // skills do not change for now
	model    func([]turn.Message) call
}

// A call is what the model answers: a tool call, or text.
type call struct{ skill, args, text string }

type terminal struct{ say func(string) bool }

func (t terminal) Ask(ctx context.Context, q invoke.Question) (invoke.Answer, error) {
	what := "run skill " + q.Skill + " (" + strings.Join(q.Unsafe, ", ") + ")"
	if q.Command != "" {
		what = "run this command of skill " + q.Skill + ": " + q.Command
	}
	return invoke.Answer{Allow: t.say("May it " + what + "? " + q.Reason)}, ctx.Err()
}

type subagents struct{ parent *host }

func (s subagents) Fork(ctx context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
	child := &host{engine: s.parent.engine, model: s.parent.model, override: r.Override}
	id := session.AgentID("fork-" + rand.Text()) // one of its own
	defer child.engine.Session().EndAgent(id)
	if m, ok := child.engine.Announce(id); ok {
		child.history = append(child.history, m)
	}
	child.history = append(child.history, turn.Message{Role: turn.User, Text: r.Prompt})
	text, err := child.loop(ctx, id)
	return invoke.ForkResult{Text: text}, err
}

func build(ctx context.Context, dir string, h *host, say func(string) bool) error {
	engine, err := knack.New(ctx, knack.Options{
		Dir:  dir,
		Ask:  terminal{say},
		Fork: subagents{h},
	})
	if err != nil {
		return err // the directory cannot be used at all
	}
	for _, p := range engine.Problems() {
		fmt.Println(p) // a broken file costs only itself
	}
	h.engine = engine
	return nil
}

// skillTool is the declaration that goes to the model with every request.
func skillTool() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"name":        listing.ToolName,
		"description": listing.ToolDescription(),
		"input_schema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"skill": text, "args": text},
			"required":   []string{"skill"},
		},
	}
}

// said runs one turn: from a person's message to the agent's answer.
func (h *host) said(ctx context.Context, message string) (string, error) {
	h.override = turn.Override{} // what a skill changed ended with its turn
	if m, ok := h.engine.Announce(session.Main); ok {
		h.history = append(h.history, m)
	}
	p := slash.Parse(message, h.engine, nil)
	switch p.Kind {
	case slash.Unknown:
		return "Unknown skill: " + p.Unknown, nil
	case slash.Message:
		h.history = append(h.history, turn.Message{Role: turn.User, Text: p.Text})
	}
	for _, c := range p.Calls {
		r, err := h.use(ctx, invoke.Request{Name: c.Name, Args: c.Args, By: invoke.ByUser})
		if err != nil {
			return explain(err), nil
		}
		if r.Mode == skill.Fork {
			return r.Fork.Text, nil // the subagent's text is the answer
		}
	}
	return h.loop(ctx, session.Main)
}

// use invokes a skill and takes in what follows from it.
func (h *host) use(ctx context.Context, req invoke.Request) (*invoke.Result, error) {
	r, err := h.engine.Invoke(ctx, req)
	if err != nil {
		return nil, err // nothing happened
	}
	h.history = append(h.history, r.Messages...)
	h.override = h.override.And(r.Override)
	for _, n := range r.Notices {
		fmt.Println("notice:", n)
	}
	return r, nil
}

// loop calls the model until it answers in words.
func (h *host) loop(ctx context.Context, agent session.AgentID) (string, error) {
	for ctx.Err() == nil {
		answer := h.model(h.history)
		if answer.skill == "" {
			return answer.text, nil
		}
		r, err := h.use(ctx, invoke.Request{Name: answer.skill, Args: answer.args, By: invoke.ByModel, Agent: agent})
		result := ""
		if err != nil {
			result = explain(err) // for the model, as an error of the tool
		} else {
			result = r.ToolResult()
		}
		h.history = append(h.history, turn.Message{Role: turn.User, Text: result})
	}
	return "", ctx.Err()
}

func explain(err error) string {
	if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok {
		return fmt.Sprintf("There is no skill %q. Similar: %q", missing.Name, missing.Near)
	}
	if refused, ok := errors.AsType[*invoke.RefusedError](err); ok {
		return fmt.Sprintf("Refused (%s): %s. %s", refused.Rule, refused.Reason, refused.Fix)
	}
	if denied, ok := errors.AsType[*prompt.DeniedError](err); ok {
		return fmt.Sprintf("The command %q is not allowed: %s", denied.Line, denied.Permission.Reason)
	}
	if failed, ok := errors.AsType[*prompt.CommandError](err); ok {
		return fmt.Sprintf("The command %q failed: %s", failed.Line, failed.Stderr)
	}
	if errors.Is(err, invoke.ErrNoFork) {
		return "Subagents are switched off."
	}
	return err.Error()
}

func TestGuide(t *testing.T) {
	l := newLab(t, map[string]string{
		"repo/.claude/skills/tidy/SKILL.md":   doc("Tidy", "effort: high", "disallowed-tools: WebFetch"),
		"repo/.claude/skills/audit/SKILL.md":  doc("Audit", "context: fork"),
		"repo/.claude/skills/person/SKILL.md": doc("Person", "disable-model-invocation: true"),
		"repo/.claude/skills/ask/SKILL.md":    doc("Ask", "allowed-tools: Read"),
		"repo/.claude/skills/ts/SKILL.md":     doc("TypeScript", `paths: "*.ts"`),
		"repo/.claude/skills/bad/SKILL.md":    "---\ndescription: Bad.\n---\n!`touch x && exit 3`\n",
	})
	for k, v := range map[string]string{"HOME": l.base + "/home", "KNACK_STATE_DIR": l.base + "/state", "KNACK_MANAGED_DIR": l.base + "/etc",
		"CLAUDE_CONFIG_DIR": "", "KNACK_TRUST": "1", "XDG_CACHE_HOME": l.base + "/cache"} {
		t.Setenv(k, v)
	}
	var asked []string
	yes := false
	var script []call
	h := &host{model: func([]turn.Message) call {
		next := script[0]
		script = script[1:]
		return next
	}}
	if err := build(t.Context(), l.base+"/repo", h, func(q string) bool { asked = append(asked, q); return yes }); err != nil {
		t.Fatal(err)
	}
	turnOf := func(message string, answers ...call) string {
		t.Helper()
		script = answers
		text, err := h.said(t.Context(), message)
		if err != nil || len(script) > 0 {
			t.Errorf("%q: %v, %d calls left", message, err, len(script))
		}
		return text
	}
	equal(t, "the tool", skillTool()["name"], any("Skill"))
	done := call{text: "Done."}
	equal(t, "a message", turnOf("hello", done), "Done.")
	equal(t, "first message", h.history[0].Text, h.engine.Listing().Text)
	equal(t, "typed", turnOf("/tidy src", done), "Done.")
	equal(t, "override", h.override.Effort, "high")
	equal(t, "by the model", turnOf("clean up", call{skill: "tidy"}, done), "Done.")
	equal(t, "the model's result", h.history[len(h.history)-1].Text, "Launching skill: tidy")
	equal(t, "next turn", turnOf("thanks", done), "Done.")
	equal(t, "override of the next turn", h.override, turn.Override{})
	equal(t, "unknown", turnOf("/tidi"), "Unknown skill: tidi")
	equal(t, "fork", turnOf("/audit", call{text: "No findings."}), "No findings.")
	turnOf("audit it", call{skill: "audit"}, call{text: "Two findings."}, done)
	equal(t, "fork by the model", h.history[len(h.history)-1].Text, "Skill \"audit\" completed (forked).\n\nResult:\nTwo findings.")
	for name, want := range map[string]string{
		"person": "Refused (I-3): only the person can run it (disable-model-invocation). do not imitate it",
		"ask":    "Refused (S-2): the person declined",
		"tdy":    `There is no skill "tdy". Similar: ["tidy"]`,
		"ts":     "Refused (I-3): it applies only to files that match *.ts",
	} {
		turnOf("go", call{skill: name}, done)
		if got := h.history[len(h.history)-1].Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	equal(t, "questions", len(asked), 1)
	yes = true
	turnOf("go", call{skill: "ask"}, done)
	equal(t, "allowed", h.override.AllowedTools, []string{"Read"})

	notices := make(chan string, 10)
	stop, err := alive(t.Context(), h, func(n string) { notices <- n })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	equal(t, "touched", touched(t.Context(), h, "src/a.ts"), []string{"activated by src/a.ts: ts"})
	l.write("repo/.claude/skills/later/SKILL.md", doc("Comes later"))
	equal(t, "noticed", <-notices, `new ["later"], changed [], gone []`)
	l.write("repo/.claude/skills/latest/SKILL.md", doc("Comes last"))
	if err := reload(t.Context(), h); err != nil || h.engine.Snapshot().Len() < 3 {
		t.Error(err)
	}
	turnOf("go", call{skill: "ts"}, done)
	if got := h.history[len(h.history)-1].Text; got != "Launching skill: ts" {
		t.Error(got)
	}
	if hits := found(t.Context(), h, "audit"); !strings.HasPrefix(hits, "audit: ") {
		t.Error(hits)
	}
	yes = false
	if got := turnOf("/bad"); !strings.HasPrefix(got, `The command "touch x && exit 3" is not allowed: `) {
		t.Error(got)
	}
	yes = true
	equal(t, "a command that fails", turnOf("/bad"), `The command "touch x && exit 3" failed: `)
}

// touched is called after each tool that read or wrote files, and returns what the
// person should know of what followed.
func touched(ctx context.Context, h *host, files ...string) []string {
	d, err := h.engine.Discover(ctx, files...)
	if err != nil {
		return []string{err.Error()}
	}
	return d.Notices()
}

// alive keeps the engine up to date while the host runs.
func alive(ctx context.Context, h *host, notice func(string)) (stop func(), err error) {
	return h.engine.Watch(ctx, knack.WatchOptions{
		Native: fsnotify.Open, // of package watch/fsnotify; nil polls
		Allow: func(_ context.Context, c knack.Change) error {
			if h.frozen && c.Sources[0] == "skills" {
				return errors.New("skills are frozen")
			}
			return nil
		},
		Done: func(c knack.Change) {
			notice(fmt.Sprintf("new %q, changed %q, gone %q", c.Added, c.Changed, c.Removed))
		},
		Notice: notice,
	})
}

// reload is for a person who asks for it.
func reload(ctx context.Context, h *host) error {
	_, err := h.engine.Refresh(ctx)
	return err
}

// found answers the model's SkillSearch tool.
func found(ctx context.Context, h *host, query string) string {
	hits, err := h.engine.Search(ctx, query, 20)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, hit := range hits {
		fmt.Fprintf(&b, "%s: %s\n", hit.ID, hit.Snippet)
	}
	return b.String()
}
