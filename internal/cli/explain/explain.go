// Package explain is `knack explain` (spec G-7, K-7): every rule that decided
// about one skill, in order.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/text"
)

type report struct {
	ID             string         `json:"id"`
	Found          bool           `json:"found"`
	VisibleToUser  bool           `json:"visible_to_user"`
	VisibleToModel bool           `json:"visible_to_model"`
	Invocable      bool           `json:"invocable"`
	Steps          []catalog.Step `json:"steps"`
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	var by string
	var touch []string
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Say why a skill is, or is not, offered and allowed",
		Long: `Print every rule that decided about a skill, in order: where it was found,
which name it got, who shadows it, which settings hide it, what the listing
leaves of it, and whether the permission rules let it run. Each line cites the
rule of the specification that it follows.`,
		Example: `  knack explain deploy
  knack explain deploy --by model --json
  knack explain ts-style --touch src/app.ts`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			caller, err := workspace.By(by)
			if err != nil {
				return err
			}
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			if err := f.ConnectFor(cmd, e, args[0]); err != nil {
				return err
			}
			r, err := explain(cmd.Context(), e, args[0], caller, touch)
			switch {
			case err != nil:
			case f.JSON:
				err = output.JSON(cmd.OutOrStdout(), r)
			default:
				write(cmd.OutOrStdout(), f.Style(cmd.OutOrStdout()), r)
			}
			if err == nil && !r.Found {
				return output.ErrFound
			}
			return err
		},
	}
	cmd.Flags().StringVar(&by, "by", "user", "judge a call by a `CALLER`: user or model")
	cmd.Flags().StringArrayVar(&touch, "touch", nil, "as if `FILE` had been read (repeatable; need not exist)")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"user", "model"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func explain(ctx context.Context, e *knack.Engine, name string, by invoke.Caller, touch []string) (report, error) {
	name = invoke.Named(name)
	d, err := e.Discover(ctx, touch...)
	if err != nil {
		return report{}, err
	}
	entry, steps := e.Snapshot().Explain(name, e.Session().Active)
	r := report{ID: name, Steps: append(steps, refused(d)...)}
	if entry == nil {
		return r, nil
	}
	r.ID, r.Found = entry.ID, true
	r.Steps = append(r.Steps, activation(e, entry, touch)...)
	r.VisibleToUser, _ = e.Snapshot().VisibleToUser(entry)
	r.VisibleToModel, _ = e.Snapshot().VisibleToModel(entry, e.Session().Active)
	r.Steps = append(r.Steps, listed(e, entry, r.VisibleToModel))
	call, ok := permitted(ctx, e, name, by)
	r.Invocable = ok
	r.Steps = append(r.Steps, call)
	return r, nil
}

// refused says which skills the touched files did not bring, because git ignores
// their directory (spec D-1).
func refused(d knack.Discovery) (out []catalog.Step) {
	for _, p := range d.Refused {
		out = append(out, catalog.Step{Rule: "D-1", Outcome: "ignored", Detail: p.Message, Path: p.Path})
	}
	return out
}

// activation says what each touched file does to a conditional skill (spec D-3).
func activation(e *knack.Engine, entry *catalog.Entry, files []string) []catalog.Step {
	if !entry.Trigger.Conditional {
		return nil
	}
	var out []catalog.Step
	for _, f := range files {
		s := catalog.Step{Rule: "D-4", Outcome: "no-match", Path: entry.Origin.Path,
			Detail: fmt.Sprintf("%s matches none of %s", f, strings.Join(entry.Trigger.Paths, ", "))}
		if _, p := e.TouchedBy(entry, f); p != "" {
			s.Outcome, s.Detail = "activated", fmt.Sprintf("%s matches %s", f, p)
		}
		out = append(out, s)
	}
	return out
}

// listed says what the listing leaves of the skill (spec L-3).
func listed(e *knack.Engine, entry *catalog.Entry, visible bool) catalog.Step {
	s := catalog.Step{Rule: "L-3", Outcome: "not-listed", Path: entry.Origin.Path, Detail: "a model is not told of it"}
	if !visible {
		return s
	}
	l := e.Listing()
	for _, line := range l.Lines {
		if line.ID != entry.ID {
			continue
		}
		s.Outcome, s.Detail = "listed", fmt.Sprintf("the model reads %q", line.Line)
		if line.Shortened {
			s.Outcome, s.Detail = "shortened", fmt.Sprintf("%s; the model reads %q", line.Reason, line.Line)
		}
		s.Detail += ranked(e, entry.ID)
		return s
	}
	s.Outcome, s.Detail = "omitted", fmt.Sprintf("%d skills did not fit; SkillSearch finds it", l.Omitted)
	s.Detail += ranked(e, entry.ID)
	return s
}

// ranked says which place the skill has when ranks share out the budget (spec L-5).
func ranked(e *knack.Engine, id string) string {
	if e.ListingOptions().Mode != listing.Ranked {
		return ""
	}
	entries := e.Entries()
	slices.SortStableFunc(entries, func(a, b listing.Entry) int { return cmp.Compare(b.Rank, a.Rank) })
	at := slices.IndexFunc(entries, func(le listing.Entry) bool { return le.ID == id })
	if at < 0 {
		return ""
	}
	why := "it was not used in this project"
	if entries[at].Rank > 0 {
		why = "by its use in this project"
	}
	return fmt.Sprintf("; rank %d of %d: %s", at+1, len(entries), why)
}

// permitted says whether a call would be let through (spec S-2, I-3).
func permitted(ctx context.Context, e *knack.Engine, name string, by invoke.Caller) (catalog.Step, bool) {
	err := invoke.Check(ctx, invoke.Request{Name: name, By: by}, e.Env())
	var refused *invoke.RefusedError
	switch {
	case err == nil:
		return catalog.Step{Rule: "S-2", Outcome: "allowed", Detail: "a call by " + string(by) + " goes through"}, true
	case errors.As(err, &refused):
		detail := refused.Reason
		if refused.Fix != "" {
			detail += "; " + refused.Fix
		}
		return catalog.Step{Rule: refused.Rule, Outcome: "refused", Detail: detail}, false
	}
	return catalog.Step{Rule: "I-3", Outcome: "refused", Detail: err.Error()}, false
}

func write(w io.Writer, st output.Style, r report) {
	fmt.Fprintf(w, "%s: found %s, visible to people %s, visible to models %s, invocable %s\n", st.Bold(text.Terminal(r.ID)),
		yesNo(r.Found), yesNo(r.VisibleToUser), yesNo(r.VisibleToModel), yesNo(r.Invocable))
	at := ""
	for _, s := range r.Steps {
		head := fmt.Sprintf("  %-5s %-11s ", s.Rule, s.Outcome)
		fmt.Fprintln(w, head+st.Wrap(output.Tilde(text.Terminal(s.Detail)), len(head), len(head)))
		if where := place(s); where != "" && where != at {
			at = where // said once for all that follow from the same place
			fmt.Fprintln(w, strings.Repeat(" ", len(head))+st.Dim("at "+output.Tilde(text.Terminal(where))))
		}
	}
}

func place(s catalog.Step) string {
	if s.Path == "" || s.Line == 0 {
		return s.Path
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Line)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
