// Package scaffold is `knack new` (spec K-10): a first SKILL.md to edit.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
)

//go:embed templates/*.md
var templates embed.FS

// portable is the name rule of the agentskills.io standard (spec F-8).
var portable = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

type options struct {
	flags    *workspace.Flags
	dir      string
	fork     bool
	template string
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a new skill to start from",
		Long: `Write a new SKILL.md that 'knack check --strict' accepts, into the skills of
the project (.claude/skills below the workspace) or of the user. Nothing that
exists is overwritten.

Templates: ` + strings.Join(names(), ", ") + `.`,
		Example: `  knack new release-notes
  knack new deploy --template command
  knack new audit-deps --dir user --fork`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	cmd.Flags().StringVar(&o.dir, "dir", "project", "where: `SCOPE` project or user")
	cmd.Flags().BoolVar(&o.fork, "fork", false, "a skill that runs in a subagent")
	cmd.Flags().StringVar(&o.template, "template", "basic", "start from template `T`")
	_ = cmd.RegisterFlagCompletionFunc("dir", cobra.FixedCompletions([]string{"project", "user"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("template", cobra.FixedCompletions(names(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// names lists the templates.
func names() []string {
	entries, err := fs.ReadDir(templates, "templates")
	if err != nil {
		panic(err) // the templates are compiled in
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".md"))
	}
	return out
}

func (o *options) run(cmd *cobra.Command, name string) error {
	if !portable.MatchString(name) || len(name) > 64 {
		return output.Usagef("%q is no portable skill name: 1 to 64 of a-z, 0-9 and single hyphens, such as release-notes", name)
	}
	if !slices.Contains(names(), o.template) {
		return output.Usagef("--template: %q is none of %s", o.template, strings.Join(names(), ", "))
	}
	e, err := o.flags.Open(cmd)
	if err != nil {
		return err
	}
	root, err := o.root(e)
	if err != nil {
		return err
	}
	text, err := o.fill(name)
	if err != nil {
		return err
	}
	file := filepath.Join(root, name, "SKILL.md")
	if err := write(file, text); err != nil {
		return err
	}
	if o.flags.JSON {
		return output.JSON(cmd.OutOrStdout(), map[string]string{"id": name, "path": file})
	}
	fmt.Fprintln(cmd.OutOrStdout(), file)
	fmt.Fprintf(cmd.ErrOrStderr(), "Edit it, then run `knack check %s` and `knack render %s`.\n", file, name)
	return nil
}

func (o *options) root(e *knack.Engine) (string, error) {
	switch o.dir {
	case "project":
		return filepath.Join(e.Dir(), ".claude", "skills"), nil
	case "user":
		if e.UserDir() == "" {
			return "", errors.New("there is no home directory to write to; set HOME or CLAUDE_CONFIG_DIR")
		}
		return filepath.Join(e.UserDir(), "skills"), nil
	}
	return "", output.Usagef("--dir: %q is neither project nor user", o.dir)
}

// fill makes the text of a template: NAME and TITLE stand for the skill's name,
// and a line "FORK agent: TYPE" for what --fork adds. A template language would
// cost the program a third of its size: reflection keeps every method linked.
func (o *options) fill(name string) ([]byte, error) {
	raw, err := templates.ReadFile(path.Join("templates", o.template+".md"))
	if err != nil {
		return nil, err
	}
	title := strings.ReplaceAll(name, "-", " ")
	words := strings.NewReplacer("NAME", frontmatter.Quote(name), "TITLE", strings.ToUpper(title[:1])+title[1:])
	var b bytes.Buffer
	for line := range strings.Lines(string(raw)) {
		agent, fork := strings.CutPrefix(line, "FORK ")
		switch {
		case !fork:
			b.WriteString(words.Replace(line))
		case o.fork:
			b.WriteString("context: fork\n" + agent)
		}
	}
	return b.Bytes(), nil
}

// write creates file with its directories; it never replaces anything.
func write(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("making the skill's directory: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; choose another name or edit it", file)
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
