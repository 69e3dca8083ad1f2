package run

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/servers"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/llm/choose"
	"github.com/knack-skills/knack/llm/offline"
	"github.com/knack-skills/knack/slash"
)

// offline answers without a language model (spec A-2).
func (o *Options) offline(cmd *cobra.Command, e *knack.Engine, message string, model choose.Choice, out *writer) (err error) {
	if err := o.onlyOffline(cmd); err != nil {
		return err
	}
	if out.telemetry, err = chat.NewRecorder(out.collector, e.Session().ID, model); err != nil {
		return err
	}
	mcp, err := o.offlineServers(cmd.Context(), e, message, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mcp.Close()) }()
	out.start(offline.Name, []string{"Skill", "SkillSearch"}, mcp.Status())
	s := &searching{o: o, e: e, out: out, mcp: mcp, hooks: newHooks(e, o.Bare, out, mcp)}
	if o.streamed() {
		defer s.hooks.end()
		defer s.hooks.keepUp(cmd.Context())()
		return o.serve(cmd.Context(), cmd.InOrStdin(), out, func(message string) (outcome, error) {
			return s.ask(cmd.Context(), message)
		})
	}
	a, err := s.ask(cmd.Context(), message)
	s.hooks.end()
	if err != nil && errors.Is(err, context.Canceled) {
		return err
	}
	if werr := out.result(a, err); werr != nil {
		return werr
	}
	return err
}

// A searching conversation is one whose model is a search. It is asked one
// message after the other.
type searching struct {
	o     *Options
	e     *knack.Engine
	out   *writer
	mcp   *servers.Set
	hooks *hooks
}

// ask takes one message down the road, with the hooks that stand beside it in
// every conversation.
func (s *searching) ask(ctx context.Context, message string) (a outcome, err error) {
	ctx, end := s.out.telemetry.Message(ctx)
	defer func() { end(err) }()
	if err := s.hooks.begin(ctx); err != nil {
		return outcome{}, err
	}
	s.mcp.WaitFor(ctx, message)
	if err := s.hooks.hear(ctx, message); err != nil {
		return outcome{}, err
	}
	a, err = s.answer(ctx, message)
	for _, n := range a.notices {
		s.out.notice(n)
	}
	return a, err
}

// answer takes the message down the one road: a typed /name by the person, any
// other text by the model, which here is a search.
func (s *searching) answer(ctx context.Context, message string) (outcome, error) {
	p := slash.Parse(message, s.e, exists)
	switch p.Kind {
	case slash.Unknown:
		_, err := s.e.Snapshot().Resolve(p.Unknown)
		return outcome{}, &unknownError{name: p.Unknown, err: err}
	case slash.Calls:
		return s.typed(ctx, p.Calls)
	}
	if ids := wanted(s.e, s.o.said(message), s.out.notice); len(ids) > 0 {
		if a, err := s.meant(ctx, ids, message); err != nil || a.text != "" {
			return a, err
		}
	}
	return s.chosen(ctx, cmp.Or(p.Text, message))
}

func (s *searching) typed(ctx context.Context, calls []slash.Call) (outcome, error) {
	o := outcome{turns: 1}
	var results []*invoke.Result
	for _, c := range calls {
		r, err := s.invoke(ctx, invoke.Request{Name: c.Name, Args: c.Args, By: invoke.ByUser}, &o)
		if err != nil {
			return o, err
		}
		results = append(results, r)
	}
	o.text = offline.Answer("", results...)
	return o, nil
}

// meant invokes the skills that keywords stand for; no text when none could be.
func (s *searching) meant(ctx context.Context, ids []string, message string) (outcome, error) {
	o := outcome{turns: 1}
	var results []*invoke.Result
	for _, id := range ids {
		r, err := s.invoke(ctx, invoke.Request{Name: id, Args: message, By: invoke.ByKeyword}, &o)
		switch {
		case err == nil:
			results = append(results, r)
		case !passed(id, err, s.out.notice):
			return o, err
		}
	}
	if len(results) > 0 {
		o.text = offline.Answer("", results...)
	}
	return o, nil
}

func (s *searching) chosen(ctx context.Context, message string) (outcome, error) {
	o := outcome{turns: 1}
	hits, err := s.e.Search(ctx, message, 1)
	if err != nil {
		return o, err
	}
	id, ok := offline.Choose(hits)
	if !ok {
		o.text = offline.NoMatch(message)
		return o, nil
	}
	r, err := s.invoke(ctx, invoke.Request{Name: id, By: invoke.ByModel}, &o)
	if err != nil {
		return o, err
	}
	o.text = offline.Answer(message, r)
	return o, nil
}

func (s *searching) invoke(ctx context.Context, req invoke.Request, o *outcome) (*invoke.Result, error) {
	env := s.e.Env()
	env.Hooks = s.hooks.run
	if env.Ask == nil {
		env.Ask = invoke.Nobody{} // hooks may answer
	}
	ctx, end := s.out.telemetry.Invocation(ctx, req)
	r, err := invoke.Invoke(ctx, req, env)
	end(r, err)
	if err != nil {
		if output.ExitCode(err) == output.ExitDenied {
			o.denials = append(o.denials, skillDenial(req, err))
		}
		return nil, err
	}
	o.notices = append(o.notices, r.Notices...)
	if err := s.e.RecordUse(r.Entry); err != nil {
		o.notices = append(o.notices, "this use is not counted: "+err.Error())
	}
	s.out.invoked(r, req.By, true)
	return r, nil
}
