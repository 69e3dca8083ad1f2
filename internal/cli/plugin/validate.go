package plugin

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/plugin"
	"github.com/knack-skills/knack/skill"
)

func newValidate(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "validate PATH",
		Short: "Check a plugin or a marketplace before it is published",
		Long: `Check the manifest of a plugin and everything that it names, or a marketplace
and the plugins in it. Exit 1 on errors, with --strict on warnings too.`,
		Example: `  knack plugin validate ./my-plugin
  knack plugin validate . --strict --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.validate(cmd, args[0]) },
	}
	cmd.Flags().BoolVar(&o.strict, "strict", false, "exit 1 on warnings too")
	return cmd
}

// findings is what --json prints, as `knack check` does.
type findings struct {
	Checked  int             `json:"checked"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
	Problems []skill.Problem `json:"problems"`
}

func (o *options) validate(cmd *cobra.Command, path string) error {
	path, err := filepath.Abs(workspace.ExpandHome(path))
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil {
		return output.Usagef("%s: there is no such file or directory", path)
	}
	checked, problems, err := plugin.Validate(cmd.Context(), path)
	if err != nil {
		return err
	}
	out := findings{Checked: checked, Problems: append([]skill.Problem{}, problems...)}
	for _, p := range problems {
		switch p.Severity {
		case skill.Error:
			out.Errors++
		case skill.Warning:
			out.Warnings++
		}
	}
	w := cmd.OutOrStdout()
	if o.flags.JSON {
		err = output.JSON(w, out)
	} else {
		for _, p := range problems {
			fmt.Fprintln(w, output.Problem(p))
		}
		_, err = fmt.Fprintf(w, "%d checked, %d errors, %d warnings\n", out.Checked, out.Errors, out.Warnings)
	}
	if err == nil && (out.Errors > 0 || o.strict && out.Warnings > 0) {
		return output.ErrFound
	}
	return err
}
