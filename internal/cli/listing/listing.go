// Package listing is `knack listing` (spec K-4, L-10): exactly what a model is
// told, what it costs, and what was shortened.
package listing

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/listing"
)

type report struct {
	BudgetChars int            `json:"budget_chars"`
	UsedChars   int            `json:"used_chars"`
	EstTokens   int            `json:"est_tokens"`
	Step        int            `json:"step"`
	Text        string         `json:"text"`
	Entries     []listing.Line `json:"entries"`
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	var tokens int
	var after bool
	var prompt string
	cmd := &cobra.Command{
		Use:   "listing",
		Short: "Show what a model is told about the skills",
		Long: `Print exactly the text that tells a model which skills exist, for a context
window of the given size. The budget is 1 % of the window; what does not fit is
shortened, and standard error says what, and which setting changes it. With the
setting "skillListing": "ranked", skills that are used in this project keep the
most of their text, then those that match the prompt, then the rest.`,
		Example: `  knack listing
  knack listing --context 32000 --json
  knack listing --prompt "ship it to staging" --settings ranked.json
  knack listing --after-compaction`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tokens < 1 {
				return output.Usagef("--context: %d is not a positive number of tokens", tokens)
			}
			e, err := f.Open(cmd, func(o *knack.Options) { o.ContextTokens = tokens })
			if err != nil {
				return err
			}
			if _, err := f.Connect(cmd, e); err != nil {
				return err
			}
			entries, err := e.EntriesFor(cmd.Context(), prompt)
			if err != nil {
				return err
			}
			format := listing.Format
			if after {
				format = listing.Names
			}
			l := format(entries, e.ListingOptions())
			return write(cmd.OutOrStdout(), cmd.ErrOrStderr(), f, l)
		},
	}
	// Every agent starts with an empty record (spec L-6), so the one-shot
	// command tells all of them the same.
	cmd.Flags().String("by-agent", "main", "what agent `ID` is told when it starts")
	cmd.Flags().IntVar(&tokens, "context", knack.DefaultContextTokens, "context window of `TOKENS`")
	cmd.Flags().StringVar(&prompt, "prompt", "", "what an agent is told that is about to read `TEXT`")
	cmd.Flags().BoolVar(&after, "after-compaction", false, "what is sent after the conversation was compacted")
	return cmd
}

func write(out, errw io.Writer, f *workspace.Flags, l listing.Listing) error {
	if !f.JSON {
		fmt.Fprintf(errw, "%d of %d characters, about %d tokens, step %d, %d entries\n",
			l.UsedChars, l.BudgetChars, l.EstTokens, l.Step, len(l.Lines))
	}
	for _, p := range l.Problems { // what was shortened, and how to change it (spec L-3)
		fmt.Fprintln(errw, output.Problem(p))
	}
	if f.JSON {
		r := report{BudgetChars: l.BudgetChars, UsedChars: l.UsedChars, EstTokens: l.EstTokens,
			Step: l.Step, Text: l.Text, Entries: l.Lines}
		if r.Entries == nil {
			r.Entries = []listing.Line{}
		}
		return output.JSON(out, r)
	}
	_, err := io.WriteString(out, l.Text)
	if err == nil && l.Text != "" && l.Text[len(l.Text)-1] != '\n' {
		_, err = io.WriteString(out, "\n")
	}
	return err
}
