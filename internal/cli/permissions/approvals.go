package permissions

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/approval"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/text"
)

type approvalRow struct {
	ID        string    `json:"id"`
	Skill     string    `json:"skill"`
	Workspace string    `json:"workspace"`
	Hash      string    `json:"hash"`
	Time      time.Time `json:"time"`
	Files     int       `json:"files"`
}

func newApprovals(f *workspace.Flags) *cobra.Command {
	var revoke string
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List the skills you allowed for good, or take that back",
		Long: `List the skills that you allowed for good, in every workspace. An approval holds
for what the skill consisted of: when a file changes, you are asked again.`,
		Example: `  knack permissions approvals
  knack permissions approvals --revoke 3f0c5a21d9e84b76`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			store := e.Approvals()
			if cmd.Flags().Changed("revoke") {
				err := store.Revoke(revoke)
				if errors.Is(err, approval.ErrUnknown) {
					return output.Usagef("--revoke: %v; see `knack permissions approvals`", err)
				}
				return err
			}
			list, err := store.List(cmd.Context())
			rows, cells := []approvalRow{}, [][]string{}
			for _, r := range list {
				rows = append(rows, approvalRow{r.ID, r.Skill, r.Workspace, r.Hash, r.Time, len(r.Files)})
				cells = append(cells, []string{r.ID, text.Terminal(r.Skill), r.Time.Format(time.DateOnly), output.Tilde(text.Terminal(r.Workspace))})
			}
			w := cmd.OutOrStdout()
			switch {
			case f.JSON:
				err = errors.Join(output.JSON(w, rows), err)
			case len(rows) == 0:
				fmt.Fprintln(w, "No skill is approved for good.")
			default:
				err = errors.Join(f.Style(w).Table(w, []string{"ID", "SKILL", "SINCE", "WORKSPACE"}, cells), err)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&revoke, "revoke", "", "take back the approval `ID`")
	return cmd
}
