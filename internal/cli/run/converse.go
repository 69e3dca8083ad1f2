package run

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/slash"
	"github.com/knack-skills/knack/turn"
)

// converse answers with a language model: the agent loop, headless.
func (o *Options) converse(cmd *cobra.Command, first *knack.Engine, message string, model choose.Choice, names choose.Options, out *writer) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	h, err := chat.Open(ctx, o.chat(model, names, out), func(s *session.Session) (*knack.Engine, error) {
		if s == nil {
			return first, nil
		}
		return o.open(cmd, func(ko *knack.Options) { ko.Session = s })
	})
	if err != nil {
		return err
	}
	out.e = h.Engine
	out.start(model.String(), h.Tools())
	c := &conversation{o: o, h: h, out: out}
	if o.streamed() {
		err := o.serve(ctx, cmd.InOrStdin(), out, func(message string) (outcome, error) {
			a, err := c.ask(ctx, message)
			c.problems()
			return a, err
		})
		return errors.Join(err, h.Close())
	}
	a, err := c.ask(ctx, message)
	err = errors.Join(err, h.Close())
	c.problems()
	if ended := ctx.Err(); err != nil && ended != nil {
		return ended // however the model or a tool put it
	}
	if werr := out.result(a, err); werr != nil {
		return werr
	}
	return err
}

// A conversation is asked one message after the other. What it has told is not
// told again with the next.
type conversation struct {
	o   *Options
	h   *chat.Host
	out *writer

	usage    llm.Usage
	denied   int // denials
	reported int // problems
}

// ask takes one message down the road, and counts what that took.
func (c *conversation) ask(ctx context.Context, message string) (outcome, error) {
	if begin := c.h.InitialPrompt(); begin != "" {
		message = begin + "\n\n" + message
	}
	a, err := c.o.turn(ctx, c.h, message)
	c.h.Sync()
	total := c.h.Talk.Usage()
	a.usage, c.usage = total.Sub(c.usage), total
	denials := c.h.Talk.Denials()
	for _, d := range denials[c.denied:] {
		a.denials = append(a.denials, denial{Tool: d.Tool, Input: d.Input, Reason: d.Reason})
	}
	c.denied = len(denials)
	return a, err
}

// problems tells of those that are new.
func (c *conversation) problems() {
	list := c.h.Problems()
	for _, p := range list[c.reported:] {
		c.out.notice(p.String())
	}
	c.reported = len(list)
}

func (o *Options) chat(model choose.Choice, names choose.Options, out *writer) chat.Options {
	return chat.Options{
		Model: model, Aliases: names, Effort: o.Effort, MaxTurns: o.MaxTurns, Mode: agent.Mode(o.Mode),
		Allowed: o.Allowed, Disallowed: o.Disallowed, AppendSystem: o.AppendSystem, Agents: o.Agents, Agent: o.Agent,
		NoSkills: o.NoSkills, Bare: o.Bare, Continue: o.Continue, Resume: o.Resume, Fork: o.Fork,
		RecordDir: os.Getenv("KNACK_RECORD"), Getenv: names.Getenv, Observe: out.event,
	}
}

// compact is the command that shortens the conversation (spec M-2).
const compact = "/compact"

// turn takes one message down the road: /compact, skills that were typed, then
// the model, until nothing runs in the background any more (spec I-11).
func (o *Options) turn(ctx context.Context, h *chat.Host, message string) (outcome, error) {
	h.Prompt(message)
	in := agent.Input{Text: message}
	if !o.NoSkills {
		if words := strings.Fields(message); strings.HasPrefix(message, compact) && words[0] == compact {
			err := h.Talk.Compact(ctx, strings.TrimSpace(message[len(compact):]))
			return outcome{text: "The conversation was compacted."}, err
		}
		answered, a, err := o.typed(ctx, h, message, &in)
		if answered || err != nil {
			return a, err
		}
	}
	ans, err := h.Submit(ctx, in)
	a := outcome{text: ans.Text, turns: ans.Turns, spoken: true}
	for err == nil {
		var more bool
		if more, err = h.Talk.Wait(ctx); err != nil || !more {
			return a, err
		}
		ans, err = h.Submit(ctx, agent.Input{})
		a.text, a.turns = ans.Text, a.turns+ans.Turns
	}
	return a, err
}

// typed invokes the skills that a person named (spec I-4). A forked one answers
// the turn itself (spec I-8).
func (o *Options) typed(ctx context.Context, h *chat.Host, message string, in *agent.Input) (answered bool, a outcome, err error) {
	p := slash.Parse(message, h.Engine, exists)
	switch p.Kind {
	case slash.Unknown:
		_, err := h.Engine.Snapshot().Resolve(p.Unknown)
		return true, outcome{}, &unknownError{name: p.Unknown, err: err}
	case slash.Message:
		in.Text = p.Text
		return false, outcome{}, nil
	}
	in.Text = ""
	for _, c := range p.Calls {
		req := invoke.Request{Name: c.Name, Args: c.Args, By: invoke.ByUser}
		r, err := h.Talk.Invoke(ctx, req)
		if err != nil {
			if output.ExitCode(err) == output.ExitDenied {
				a.denials = append(a.denials, skillDenial(req, err))
			}
			// The session has recorded the skills before this one, so their
			// text has to be where it says that it is.
			h.Talk.Join(in.Messages...)
			return true, a, err
		}
		if r.Mode == skill.Fork {
			a, err := forked(ctx, h, message, r)
			return true, a, err
		}
		in.Messages = append(in.Messages, r.Messages...)
		in.Override = in.Override.And(r.Override)
	}
	return false, a, nil
}

// forked is the turn of a person who started a subagent: its text is the
// answer. One in the background is waited for, because nobody is there to whom
// it could be brought later (spec I-11).
func forked(ctx context.Context, h *chat.Host, message string, r *invoke.Result) (outcome, error) {
	said := turn.Message{Role: turn.User, Text: message}
	if r.Fork.Task == "" {
		text := r.Fork.Text
		if strings.TrimSpace(text) == "" {
			text = r.ToolResult()
		}
		h.Talk.Join(said, turn.Message{Role: turn.Assistant, Text: text})
		return outcome{text: text, turns: 1, spoken: true}, nil
	}
	h.Talk.Join(said, turn.Message{Role: turn.Assistant, Text: r.ToolResult()})
	if _, err := h.Talk.Wait(ctx); err != nil {
		return outcome{}, err
	}
	var texts []string
	for _, m := range h.Talk.Deliver() {
		texts = append(texts, m.Text)
	}
	return outcome{text: strings.Join(texts, "\n\n"), turns: 1}, nil
}

// event prints what happens, in a stream.
func (w *writer) event(e agent.Event) {
	switch e := e.(type) {
	case agent.Notice:
		w.notice(e.Text)
	case agent.Invoked:
		if e.Err == nil {
			w.invoked(e.Result, e.By, false)
		}
	case agent.Message:
		if w.format == "stream-json" && e.Agent == session.Main {
			w.line(map[string]any{"type": e.Message.Role, "session_id": w.e.Session().ID, "meta": e.Meta, "message": e.Message})
		}
	case agent.Compacted:
		if w.format == "stream-json" && e.Agent == session.Main {
			w.line(map[string]any{"type": "system", "subtype": "compact_boundary", "session_id": w.e.Session().ID,
				"messages": e.Before, "tokens": e.Tokens})
		}
	}
}
