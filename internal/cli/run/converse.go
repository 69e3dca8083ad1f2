package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
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
	out.start(model.String(), h.Tools(), h.Servers.Status())
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
	begun    bool // hooks of the session's beginning have run
	denied   int  // denials
	reported int  // problems
}

// ask takes one message down the road, and counts what that took.
func (c *conversation) ask(ctx context.Context, message string) (a outcome, err error) {
	ctx, end := c.h.Telemetry.Message(ctx)
	defer func() { end(err) }()
	if !c.begun {
		c.begun = true
		if err := c.h.Begin(ctx); err != nil {
			return outcome{}, err
		}
	}
	said := c.o.said(message)
	if begin := c.h.InitialPrompt(); begin != "" {
		message = begin + "\n\n" + message
	}
	a, err = c.o.turn(ctx, c.h, message, said, c.out)
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
		if !c.o.Flags.Waits(p) {
			c.out.notice(p.String())
		}
	}
	c.reported = len(list)
}

func (o *Options) chat(model choose.Choice, names choose.Options, out *writer) chat.Options {
	return chat.Options{
		Model: model, Aliases: names, Effort: o.Effort, MaxTurns: o.MaxTurns, Mode: agent.Mode(o.Mode),
		Allowed: o.Allowed, Disallowed: o.Disallowed, AppendSystem: o.AppendSystem, Agents: o.Agents, Agent: o.Agent,
		NoSkills: o.NoSkills, Bare: o.Bare, Continue: o.Continue, Resume: o.Resume, Fork: o.Fork,
		RecordDir: os.Getenv("KNACK_RECORD"), Getenv: names.Getenv, Observe: out.event, Collector: out.collector,
		Ask: o.person.asker(), Questions: o.person.questions(),
		Servers: func(ctx context.Context, e *knack.Engine) (*servers.Set, error) { return o.servers(ctx, e, out, nil) },
	}
}

// compact is the command that shortens the conversation (spec M-2).
const compact = "/compact"

// turn takes one message down the road: /compact, skills that were typed or that
// a keyword stands for, then the model, until nothing runs in the background any
// more (spec I-11).
func (o *Options) turn(ctx context.Context, h *chat.Host, message, said string, out *writer) (outcome, error) {
	h.Servers.WaitFor(ctx, message)
	h.Prompt(message)
	if err := h.Talk.Hear(ctx, message); err != nil {
		return outcome{}, err
	}
	in := agent.Input{Text: message}
	a, answered := outcome{}, false
	if !o.NoSkills {
		if words := strings.Fields(message); strings.HasPrefix(message, compact) && words[0] == compact {
			err := h.Talk.Compact(ctx, strings.TrimSpace(message[len(compact):]))
			return outcome{text: "The conversation was compacted."}, err
		}
		var err error
		if answered, a, err = o.typed(ctx, h, message, said, &in, out); err != nil {
			return a, err
		}
	}
	if !answered {
		if o.shape != nil {
			in.Messages = append(in.Messages, o.shape.tell())
		}
		if err := o.submit(ctx, h, in, &a); err != nil {
			return a, err
		}
	}
	if o.shape == nil {
		return a, nil
	}
	return o.settle(ctx, h, a)
}

// submit asks the model, and again for what comes in from the background.
func (o *Options) submit(ctx context.Context, h *chat.Host, in agent.Input, a *outcome) error {
	for {
		ans, err := h.Submit(ctx, in)
		a.text, a.turns, a.spoken = ans.Text, a.turns+ans.Turns, true
		if err != nil {
			return err
		}
		if more, err := h.Talk.Wait(ctx); err != nil || !more {
			return err
		}
		in = agent.Input{}
	}
}

// typed invokes the skills that a person named (spec I-4), or that a keyword in
// what they said stands for (spec I-1). A forked one answers the turn itself
// (spec I-8).
func (o *Options) typed(ctx context.Context, h *chat.Host, message, said string, in *agent.Input, out *writer) (answered bool, a outcome, err error) {
	p := slash.Parse(message, h.Engine, exists)
	switch p.Kind {
	case slash.Unknown:
		_, err := h.Engine.Snapshot().Resolve(p.Unknown)
		return true, outcome{}, &unknownError{name: p.Unknown, err: err}
	case slash.Message:
		in.Text = p.Text
		return o.keywords(ctx, h, message, said, in, out)
	}
	in.Text = ""
	for _, c := range p.Calls {
		req := invoke.Request{Name: c.Name, Args: c.Args, By: invoke.ByUser}
		r, err := h.Talk.Invoke(ctx, req)
		if err != nil {
			return true, undone(h, req, in, err), err
		}
		if r.Mode == skill.Fork {
			a, err := forked(ctx, h, message, r, out)
			return true, a, err
		}
		add(in, r)
	}
	return false, a, nil
}

// keywords invokes the skills that words of a message stand for, with all of it
// as arguments. The message stays, before them. A fork that is the only one
// answers, as if it had been typed; the result of any other goes to the model.
func (o *Options) keywords(ctx context.Context, h *chat.Host, message, said string, in *agent.Input, out *writer) (answered bool, a outcome, err error) {
	ids := wanted(h.Engine, said, out.notice)
	for _, id := range ids {
		req := invoke.Request{Name: id, Args: message, By: invoke.ByKeyword}
		r, err := h.Talk.Invoke(ctx, req)
		switch {
		case err != nil && passed(id, err, out.notice):
		case err != nil:
			return true, undone(h, req, in, err), err
		case r.Mode != skill.Fork:
			add(in, r)
		case len(ids) == 1:
			a, err := forked(ctx, h, message, r, out)
			return true, a, err
		default:
			in.Messages = append(in.Messages, turn.Message{Role: turn.User, Meta: true, Text: r.ToolResult()})
		}
	}
	return false, a, nil
}

func add(in *agent.Input, r *invoke.Result) {
	in.Messages = append(in.Messages, r.Messages...)
	in.Override = in.Override.And(r.Override)
}

// undone ends a turn before the model was asked.
func undone(h *chat.Host, req invoke.Request, in *agent.Input, err error) (a outcome) {
	if output.ExitCode(err) == output.ExitDenied {
		a.denials = append(a.denials, skillDenial(req, err))
	}
	// The session has recorded the skills before this one, so their text has to
	// be where it says that it is.
	h.Talk.Join(in.Messages...)
	return a
}

// forked is the turn of a person who started a subagent: its text is the
// answer, and its failure that of the turn. One in the background is waited for,
// because nobody is there to whom it could be brought later (spec I-11).
func forked(ctx context.Context, h *chat.Host, message string, r *invoke.Result, out *writer) (outcome, error) {
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
	a := outcome{text: strings.Join(texts, "\n\n"), turns: 1}
	if err := out.ended[session.AgentID(r.Fork.Task)]; err != nil {
		return a, fmt.Errorf("background task %s (%s) failed: %w", r.Fork.Task, r.Entry.ID, err)
	}
	return a, nil
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
	case agent.AgentEnded:
		if w.ended == nil {
			w.ended = map[session.AgentID]error{}
		}
		w.ended[e.Agent] = e.Err
	case agent.Compacted:
		if w.format == "stream-json" && e.Agent == session.Main {
			w.line(map[string]any{"type": "system", "subtype": "compact_boundary", "session_id": w.e.Session().ID,
				"messages": e.Before, "tokens": e.Tokens})
		}
	}
}
