package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/internal/cli/ask"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/lint"
	"github.com/knack-skills/knack/plugin"
)

// NewAdd returns the command add.
func NewAdd(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "add PATH|URL",
		Short: "Add a skill, a bundle or a plugin from a file, directory or URL",
		Long: `Add what is at a path or URL: a skill folder or a .skill file becomes a skill
of the user or of the project, an .mcpb or .dxt bundle and a plugin are
installed as plugins. What it brings is shown first, and nothing of it runs.`,
		Example: `  knack add ./release-notes
  knack add review.skill --scope project
  knack add server.mcpb --yes
  knack add https://example.org/review.skill`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.add(cmd, args[0]) },
	}
	o.scopeFlag(cmd, "user")
	o.sourceFlags(cmd)
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "agree to what it brings")
	cmd.Flags().StringArrayVar(&o.values, "config", nil, "set an option of the plugin (`KEY=VALUE`, repeatable)")
	return cmd
}

func (o *options) add(cmd *cobra.Command, arg string) error {
	p, err := o.open(cmd)
	if err != nil {
		return err
	}
	where, err := p.where(o.scope)
	if err != nil {
		return err
	}
	from, ok, err := o.origin(arg)
	if err != nil {
		return err
	}
	if !ok {
		return output.Usagef("%q is no file, directory or URL", arg)
	}
	in, stop := p.installer(from.String())
	lone, all, err := in.Add(cmd.Context(), from)
	stop()
	defer discard(all)
	if err != nil {
		return denied(err)
	}
	if lone == nil {
		return p.finish(all, where)
	}
	defer lone.Discard()
	return p.addSkill(lone, where)
}

// An added skill is what --json prints of it.
type added struct {
	ID      string       `json:"id"`
	Scope   plugin.Scope `json:"scope"`
	Path    string       `json:"path"`
	Dir     string       `json:"dir"`
	From    string       `json:"from"`
	Outcome string       `json:"outcome"` // installed, updated or current
	Missing []string     `json:"missing"` // what it speaks of and that is not here
}

func (p place) addSkill(l *plugin.Lone, where plugin.Where) error {
	var skills string
	switch where.Scope {
	case plugin.User:
		if p.UserDir() == "" {
			return fmt.Errorf("there is no home directory to write to; set HOME or CLAUDE_CONFIG_DIR")
		}
		skills = filepath.Join(p.UserDir(), "skills")
	case plugin.Project:
		skills = filepath.Join(p.Dir(), ".claude", "skills")
	default:
		return output.Usagef("--scope: a skill is added for the user or the project, not %s", where.Scope)
	}
	if file, strict := p.Settings().PluginOnly("skills"); strict {
		return &output.DeniedError{Text: "skills may come from plugins alone: strictPluginOnlyCustomization in " + file}
	}
	out := added{ID: l.Name, Scope: where.Scope, From: l.From.String(), Outcome: "installed", Missing: p.missing(l)}
	target := filepath.Join(skills, l.Name)
	if same(target, l.From.String()) {
		out.Outcome, out.Dir, out.Path = "current", target, filepath.Join(target, "SKILL.md")
		return p.printAdded(out)
	}
	if _, err := os.Lstat(target); err == nil {
		out.Outcome = "updated"
	}
	if err := p.consent(p.skillSummary(l, out, skills), "Add it?"); err != nil {
		return err
	}
	dir, err := l.Install(p.cmd.Context(), skills)
	if err != nil {
		return err
	}
	out.Dir, out.Path = dir, filepath.Join(dir, "SKILL.md")
	return p.printAdded(out)
}

func (p place) printAdded(out added) error {
	if p.o.flags.JSON {
		return output.JSON(p.cmd.OutOrStdout(), out)
	}
	_, err := fmt.Fprintf(p.cmd.OutOrStdout(), "%s %s\n", out.Outcome, show(out.Path))
	return err
}

// same reports whether two paths are one directory: a skill that is added from
// where it would go is left as it is.
func same(a, b string) bool {
	fa, errA := os.Stat(a)
	fb, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(fa, fb)
}

// skillSummary is what a person is shown before they agree.
func (p place) skillSummary(l *plugin.Lone, out added, skills string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This adds the skill %s to %s\n", show(l.Name), show(skills))
	b.WriteString(ask.Lines("from ", 3, l.From.String()))
	if l.Skill.Description != "" {
		b.WriteString(ask.Lines("", 4, l.Skill.Description))
	}
	fmt.Fprintf(&b, "%d files, %s\n", l.Files, size(l.Bytes))
	if out.Outcome == "updated" {
		b.WriteString("It replaces the skill of that name.\n")
	}
	if in, err := l.Skill.Content.Body.Load(p.cmd.Context()); err == nil {
		b.WriteString(ask.Lines("", maxShown, invoke.Details(&catalog.Entry{Skill: l.Skill}, in, p.Env())...))
	}
	for _, s := range l.Skipped {
		b.WriteString(ask.Lines("left out: ", 3, s))
	}
	for _, m := range out.Missing {
		b.WriteString(ask.Lines("speaks of what is not here: ", 3, m))
	}
	return b.String()
}

// missing lists what a skill needs or speaks of and that is not here: what it
// requires, the skills that lie beside it at its origin, and files of its own.
func (p place) missing(l *plugin.Lone) []string {
	out := []string{}
	add := func(name string) {
		if _, err := p.Snapshot().Resolve(name); err != nil && name != l.Name && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, r := range l.Skill.Run.Requires {
		add(r)
	}
	data, err := os.ReadFile(filepath.Join(l.Dir, "SKILL.md"))
	if err != nil {
		return out
	}
	// How a text speaks of another skill: `name`, `/name` or a path beside it.
	named := regexp.MustCompile("`/?([a-z0-9]+(?:-[a-z0-9]+)*)`|\\.\\./([a-z0-9]+(?:-[a-z0-9]+)*)/")
	for _, m := range named.FindAllStringSubmatch(string(data), -1) {
		if m[2] != "" || p.beside(l.From, m[1]) {
			add(m[1] + m[2])
		}
	}
	for _, problem := range lint.File(l.Skill, data, lint.Options{}) {
		if problem.Code == "missing-resource" {
			out = append(out, problem.Message)
		}
	}
	return out
}

// beside reports whether a skill of that name lies beside the one that is added.
func (p place) beside(from plugin.Origin, name string) bool {
	if from.Kind != plugin.Directory {
		return false
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(from.Path), name, "SKILL.md"))
	return err == nil
}
