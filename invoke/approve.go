package invoke

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

// Approvals knows which skills the person allowed for good, bound to what the
// skills consist of (spec S-14).
type Approvals interface {
	// Examine reads what e consists of at this moment, in being its
	// instructions, and compares it with what was approved. The error is that of
	// ctx: what cannot be read is a Note.
	Examine(ctx context.Context, e *catalog.Entry, in skill.Instructions) (Content, error)
}

// A Content is what a skill consists of, and how it stands towards what was
// approved.
type Content struct {
	Hash     string   // spec S-14; empty if it could not be read
	Terms    string   // the same for what holds of the frontmatter
	Approved bool     // the person allowed exactly this for good
	Changed  []string // what differs from what they allowed
	Diff     string
	Note     string                          // for the person, such as why it cannot be kept
	Keep     func(ctx context.Context) error // allows exactly this for good; nil if that is not possible
}

func (c Content) key() string { return c.Hash + ":" + c.Terms }

// bound reports whether an answer for good covers only what the skill consists
// of (spec S-14). A person's own skills are theirs to change.
func bound(o skill.Origin) bool {
	return o.FromWorkspace() || o.Source == skill.Plugin || o.Remote()
}

// approval is what is known of the person's word for an admitted call.
type approval struct {
	content  Content // what they said yes to; without a hash nothing is known
	approved bool
	moved    bool     // it changed while they were asked
	stale    bool     // it was another content when the first command was to start
	notices  []string // for the person
}

// grantsRemote reports whether what a remote skill grants is in force: the
// person allowed exactly this text (spec C-13).
func (a *admitted) grantsRemote(ctx context.Context) (bool, error) {
	if a.approved || !a.entry.Origin.Remote() || len(a.entry.Run.AllowedTools) == 0 {
		return a.approved, nil
	}
	c, err := a.examine(ctx, *a.in)
	return err == nil && a.standing(c), err
}

// maxAsks is how often a person is asked about a skill that changes meanwhile.
const maxAsks = 3

// carryOut finds, authorizes and compiles. What was approved is what is
// compiled: when a file of the skill changes before its first command starts,
// nothing starts, and everything is decided anew.
func carryOut(ctx context.Context, req Request, env Env, toRun bool) (*Result, error) {
	for range maxAsks {
		a, err := admit(ctx, req, env, toRun)
		if err != nil {
			return nil, err
		}
		r, err := a.compile(ctx)
		if !a.stale {
			if err == nil && toRun {
				r.hash = a.auditedHash(ctx)
			}
			return r, err
		}
	}
	return nil, errors.New("skill " + Named(req.Name) + ": its files keep changing while it is started, so it was not")
}

// approve lets a skill through that has only safe properties (spec S-4) or is
// approved as it is, and asks the person about any other.
func (a *admitted) approve(ctx context.Context) error {
	for range maxAsks {
		again, err := a.approveOnce(ctx)
		if err != nil || !again {
			return err
		}
		// What the person saw is not what would run.
		a.moved = true
		a.in = nil
		if err := a.load(ctx); err != nil {
			return err
		}
	}
	return &RefusedError{ID: idOf(a.entry), By: a.req.By, Rule: "S-14",
		Reason: "its files keep changing while the person is asked about them", Fix: "start it again when they are at rest"}
}

func (a *admitted) approveOnce(ctx context.Context) (again bool, err error) {
	d := a.env.Rules.Decide(skillRequest(a.entry, a.req, a.env))
	unsafe := Unsafe(a.entry, *a.in, a.env)
	if d.Rule == nil && len(unsafe) == 0 {
		d.Reason = "all its properties are safe"
		a.note(d, permission.Allow.String())
		return false, nil
	}
	c, err := a.examine(ctx, *a.in)
	if err != nil {
		return false, err
	}
	a.env.hash = c.Hash
	if d.Rule == nil && a.standing(c) {
		a.content, a.approved = c, true
		d.Reason = "exactly this content was approved before"
		a.note(d, permission.Allow.String())
		return false, nil
	}
	answer, err := a.put(ctx, a.question(d, unsafe, c), d)
	if err != nil {
		return false, err
	}
	now, same, err := a.sameAs(ctx, c)
	if err != nil || !same {
		return !same, err
	}
	a.content, a.approved = now, true
	a.note(d, outcomeApproved)
	a.keep(ctx, answer, c, d)
	return false, nil
}

// note writes down what was decided about the skill (spec S-12).
func (a *admitted) note(d permission.Decision, outcome string) {
	a.env.noteDecision(agentOf(a.req), "Skill", a.entry, d, outcome, "")
}

// standing reports whether c was let through before, for good or for this
// session.
func (a *admitted) standing(c Content) bool {
	if c.Hash == "" {
		return false
	}
	return c.Approved && bound(a.entry.Origin) ||
		a.env.Session != nil && a.env.Session.Approved(agentOf(a.req), a.entry.Qualified, c.key())
}

func (a *admitted) examine(ctx context.Context, in skill.Instructions) (Content, error) {
	if a.env.Approvals == nil {
		return Content{}, nil
	}
	c, err := a.env.Approvals.Examine(ctx, a.entry, in)
	if err != nil {
		return c, fmt.Errorf("reading skill %q: %w", idOf(a.entry), err)
	}
	return c, nil
}

// sameAs reads everything again and reports whether it is what c says. Without
// a hash nobody can tell, beyond the text, which is never read again.
func (a *admitted) sameAs(ctx context.Context, c Content) (now Content, same bool, err error) {
	if c.Hash == "" {
		return c, true, nil
	}
	in, err := a.read(ctx)
	if err != nil {
		return c, false, fmt.Errorf("reading skill %q: %w", idOf(a.entry), err)
	}
	now, err = a.examine(ctx, in)
	return now, err == nil && now.key() == c.key() && in.Text == a.in.Text, err
}

// question is what the person has to know.
func (a *admitted) question(d permission.Decision, unsafe []string, c Content) Question {
	q := Question{
		Skill: idOf(a.entry), Source: a.entry.Origin.Source, Path: a.entry.Origin.Path,
		Unsafe: unsafe, Details: Details(a.entry, *a.in, a.env), Reason: d.Reason, Suggest: d.Suggest,
		Changed: c.Changed, Diff: c.Diff, Note: c.Note, Firm: d.Rule != nil,
	}
	if a.moved {
		q.Note = strings.TrimSuffix("its files have changed while you were asked; "+q.Note, "; ")
	}
	if d.Rule != nil {
		return q
	}
	q.Reason = "it needs approval for " + list(unsafe)
	if a.env.Session != nil && c.Hash != "" {
		q.Keeps = append(q.Keeps, ForSession)
	}
	if bound(a.entry.Origin) && c.Keep != nil || !bound(a.entry.Origin) && a.env.Keeper != nil && len(q.KeptRules()) > 0 {
		q.Keeps = append(q.Keeps, Always)
	}
	return q
}

// put asks, and turns anything but a yes into an error.
func (a *admitted) put(ctx context.Context, q Question, d permission.Decision) (Answer, error) {
	refused := &RefusedError{ID: idOf(a.entry), By: a.req.By, Rule: "S-2"}
	answer, err := ask(ctx, a.env, q)
	switch {
	case errors.Is(err, ErrNobody):
		refused.Reason = q.Reason + ", and nobody is here to ask"
		if len(q.Changed) > 0 {
			refused.Reason = q.Reason + " again, because it is not what was approved (" + strings.Join(q.Changed, ", ") + "), and nobody is here to ask"
		}
		refused.Fix = howToAllow(d)
		a.note(d, permission.Deny.String())
		return answer, refused
	case err != nil:
		return answer, fmt.Errorf("asking about skill %q: %w", idOf(a.entry), err)
	case !answer.Allow:
		refused.Reason = declined(answer)
		a.note(d, outcomeDeclined)
		return answer, refused
	case !slices.Contains(q.Keeps, answer.Keep):
		answer.Keep = Once
	}
	return answer, nil
}

// keep remembers a yes. What cannot be kept holds for this one call, and the
// person is told.
func (a *admitted) keep(ctx context.Context, answer Answer, c Content, d permission.Decision) {
	if answer.Keep == Once {
		return
	}
	if a.env.Session != nil && c.Hash != "" {
		a.env.Session.Approve(agentOf(a.req), a.entry.Qualified, c.key())
	}
	if answer.Keep != Always {
		return
	}
	var err error
	if bound(a.entry.Origin) {
		err = c.Keep(ctx)
	} else {
		err = a.env.Keeper.Allow(ctx, Question{Suggest: d.Suggest}.KeptRules())
	}
	if err != nil {
		a.notices = append(a.notices, fmt.Sprintf("skill %s is allowed for now only: %v", idOf(a.entry), err))
	}
}

// Details says what e does beyond giving instructions, one thing each: what it
// grants, registers and runs.
func Details(e *catalog.Entry, in skill.Instructions, env Env) []string {
	var out []string
	for _, rule := range prompt.ExpandRules(e.Run.AllowedTools, vars(e, in, env)) {
		out = append(out, "allows without asking: "+rule)
	}
	for _, g := range e.Run.Hooks {
		for _, h := range g.Handlers {
			out = append(out, fmt.Sprintf("runs on %s: %s", g.Event, handlerText(h)))
		}
	}
	if e.Run.Shell != "" && e.Run.Shell != "bash" {
		out = append(out, "runs its commands in: "+e.Run.Shell)
	}
	for _, line := range prompt.Lines(e.Skill, in, vars(e, in, env), env.Environ) {
		out = append(out, "runs at once: "+line)
	}
	for _, other := range e.Run.Requires {
		out = append(out, "needs the skill: "+other)
	}
	return out
}

func handlerText(h hook.Handler) string {
	switch h.Type {
	case hook.Command:
		return strings.Join(append([]string{h.Command}, h.Args...), " ")
	case hook.HTTP:
		return h.Type + " " + h.URL
	case hook.MCPTool:
		return h.Type + " " + h.Server + " " + h.Tool
	}
	return h.Type + " " + h.Prompt
}

// checked returns the shell for the commands of a skill that was approved as it
// was: it starts nothing if that is not what is there any more.
func (a *admitted) checked(ctx context.Context, run shell.Runner) shell.Runner {
	if run == nil || a.content.Hash == "" {
		return run
	}
	return &checkedShell{Runner: run, check: sync.OnceValue(func() error {
		_, same, err := a.sameAs(ctx, a.content)
		if err == nil && !same {
			err = errors.New("a file of the skill has changed since it was approved")
		}
		a.stale = err != nil
		return err
	})}
}

// A checkedShell looks once, before the first command starts: commands may
// change the files of their own skill.
type checkedShell struct {
	shell.Runner
	check func() error
}

// Run starts the command if nothing has changed.
func (s *checkedShell) Run(ctx context.Context, c shell.Command) (shell.Output, error) {
	if err := s.check(); err != nil {
		return shell.Output{}, err
	}
	return s.Runner.Run(ctx, c)
}

// Available passes the question on (spec P-13).
func (s *checkedShell) Available(name string) error {
	if r, ok := s.Runner.(interface{ Available(string) error }); ok {
		return r.Available(name)
	}
	return nil
}
