package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/turn"
)

// compactAt is the part of the window at which a history is compacted (spec M-2).
const compactAt = 0.9

// summaryPrompt asks for what the next part of the work needs.
const summaryPrompt = `The conversation has become too long and is about to be replaced by a summary that you write now. Write it for yourself: you will go on from it without seeing anything else.

Include, under short headings:
1. What the person asked for, in their words where the words matter, and what they ruled out.
2. What was done and what is true now: files with paths, commands, results, decisions with their reasons.
3. What is still open, in order, and the very next step.
4. Anything surprising that would otherwise be found out again.

Leave out skill instructions: skills that were used are attached again afterwards. Do not call tools. Answer with the summary alone.`

// ErrNothingToCompact reports a conversation that has not begun.
var ErrNothingToCompact = errors.New("there is nothing to compact: the conversation has not begun")

// Compact replaces the main agent's history by a summary (spec M-2).
// instructions may say what the summary should keep; it may be empty.
func (c *Conversation) Compact(ctx context.Context, instructions string) error {
	c.turnMu.Lock()
	defer c.turnMu.Unlock()
	return c.main.compact(ctx, true, instructions)
}

func (a *agent) compactIfNeeded(ctx context.Context) error {
	if float64(a.taken) < compactAt*float64(a.c.opts.Window) || len(a.history) < 3 {
		return nil
	}
	err := a.compact(ctx, false, "")
	if blocked := (*BlockedError)(nil); errors.As(err, &blocked) {
		a.noticeOnce("the conversation fills its window and is not compacted: " + blocked.Error())
		return nil // as long as the provider takes it
	}
	return err
}

// compact asks the model for a summary and begins a new history with it: the
// summary, the restored skills, the names of the others, and the messages of
// this turn that were not answered yet.
func (a *agent) compact(ctx context.Context, asked bool, instructions string) error {
	if len(a.history) == 0 {
		return ErrNothingToCompact
	}
	why := "auto"
	if asked {
		why = "manual"
	}
	kept, err := a.must(ctx, hook.Input{Event: hook.PreCompact, Source: why, Message: instructions})
	if err != nil {
		return err
	}
	for _, m := range kept {
		instructions = strings.TrimSpace(instructions + "\n\n" + m.Text)
	}
	summary, err := a.summarise(ctx, instructions)
	if err != nil {
		return fmt.Errorf("compacting the conversation: %w", err)
	}
	before, tokens := len(a.history), a.taken
	rest := unanswered(a.history)
	head := []turn.Message{{Role: turn.User, Meta: true,
		Text: "This conversation goes on from an earlier one that was too long to keep. Its summary:\n\n" + summary}}
	restored := a.c.opts.Session.Restore(a.id, session.Budget{Staying: shown(rest)})
	if restored.Text != "" {
		head = append(head, turn.Message{Role: turn.User, Text: restored.Text, Meta: true})
	}
	if a.c.opts.AfterCompaction != nil && a.has("Skill") {
		head = append(head, turn.Message{Role: turn.User, Text: a.c.opts.AfterCompaction(a.id), Meta: true})
	}
	begun, err := a.must(ctx, hook.Input{Event: hook.SessionStart, Source: "compact"})
	if err != nil {
		return err
	}
	head = append(head, begun...)
	a.history, a.marks, a.taken = nil, nil, 0
	a.c.observe(Compacted{Agent: a.id, Before: before, Tokens: tokens, Summary: summary,
		Asked: asked, Instructions: instructions, Restored: restored})
	a.join(userMessage(nil, head), true)
	after := a.hook(ctx, hook.Input{Event: hook.PostCompact, Source: why, Message: summary})
	a.join(userMessage(nil, invoke.HookWords(hook.PostCompact, after.Context)), true)
	for _, m := range rest {
		a.join(m, true) // whoever watches has seen it before
	}
	return nil
}

// summarise makes the request for a summary: the same prefix as every other
// request, so that the provider's cache holds, with one message more.
func (a *agent) summarise(ctx context.Context, instructions string) (string, error) {
	text := summaryPrompt
	if instructions != "" {
		text += "\n\nThe person asks the summary to keep in mind: " + instructions
	}
	r := a.request(turn.Override{})
	r.Purpose = llm.Summary
	r.Messages = append(append([]llm.Message(nil), a.history...),
		llm.Message{Role: llm.User, Content: []llm.Block{{Type: llm.Text, Text: text}}})
	reply, err := llm.Collect(a.c.opts.Model.Stream(ctx, r))
	if err != nil {
		return "", err
	}
	a.count(reply.Done.Usage)
	if s := reply.Text(); s != "" {
		return s, nil
	}
	return "", fmt.Errorf("the model gave no summary (it stopped with %s)", reply.Done.Stop)
}

// shown counts the skills whose messages stand in messages.
func shown(messages []llm.Message) (n int) {
	for _, m := range messages {
		for _, b := range m.Content {
			if b.Type == llm.Text && strings.HasPrefix(b.Text, "<command-message>") {
				n++
			}
		}
	}
	return n
}

// unanswered returns the messages at the end that the model has not answered:
// the person's last words and the text of a skill that was called just now must
// not be lost. Tool results need the calls that they answer, so they go; the
// summary says what came of them.
func unanswered(history []llm.Message) []llm.Message {
	i := len(history)
	for i > 0 && history[i-1].Role == llm.User {
		i--
	}
	var out []llm.Message
	for _, m := range history[i:] {
		kept := llm.Message{Role: m.Role}
		for _, b := range m.Content {
			if b.Type != llm.ToolResult {
				kept.Content = append(kept.Content, b)
			}
		}
		if len(kept.Content) > 0 {
			out = append(out, kept)
		}
	}
	return out
}
