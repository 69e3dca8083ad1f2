// Package version is `knack version` (spec K-14).
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
)

// Version is the release this source belongs to; CHANGELOG.md says what is in it.
const Version = "0.1.0"

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  knack version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := struct {
				Version string `json:"version"`
				Commit  string `json:"commit"`
				Go      string `json:"go"`
			}{Version, commit(), runtime.Version()}
			if f.JSON {
				return output.JSON(cmd.OutOrStdout(), v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "knack %s (commit %s, %s)\n", v.Version, v.Commit, v.Go)
			return err
		},
	}
}

// commit returns the revision that the binary was built from, or "unknown".
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "unknown"
}
