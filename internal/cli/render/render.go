// Package render is `knack render` (spec K-3, P-14): the exact text that a call
// of a skill injects, and where each part of it came from.
package render

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
	"github.com/knack-skills/knack/turn"
)

type override struct {
	AllowedTools    []string `json:"allowed_tools"`
	DisallowedTools []string `json:"disallowed_tools"`
	Model           string   `json:"model"`
	Effort          string   `json:"effort"`
}

type report struct {
	ID       string         `json:"id"`
	Text     string         `json:"text"`
	Mode     skill.Mode     `json:"mode"`
	Override override       `json:"override"`
	Messages []turn.Message `json:"messages"`
	Trace    []prompt.Span  `json:"trace"`
	Commands []prompt.Ran   `json:"commands"`
}

type options struct {
	flags   *workspace.Flags
	args    string
	noShell bool
	trace   bool
	by      string
	session string
	yes     bool
}

// yes answers every question with yes; a deny rule is never a question.
type yes struct{}

func (yes) Ask(context.Context, invoke.Question) (invoke.Answer, error) {
	return invoke.Answer{Allow: true}, nil
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "render NAME [ARG...]",
		Short: "Compile a skill into the text that is injected",
		Long: `Print the text that a call of the skill injects: arguments and variables
inserted, inline commands run. --trace shows where each part came from.

Arguments after the name are quoted where needed, so that each stays one
argument; --args takes the argument string as a person would type it.`,
		Example: `  knack render simplify src/parser
  knack render deploy --args '"two words" staging' --trace
  knack render release-notes --no-shell`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&o.args, "args", "", "the argument `STRING`, as typed")
	fl.BoolVar(&o.noShell, "no-shell", false, "leave inline commands as they are written")
	fl.BoolVar(&o.trace, "trace", false, "show where each part of the text came from")
	fl.StringVar(&o.by, "by", "user", "compile for a `CALLER`: user or model")
	fl.StringVar(&o.session, "session-id", "", "use `ID` as the session id")
	fl.BoolVar(&o.yes, "yes", false, "answer permission questions with yes (no deny)")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"user", "model"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	by, err := workspace.By(o.by)
	if err != nil {
		return err
	}
	if len(args) > 1 && cmd.Flags().Changed("args") {
		return output.Usagef("give the arguments either after the name or with --args, not both")
	}
	line := o.args
	if len(args) > 1 {
		line = quoteAll(args[1:])
	}
	e, err := o.flags.Open(cmd, func(ko *knack.Options) {
		ko.SessionID = o.session
		if o.yes {
			ko.Ask = yes{}
		}
	})
	if err != nil {
		return err
	}
	if err := o.flags.ConnectFor(cmd, e, args[0]); err != nil {
		return err
	}
	env := e.Env()
	env.NoShell = o.noShell
	r, err := invoke.Compile(cmd.Context(), invoke.Request{Name: args[0], Args: line, By: by}, env)
	if err != nil {
		return err
	}
	for _, n := range r.Notices {
		if o.flags.Told(n, false) {
			continue
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "notice: "+text.Terminal(n))
	}
	if o.flags.JSON {
		return output.JSON(cmd.OutOrStdout(), newReport(r))
	}
	return o.print(cmd.OutOrStdout(), r)
}

func quoteAll(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = prompt.QuoteArg(a)
	}
	return strings.Join(quoted, " ")
}

func newReport(r *invoke.Result) report {
	out := report{ID: r.Entry.ID, Text: r.Text, Mode: r.Mode, Messages: r.Messages, Trace: r.Trace, Commands: r.Commands,
		Override: override{AllowedTools: r.Override.AllowedTools, DisallowedTools: r.Override.DisallowedTools,
			Model: r.Override.Model, Effort: r.Override.Effort}}
	for _, l := range []*[]string{&out.Override.AllowedTools, &out.Override.DisallowedTools} {
		if *l == nil {
			*l = []string{}
		}
	}
	if out.Trace == nil {
		out.Trace = []prompt.Span{}
	}
	if out.Commands == nil {
		out.Commands = []prompt.Ran{}
	}
	return out
}

func (o *options) print(w io.Writer, r *invoke.Result) error {
	if o.trace {
		return trace(w, o.flags.Style(w), r)
	}
	_, err := io.WriteString(w, r.Text)
	if err == nil && !strings.HasSuffix(r.Text, "\n") {
		_, err = io.WriteString(w, "\n")
	}
	return err
}

// trace prints each span under a line that says where it came from.
func trace(w io.Writer, st output.Style, r *invoke.Result) error {
	for _, s := range r.Trace {
		head := fmt.Sprintf("[%d:%d] %s", s.Start, s.End, s.Kind)
		if s.Name != "" {
			head += " " + text.Terminal(s.Name)
		}
		if s.Line > 0 {
			head += fmt.Sprintf(" from line %d, column %d", s.Line, s.Column)
		}
		if s.Kind == "command" {
			head += fmt.Sprintf(", exit %d in %d ms", s.ExitCode, s.MS)
		}
		fmt.Fprintln(w, st.Dim(head))
		for line := range strings.Lines(r.Text[s.Start:s.End]) {
			fmt.Fprintln(w, "  | "+text.Terminal(strings.TrimRight(line, "\r\n")))
		}
	}
	return nil
}
