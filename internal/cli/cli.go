// Package cli is the command line (spec chapter 14). Each command lives in a
// package of its own below this one; here they meet, with the flags they share
// and the exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/knack-skills/knack/internal/cli/audit"
	"github.com/knack-skills/knack/internal/cli/check"
	"github.com/knack-skills/knack/internal/cli/doctor"
	"github.com/knack-skills/knack/internal/cli/explain"
	"github.com/knack-skills/knack/internal/cli/hooks"
	"github.com/knack-skills/knack/internal/cli/list"
	"github.com/knack-skills/knack/internal/cli/listing"
	"github.com/knack-skills/knack/internal/cli/mcp"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/permissions"
	"github.com/knack-skills/knack/internal/cli/plugin"
	"github.com/knack-skills/knack/internal/cli/render"
	"github.com/knack-skills/knack/internal/cli/run"
	"github.com/knack-skills/knack/internal/cli/scaffold"
	"github.com/knack-skills/knack/internal/cli/search"
	"github.com/knack-skills/knack/internal/cli/show"
	"github.com/knack-skills/knack/internal/cli/version"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/text"
)

// Main runs the command line and returns the exit code.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	data := &output.Checked{W: out}
	f := &workspace.Flags{}
	root := tree(f)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(data)
	root.SetErr(errw)
	err := errors.Join(root.ExecuteContext(ctx), f.Close())
	if data.Err != nil && (err == nil || errors.Is(err, output.ErrFound)) {
		err = data.Err
	}
	if err != nil {
		output.Explain(errw, err)
	}
	return output.ExitCode(err)
}

// Root returns the whole command tree. Reference pages are generated from it.
func Root() *cobra.Command { return tree(&workspace.Flags{}) }

func tree(f *workspace.Flags) *cobra.Command {
	r := &run.Options{Flags: f}
	root := &cobra.Command{
		Use:   "knack",
		Short: "Skills for AI agents: find, explain, check and run them",
		Long: `Knack finds the skills of a workspace (folders with a SKILL.md), tells a model
in about 1 % of its context which exist, and compiles one into the text that is
injected when a person types /name or a model calls it.

Models: anthropic/ID, openai/ID, openai-chat/ID, gemini/ID, scripted:FILE, an
alias such as sonnet, or offline, which is taken when no key is set.
Permission modes: default, acceptEdits, plan, dontAsk, bypassPermissions.

Exit codes: 0 fine, 1 failed or found errors, 2 wrong usage, 3 denied by
permissions, 130 cancelled.`,
		Example: `  knack list
  knack -p "/simplify src"
  knack -p "please commit my work"
  knack render deploy staging --trace
  knack check --fix`,
		Args:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return start(cmd, r) },
	}
	f.Version = version.Version
	f.Register(root.PersistentFlags())
	r.Register(root)
	for _, sub := range []func(*workspace.Flags) *cobra.Command{
		list.New, show.New, explain.New, render.New, listing.New, search.New,
		check.New, scaffold.New, permissions.New, hooks.New, mcp.New, audit.New, plugin.New, plugin.NewAdd, doctor.New, version.New,
	} {
		root.AddCommand(sub(f))
	}
	root.SetHelpCommand(newHelp())
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	usageErrors(root)
	return root
}

// start answers -p; the terminal interface does not exist yet (spec K-13).
func start(cmd *cobra.Command, r *run.Options) error {
	if cmd.Flags().Changed("print") {
		return r.Run(cmd)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), cmd.UsageString())
	return output.Usagef("there is no interactive terminal in this version: give a prompt with -p, for example `knack -p \"/simplify src\"`, or see `knack --help`")
}

// newHelp is the help command; unlike cobra's own it fails on unknown topics.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  knack help render",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var out []string
			if at, _, err := c.Root().Find(args); err == nil {
				for _, sub := range at.Commands() {
					if sub.IsAvailableCommand() {
						out = append(out, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(c.Root(), args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// noCommand refuses words after the name of a command that only has others
// below it, with the commands that are most like the word.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("%q is no command of %s", args[0], cmd.CommandPath())
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if near := text.Near(args[0], names, 3); len(near) > 0 {
		msg += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return output.Usagef("%s (see `%s --help`)", msg, cmd.CommandPath())
}

// usageErrors makes wrong flags and arguments exit 2, with the nearest flag.
func usageErrors(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		msg := err.Error()
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			if near := nearFlag(c, unknown.GetSpecifiedName()); near != "" {
				msg += "; did you mean --" + near + "?"
			}
		}
		return output.Usagef("%s (see `%s --help`)", msg, c.CommandPath())
	})
	for _, c := range append(slices.Clone(cmd.Commands()), cmd) {
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				err := check(c, args)
				var usage *output.UsageError
				if err == nil || errors.As(err, &usage) {
					return err
				}
				if c.HasSubCommands() {
					return noCommand(c, args)
				}
				return output.Usagef("%s; the form is `%s` (see `%s --help`)", given(args), form(c), c.CommandPath())
			}
		}
		for _, sub := range c.Commands() {
			if c != cmd {
				usageErrors(sub)
			}
		}
	}
}

// given counts the arguments of a wrong call.
func given(args []string) string {
	switch len(args) {
	case 0:
		return "an argument is missing"
	case 1:
		return fmt.Sprintf("1 argument was given, %q", args[0])
	}
	return fmt.Sprintf("%d arguments were given", len(args))
}

// form is how a command is called, without its flags.
func form(c *cobra.Command) string {
	if !c.HasParent() {
		return c.Use
	}
	return c.Parent().CommandPath() + " " + c.Use
}

// nearFlag returns the flag of c that is most like name, or "".
func nearFlag(c *cobra.Command, name string) string {
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	return strings.Join(text.Near(name, flags, 1), "")
}
