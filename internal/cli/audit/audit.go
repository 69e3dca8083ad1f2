// Package audit is `knack audit` (spec S-12): what was decided, run and
// invoked, by the audit log.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/state"
	"github.com/knack-skills/knack/text"
)

type options struct {
	flags  *workspace.Flags
	filter audit.Filter
	since  string
	until  string
	file   string
	last   int
	follow bool
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show the audit log: decisions, commands, invocations",
		Long: `Audit prints the audit log of this machine's user, oldest record first: every
decision about a call, every command that ran, every invocation of a skill,
every hook. The file is audit.jsonl in the state directory (KNACK_STATE_DIR).

A filter may be given several times: any of its values will do, and all
filters have to hold. In a value "*" stands for any text. Times are like
2026-11-30, "2026-11-30 14:00", 2026-11-30T14:00:00Z, or an age such as 90m or
7d.

With --json lines are printed as they are stored. Damaged lines, which a crash
or a full disk may leave, are reported on standard error.`,
		Example: `  knack audit --last 20
  knack audit --outcome deny --since 7d
  knack audit --kind command --skill "deploy*" -v
  knack audit --follow --json | jq .outcome`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringVar(&o.since, "since", "", "only records from `TIME` on")
	fl.StringVar(&o.until, "until", "", "only records before `TIME`")
	for _, by := range []struct {
		name, arg, of string
		to            *[]string
	}{
		{"kind", "KIND", "decision, command, invocation or hook", &o.filter.Kind},
		{"outcome", "WORD", "allow, ask, deny, ok, error, …", &o.filter.Outcome},
		{"tool", "NAME", "the tool that was called", &o.filter.Tool},
		{"skill", "ID", "the skill", &o.filter.Skill},
		{"rule", "RULE", "the rule that decided", &o.filter.Rule},
		{"source", "SOURCE", "where rule or skill come from", &o.filter.Source},
		{"session", "ID", "the session", &o.filter.Session},
		{"agent", "ID", "the agent; main is the main one", &o.filter.Agent},
	} {
		fl.StringArrayVar(by.to, by.name, nil, "only `"+by.arg+"`: "+by.of)
	}
	fl.IntVar(&o.last, "last", 0, "only the last `N` records")
	fl.BoolVarP(&o.follow, "follow", "f", false, "go on with new records until interrupted")
	fl.StringVar(&o.file, "file", "", "read `FILE`, such as one that was rotated away")
	fixed := func(flag string, words ...string) {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	fixed("kind", string(audit.Decision), string(audit.Command), string(audit.Invocation), string(audit.Hook))
	fixed("outcome", "allow", "ask", "deny", "approved", "declined", "ok", "error", "timeout", "blocked")
	return cmd
}

func (o *options) run(cmd *cobra.Command) error {
	if cmd.Flags().Changed("last") && o.last <= 0 {
		return output.Usagef("--last: %d is not a positive number", o.last)
	}
	var err error
	now := time.Now()
	if o.filter.Since, err = readTime("--since", o.since, now); err != nil {
		return err
	}
	if o.filter.Until, err = readTime("--until", o.until, now); err != nil {
		return err
	}
	path, err := o.path()
	if err != nil {
		return err
	}
	p := &printer{out: cmd.OutOrStdout(), errw: cmd.ErrOrStderr(), path: path, style: o.flags.Style(cmd.OutOrStdout()),
		json: o.flags.JSON, verbose: o.flags.Verbose}
	if o.follow {
		return o.goOn(cmd.Context(), p)
	}
	if err := o.print(cmd.Context(), p); err != nil {
		return err
	}
	return o.nothing(p)
}

// path is the log's file.
func (o *options) path() (string, error) {
	if o.file != "" {
		if _, err := os.Stat(o.file); err != nil {
			return "", output.Usagef("--file: %v", err)
		}
		return o.file, nil
	}
	home, _ := os.UserHomeDir() // state.Dir says what is missing
	dir, err := state.Dir(os.Getenv, home)
	return filepath.Join(dir, audit.FileName), err
}

// print prints what is there.
func (o *options) print(ctx context.Context, p *printer) error {
	if o.last > 0 {
		list, err := audit.Last(ctx, p.path, o.filter, o.last)
		for _, e := range list {
			p.entry(&e)
		}
		return errors.Join(err, p.err)
	}
	for e, err := range audit.Read(ctx, p.path, o.filter) {
		if err != nil {
			return err
		}
		if p.entry(&e); p.err != nil {
			return p.err
		}
	}
	return nil
}

// nothing says so when no record was printed.
func (o *options) nothing(p *printer) error {
	if p.records > 0 {
		return nil
	}
	say := "No record of " + p.name() + " matches."
	if fi, err := os.Stat(p.path); err != nil || fi.Size() == 0 {
		say = "There is no audit log yet: " + p.name() + " appears with the first decision."
	}
	fmt.Fprintln(p.errw, say)
	return nil
}

// The rhythm of --follow, and how much of what is there it shows first.
const (
	followEvery = 250 * time.Millisecond
	followFrom  = 10
)

// goOn prints the last records and then each one that comes.
func (o *options) goOn(ctx context.Context, p *printer) (err error) {
	w, err := audit.NewFollower(p.path, o.filter)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if o.last == 0 {
		o.last = followFrom
	}
	if err := o.print(ctx, p); err != nil {
		return err
	}
	// What came in between was seen by both.
	more, err := w.Step(func(e audit.Entry) bool {
		if e.Line > p.line {
			p.entry(&e)
		}
		return p.err == nil
	})
	if err != nil || !more {
		return errors.Join(err, p.err)
	}
	for e, err := range audit.Follow(ctx, w, followEvery) {
		if err != nil {
			return err
		}
		if p.entry(&e); p.err != nil {
			return p.err
		}
	}
	return ctx.Err()
}

// A printer prints entries in one of the two formats.
type printer struct {
	out, errw io.Writer
	path      string
	style     output.Style
	json      bool
	verbose   bool

	records int
	line    int   // of the last entry
	err     error // the first failed write
}

func (p *printer) name() string { return output.Tilde(text.Terminal(p.path)) }

// entry prints one entry.
func (p *printer) entry(e *audit.Entry) {
	p.line = e.Line
	if e.Damage != "" {
		fmt.Fprintf(p.errw, "%s:%d: damaged line: %s\n", p.name(), e.Line, text.Terminal(e.Damage))
		return
	}
	if p.err != nil {
		return
	}
	switch {
	case p.json:
		_, p.err = fmt.Fprintf(p.out, "%s\n", e.Raw)
	default:
		if p.records == 0 {
			p.head()
		}
		p.row(&e.Record)
	}
	p.records++
}
