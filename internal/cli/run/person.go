package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/agent/tool/question"
	"github.com/knack-skills/knack/internal/cli/ask"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/text"
)

// A person answers questions of a run, if they sit at a terminal. A nil person
// is nobody.
type person struct {
	terminal *ask.Terminal
	stderr   io.Writer
	silent   bool // the mode is dontAsk, so nothing is asked
}

// newPerson finds out whether somebody is there.
func (o *Options) newPerson(cmd *cobra.Command) *person {
	t := ask.Open(cmd.ErrOrStderr(), o.Flags.NoColor)
	if t == nil {
		return nil
	}
	return &person{terminal: t, stderr: cmd.ErrOrStderr(), silent: agent.Mode(o.Mode) == agent.ModeDontAsk}
}

// settle learns from the settings whether questions are wanted at all.
func (p *person) settle(o *Options, e *knack.Engine) {
	if p != nil {
		p.silent = cmp.Or(agent.Mode(o.Mode), agent.Mode(e.Settings().Permissions.DefaultMode)) == agent.ModeDontAsk
	}
}

// Close gives the terminal back.
func (p *person) Close() error {
	if p == nil {
		return nil
	}
	return p.terminal.Close()
}

// Ask implements [invoke.Asker].
func (p *person) Ask(ctx context.Context, q invoke.Question) (invoke.Answer, error) {
	if p.silent {
		return invoke.Answer{}, invoke.ErrNobody
	}
	return p.terminal.Ask(ctx, q)
}

// asker is p for questions of permission; nil is nobody.
func (p *person) asker() invoke.Asker {
	if p == nil {
		return nil
	}
	return p
}

// questions is p for the tool AskUserQuestion; nil is nobody.
func (p *person) questions() question.Asker {
	if p == nil || p.silent {
		return nil
	}
	return ask.Questions{Terminal: p.terminal}
}

// meet asks, the first time in a repository, whether it is trusted (spec S-9).
// again reports that it is now, so that it has to be read again.
func (p *person) meet(ctx context.Context, o *Options, e *knack.Engine) (again bool, err error) {
	if p == nil {
		return false, nil
	}
	p.settle(o, e)
	_, known, err := e.TrustStore().Trusted(e.ProjectDir())
	if p.silent || known || err != nil {
		return false, nil // what is wrong with the store is a problem of the engine
	}
	off, err := e.Inert(ctx)
	if err != nil || len(off) == 0 {
		return false, err
	}
	yes, known, err := p.terminal.Confirm(ctx, trustText(e, off), "Trust this repository?")
	if err != nil || !known {
		return false, err
	}
	if err := e.TrustStore().Store(e.ProjectDir(), yes); err != nil {
		fmt.Fprintln(p.stderr, "notice: the answer holds for this run only: "+text.Terminal(err.Error()))
		o.Flags.Trust = yes
	}
	return yes, nil
}

// trustText says what trusting means, and what it would switch on.
func trustText(e *knack.Engine, off []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nYou start in this repository for the first time:\n%s", ask.Lines("  ", 1, e.ProjectDir()))
	b.WriteString("It brings what works only in a repository that you trust:\n")
	b.WriteString(ask.Lines("  - ", maxListed, off...))
	b.WriteString("Without trust its skills load, and these things stay off. The answer is kept;\n" +
		"`knack doctor --trust` and `knack doctor --distrust` change it.\n")
	return b.String()
}

const maxListed = 40 // rows of what trust would switch on
