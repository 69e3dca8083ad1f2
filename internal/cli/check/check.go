// Package check is `knack check` (spec K-6): everything that is wrong with
// skill files, and the repairs that are safe to make.
package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/lint"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/source/dir"
)

type report struct {
	Checked  int             `json:"checked"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
	Problems []skill.Problem `json:"problems"`
}

type options struct {
	flags   *workspace.Flags
	profile string
	format  string
	fix     bool
	strict  bool
	secure  bool
	lint    lint.Options
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "check [PATH...]",
		Short: "Find mistakes in skill files, and repair the safe ones",
		Long: `Check skill files. A PATH is a skill directory, a SKILL.md or command file, a
plugin, or a directory that holds any number of them; without one, every skill
of the workspace is checked.

--fix rewrites only the faulty lines of the frontmatter; comments, order and
the text of the skill stay as they are. The agentskills profile also reports
what the portable standard would reject.

--security looks for what a skill could do to you instead, before you trust a
stranger's: hidden text, instructions against you, commands that download and
run, secrets, grants of everything, hooks, links and look-alike names. It reads
the files beside a skill as well, runs nothing and follows no link. What only
explains a command, or warns of an attack, is a hint; -v shows hints. Nothing is
accepted by a comment in a file: an attacker could write it too.

Exit 1 on errors, with --strict also on warnings.`,
		Example: `  knack check
  knack check .claude/skills/deploy --fix
  knack check --security ~/Downloads/some-plugin
  knack check skills/ --profile agentskills --format sarif`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	cmd.Flags().StringVar(&o.profile, "profile", string(lint.Knack), "check by `PROFILE`: knack or agentskills")
	cmd.Flags().StringVar(&o.format, "format", "text", "print as `FORMAT`: text, json, sarif or github")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "rewrite faulty frontmatter lines")
	cmd.Flags().BoolVar(&o.secure, "security", false, "look for what a skill could do to you")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings too")
	for _, name := range []string{"profile", "format"} {
		cmd.Flags().Lookup(name).DefValue = "" // the first that the text names
	}
	_ = cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions([]string{"knack", "agentskills"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "sarif", "github"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	if o.flags.JSON {
		o.format = "json"
	}
	if !slices.Contains([]string{"text", "json", "sarif", "github"}, o.format) {
		return output.Usagef("--format: %q is none of text, json, sarif, github", o.format)
	}
	if o.profile != string(lint.Knack) && o.profile != string(lint.AgentSkills) {
		return output.Usagef("--profile: %q is neither knack nor agentskills", o.profile)
	}
	if o.secure {
		return o.security(cmd, args)
	}
	progress := output.NewProgress(cmd.ErrOrStderr(), "checked")
	defer progress.Done()
	e, err := o.flags.Open(cmd)
	if err != nil {
		return err
	}
	o.lint = lintOptions(o.profile, e.Settings())
	targets, problems, err := o.collect(cmd.Context(), e, args)
	if err != nil {
		return err
	}
	for i := range targets {
		progress.Step(i, len(targets))
		if o.fix {
			if err := repair(cmd.Context(), cmd.ErrOrStderr(), &targets[i]); err != nil {
				return err
			}
		}
		problems = append(problems, o.problemsOf(targets[i])...)
	}
	r := newReport(len(targets), problems)
	if err := write(cmd.OutOrStdout(), o.format, e.ProjectDir(), r); err != nil {
		return err
	}
	if r.Errors > 0 || o.strict && r.Warnings > 0 {
		return output.ErrFound
	}
	return nil
}

func (o *options) collect(ctx context.Context, e *knack.Engine, args []string) ([]target, []skill.Problem, error) {
	if len(args) == 0 {
		targets, rest := inCatalog(e)
		return targets, slices.Concat(rest, lint.Catalog(e.Snapshot(), o.lint)), nil
	}
	var targets []target
	var problems []skill.Problem
	for _, a := range args {
		if !filepath.IsAbs(a) {
			a = filepath.Join(e.Dir(), a)
		}
		t, p, err := below(ctx, e, a)
		if err != nil {
			return nil, nil, err
		}
		targets, problems = append(targets, t...), append(problems, p...)
	}
	return targets, problems, nil
}

func lintOptions(profile string, s *settings.Settings) lint.Options {
	o := lint.Options{Profile: lint.Profile(profile), ArgumentBase: s.ArgumentBaseValue()}
	if s.SkillListingMaxDescChars != nil {
		o.MaxDescChars = *s.SkillListingMaxDescChars
	}
	return o
}

func (o *options) problemsOf(t target) []skill.Problem {
	if t.skill == nil {
		return t.problems
	}
	data, err := os.ReadFile(t.path)
	if err != nil {
		return append(t.problems, skill.Problem{Code: "unreadable", Severity: skill.Error, Path: t.path,
			Message: err.Error(), Fix: "make it readable, or leave it out"})
	}
	return slices.Concat(t.problems, lint.File(t.skill, data, o.lint))
}

// repair rewrites what is faulty in one file (spec F-10) and reads it again.
func repair(ctx context.Context, w io.Writer, t *target) error {
	if err := ctx.Err(); err != nil || t.skill == nil {
		return err
	}
	data, err := os.ReadFile(t.path)
	if err != nil {
		return nil // reported by problemsOf
	}
	fixed, changes := frontmatter.Fix(data)
	if len(changes) == 0 || bytes.Equal(fixed, data) {
		return nil
	}
	if err := replace(t.path, fixed); err != nil {
		return fmt.Errorf("repairing %s: %w", t.path, err)
	}
	for _, c := range changes {
		fmt.Fprintf(w, "fixed %s:%d: %s\n", t.path, c.Line, c.Reason)
	}
	*t = load(dir.Root{}, t.path) // where it leads to was judged before
	return nil
}

// replace writes a file in one step, through a link to the file behind it.
func replace(path string, data []byte) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	fi, err := os.Stat(real)
	if err != nil {
		return err
	}
	return writeFile(real, data, fi.Mode().Perm())
}

func newReport(checked int, problems []skill.Problem) report {
	r := report{Checked: checked, Problems: slices.Clone(problems)}
	slices.SortFunc(r.Problems, skill.CompareProblems)
	r.Problems = slices.CompactFunc(r.Problems, func(a, b skill.Problem) bool { return a == b })
	for _, p := range r.Problems {
		switch p.Severity {
		case skill.Error:
			r.Errors++
		case skill.Warning:
			r.Warnings++
		}
	}
	if r.Problems == nil {
		r.Problems = []skill.Problem{}
	}
	return r
}
