// Package search is `knack search` (spec K-5, L-8).
package search

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/text"
)

type hit struct {
	ID      string  `json:"id"`
	Score   float64 `json:"score"`
	Snippet string  `json:"snippet"`
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find skills by words",
		Long: `Find the skills that a model may use by words in their id, description,
when_to_use and headings, best match first. This is what the SkillSearch tool
answers to a model.`,
		Example: `  knack search "commit my work"
  knack search 提取表格 --limit 3 --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > 1000 {
				return output.Usagef("--limit: %d is not between 1 and 1000", limit)
			}
			query := strings.Join(args, " ")
			if strings.TrimSpace(query) == "" {
				return output.Usagef("the query is empty; say some words, such as `knack search \"commit my work\"`")
			}
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			if _, err := f.Connect(cmd, e); err != nil {
				return err
			}
			hits, err := e.Search(cmd.Context(), query, limit)
			if err != nil {
				return err
			}
			rows := make([]hit, len(hits))
			for i, h := range hits {
				rows[i] = hit{ID: h.ID, Score: h.Score, Snippet: h.Snippet}
			}
			if f.JSON {
				return output.JSON(cmd.OutOrStdout(), rows)
			}
			if len(rows) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "No skill matches. `knack list` shows all of them.")
				return nil
			}
			cells := make([][]string, len(rows))
			for i, r := range rows {
				cells[i] = []string{text.Terminal(r.ID), fmt.Sprintf("%.2f", r.Score), text.Terminal(r.Snippet)}
			}
			return f.Style(cmd.OutOrStdout()).Table(cmd.OutOrStdout(), []string{"ID", "SCORE", "MATCH"}, cells)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "at most `N` results")
	return cmd
}
