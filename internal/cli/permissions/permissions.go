// Package permissions is `knack permissions` (spec K-8): the rules in force,
// and what they say about one call.
package permissions

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "List permission rules, or explain a decision",
		Example: `  knack permissions list
  knack permissions explain Bash '{"command":"git push origin main"}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return output.Usagef("say `knack permissions list`, `knack permissions explain TOOL JSON_INPUT` or `knack permissions approvals`")
		},
	}
	cmd.AddCommand(newList(f), newExplain(f), newApprovals(f))
	return cmd
}

type ruleRow struct {
	List   string `json:"list"`
	Rule   string `json:"rule"`
	Scope  string `json:"scope"`
	Source string `json:"source"`
}

func newList(f *workspace.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the rules in force, in the order in which they decide",
		Example: "  knack permissions list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			rows := ruleRows(e.Rules())
			if f.JSON {
				return output.JSON(cmd.OutOrStdout(), rows)
			}
			cells := make([][]string, len(rows))
			for i, r := range rows {
				cells[i] = []string{r.List, text.Terminal(r.Rule), r.Scope, output.Tilde(text.Terminal(r.Source))}
			}
			leftOut := func(p skill.Problem) bool { return p.Code == "rule-untrusted" }
			if slices.ContainsFunc(e.SettingsProblems(), leftOut) {
				fmt.Fprintln(cmd.ErrOrStderr(), "The workspace is not trusted: allow rules of its own settings are left out (--trust).")
			}
			return f.Style(cmd.OutOrStdout()).Table(cmd.OutOrStdout(), []string{"LIST", "RULE", "SCOPE", "SOURCE"}, cells)
		},
	}
}

func ruleRows(r permission.Rules) []ruleRow {
	rows := []ruleRow{}
	for _, l := range []struct {
		name  string
		rules []permission.Rule
	}{{"deny", r.Deny}, {"ask", r.Ask}, {"allow", r.Allow}} {
		for _, rule := range l.rules {
			rows = append(rows, ruleRow{List: l.name, Rule: rule.Text, Scope: rule.Scope, Source: rule.From})
		}
	}
	return rows
}

// A decision is the JSON form (spec K-8), with every rule that was tried.
type decision struct {
	Decision string   `json:"decision"`
	Rule     string   `json:"rule"`
	Source   string   `json:"source"`
	Reason   string   `json:"reason"`
	Suggest  []string `json:"suggest"`
	Tried    []tried  `json:"tried"`
}

type tried struct {
	List    string `json:"list"`
	Rule    string `json:"rule"`
	Source  string `json:"source"`
	Part    string `json:"part"`
	Matched bool   `json:"matched"`
}

func newExplain(f *workspace.Flags) *cobra.Command {
	var flag string
	cmd := &cobra.Command{
		Use:   "explain TOOL JSON_INPUT",
		Short: "Say what the rules decide about one tool call, and why",
		Example: `  knack permissions explain Bash '{"command":"git push origin main"}'
  knack permissions explain Skill '{"skill":"deploy"}' --json
  knack permissions explain Read '{"file_path":"/etc/passwd"}'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := readInput(args[0], args[1])
			if err != nil {
				return err
			}
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			mode, from, err := modeOf(e, flag)
			if err != nil {
				return err
			}
			r := request(e, args[0], in)
			d := e.Rules().Decide(r)
			if args[0] == "Skill" && in.Skill != "" {
				if d, err = asModel(cmd.Context(), e, in, d); err != nil {
					return err
				}
			}
			d = applyMode(d, mode, from, args[0], r)
			if f.JSON {
				return output.JSON(cmd.OutOrStdout(), newDecision(d))
			}
			explain(cmd.OutOrStdout(), d)
			return nil
		},
	}
	cmd.Flags().StringVar(&flag, "permission-mode", "", "decide as in `MODE` (default: of the settings)")
	return cmd
}

// explain prints a decision with every step that led to it.
func explain(w io.Writer, d permission.Decision) {
	fmt.Fprintf(w, "%s: %s\n", d.Verdict, output.Tilde(text.Terminal(d.Reason)))
	for _, t := range d.Tried {
		mark := "no match"
		switch {
		case t.List == "mode" && !t.Matched:
			mark = "changes nothing for"
		case t.List == "mode":
			mark = "decides"
		case t.Matched:
			mark = "matches"
		}
		fmt.Fprintf(w, "  %-5s %s: %s %s\n", t.List, text.Terminal(t.Rule.Text), mark, text.Terminal(t.Part))
	}
	if len(d.Suggest) > 0 && d.Verdict != permission.Allow {
		fmt.Fprintf(w, "To allow it: %s\n", text.Terminal(strings.Join(d.Suggest, " or ")))
	}
}

func request(e *knack.Engine, tool string, in input) permission.Request {
	r := e.PermissionRequest(tool)
	r.Input = permission.Input{Command: in.Command, Path: in.Path, URL: in.URL, Skill: in.Skill, Args: in.Args, Agent: in.Agent}
	if tool != "Skill" || in.Skill == "" {
		return r
	}
	// Rules speak of catalog ids, and a deny covers every other name (spec S-3).
	r.Input.Skill = invoke.Named(in.Skill)
	if entry, err := e.Snapshot().Resolve(r.Input.Skill); err == nil {
		r.Input.Skill, r.Input.Aliases = entry.ID, invoke.Aliases(entry)
	}
	return r
}

func newDecision(d permission.Decision) decision {
	out := decision{Decision: d.Verdict.String(), Reason: d.Reason, Suggest: []string{}, Tried: []tried{}}
	if d.Rule != nil {
		out.Rule, out.Source = d.Rule.Text, d.Rule.From
	}
	out.Suggest = append(out.Suggest, d.Suggest...)
	for _, t := range d.Tried {
		out.Tried = append(out.Tried, tried{List: t.List, Rule: t.Rule.Text, Source: t.Rule.From, Part: t.Part, Matched: t.Matched})
	}
	return out
}
