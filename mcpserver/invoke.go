package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/session"
	"github.com/knack-skills/knack/skill"
)

// handOver is the Forker of clients: this process runs no subagent for them, so
// a forked skill ends with its instructions, for the client to start one.
type handOver struct{}

var _ invoke.Forker = handOver{}

// Fork returns what the subagent would begin with.
func (handOver) Fork(_ context.Context, r invoke.ForkRequest) (invoke.ForkResult, error) {
	return invoke.ForkResult{Text: r.Prompt}, nil
}

// A compiled skill is what a client is given of it.
type compiled struct {
	Text    string   // instructions, with what the model has to know about them
	Notices []string // for the person
	Entry   *catalog.Entry
}

// invoke runs a skill for a client on the one road (spec I-1). The whole text is
// returned each time: whether a client still holds it, only the client knows.
func (s *Server) invoke(ctx context.Context, req invoke.Request, own *session.Session) (*compiled, error) {
	env := s.env(own)
	if env.Hooks = s.hooked(own); env.Hooks != nil {
		env.Ask = invoke.Nobody{} // hooks may answer
	}
	r, err := invoke.Invoke(ctx, req, env)
	if err != nil {
		return nil, err
	}
	out := &compiled{Entry: r.Entry, Notices: r.Notices, Text: r.Text}
	if r.Mode == skill.Fork {
		out.Text = forkNote(r.Entry) + "\n\n" + r.Fork.Text
	} else if notes := notesOf(r); notes != "" {
		out.Text = after(r.Text, notes)
	}
	for _, m := range r.Added {
		out.Text = after(out.Text, m.Text)
	}
	// Counting writes a file to the disk, and no client should wait for it.
	s.counting.Go(func() {
		if err := s.engine.RecordUse(r.Entry); err != nil {
			s.log.Warn("a use is not counted", "skill", calledBy(r.Entry), "error", err)
		}
	})
	for _, n := range out.Notices {
		s.log.Warn(n, "skill", calledBy(r.Entry))
	}
	return out, nil
}

// after puts a note below a text.
func after(text, note string) string { return strings.TrimRight(text, "\n") + "\n\n" + note }

// forkNote tells a foreign model what the author meant with context: fork.
func forkNote(e *catalog.Entry) string {
	agent := ""
	if e.Run.Agent != "" {
		agent = fmt.Sprintf(" of the type %q, or the nearest you have", e.Run.Agent)
	}
	return fmt.Sprintf("<system-reminder>\nSkill %q is written for a subagent%s. If you can start subagents, "+
		"give one the instructions below as its whole task, and report its result. Otherwise follow them yourself.\n</system-reminder>",
		calledBy(e), agent)
}

// notesOf returns the notes that go with an inline skill: on nested skills of
// the same name (spec D-1), and on tools that it must not use. What it may use
// without asking, and its model, are not for this program to grant in another.
func notesOf(r *invoke.Result) string {
	var notes []string
	if v := r.Variants(); v != "" {
		notes = append(notes, v)
	}
	if no := r.Override.DisallowedTools; len(no) > 0 {
		notes = append(notes, fmt.Sprintf("<system-reminder>\nWhile skill %q is active, do not use: %s\n</system-reminder>",
			calledBy(r.Entry), strings.Join(no, ", ")))
	}
	return strings.Join(notes, "\n\n")
}
