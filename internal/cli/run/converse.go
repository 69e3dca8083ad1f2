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
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/slash"
)

// converse answers with a language model: the agent loop, headless.
func (o *Options) converse(cmd *cobra.Command, first *knack.Engine, message string, model choose.Choice, names choose.Options, out *writer) error {
	if err := o.check(); err != nil {
		return err
	}
	h, err := chat.Open(cmd.Context(), o.chat(model, names, out), func(s *session.Session) (*knack.Engine, error) {
		if s == nil {
			return first, nil
		}
		return o.Flags.Open(cmd, func(ko *knack.Options) { ko.Session = s })
	})
	if err != nil {
		return err
	}
	out.e = h.Engine
	out.start(model.String(), h.Tools())
	a, err := o.turn(cmd.Context(), h, message)
	a.usage = h.Talk.Usage()
	for _, d := range h.Talk.Denials() {
		a.denials = append(a.denials, denial{Tool: d.Tool, Input: d.Input, Reason: d.Reason})
	}
	err = errors.Join(err, h.Close())
	for _, p := range h.Problems() {
		out.notice(p.String())
	}
	if err != nil && errors.Is(err, context.Canceled) {
		return err
	}
	if werr := out.result(a, err); werr != nil {
		return werr
	}
	return err
}

func (o *Options) chat(model choose.Choice, names choose.Options, out *writer) chat.Options {
	return chat.Options{
		Model: model, Aliases: names, Effort: o.Effort, MaxTurns: o.MaxTurns, Mode: agent.Mode(o.Mode),
		Allowed: o.Allowed, Disallowed: o.Disallowed, AppendSystem: o.AppendSystem, Agents: o.Agents, Agent: o.Agent,
		NoSkills: o.NoSkills, Continue: o.Continue, Resume: o.Resume, Fork: o.Fork,
		RecordDir: os.Getenv("KNACK_RECORD"), Getenv: names.Getenv, Observe: out.event,
	}
}

// turn takes one message down the road: /compact, skills that were typed, then
// the model, until nothing runs in the background any more (spec I-11).
func (o *Options) turn(ctx context.Context, h *chat.Host, message string) (outcome, error) {
	if rest, ok := strings.CutPrefix(message, "/compact"); ok && (rest == "" || strings.HasPrefix(rest, " ")) {
		err := h.Talk.Compact(ctx, strings.TrimSpace(rest))
		return outcome{text: "The conversation was compacted."}, err
	}
	in := agent.Input{Text: message}
	if !o.NoSkills {
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
			return true, a, err
		}
		if r.Mode == skill.Fork {
			return true, outcome{text: forkText(r), turns: 0}, nil
		}
		in.Messages = append(in.Messages, r.Messages...)
		in.Override = in.Override.And(r.Override)
	}
	return false, a, nil
}

func forkText(r *invoke.Result) string {
	if r.Fork.Task != "" {
		return r.ToolResult()
	}
	return r.Fork.Text
}

// event prints what happens, in a stream.
func (w *writer) event(e agent.Event) {
	switch e := e.(type) {
	case agent.Notice:
		w.notice(e.Text)
	case agent.Invoked:
		w.invoked(e.Result, e.By, false)
	case agent.Message:
		if w.format == "stream-json" && e.Agent == session.Main {
			w.line(map[string]any{"type": e.Message.Role, "session_id": w.e.Session().ID, "meta": e.Meta, "message": e.Message})
		}
	case agent.Compacted:
		if w.format == "stream-json" {
			w.line(map[string]any{"type": "system", "subtype": "compact_boundary", "session_id": w.e.Session().ID,
				"messages": e.Before, "tokens": e.Tokens})
		}
	}
}
