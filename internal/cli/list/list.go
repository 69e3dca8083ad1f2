// Package list is `knack list` (spec K-1): which skills there are, from where,
// in which state, and what they cost.
package list

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// A Row is one skill as JSON (spec K-1). Lists are never null.
type Row struct {
	ID                  string          `json:"id"`
	Name                string          `json:"name"`
	Description         string          `json:"description"`
	DescriptionFallback bool            `json:"description_fallback"`
	WhenToUse           string          `json:"when_to_use"`
	Source              skill.Source    `json:"source"`
	State               catalog.State   `json:"state"`
	ShadowedBy          string          `json:"shadowed_by"`
	UserInvocable       bool            `json:"user_invocable"`
	ModelInvocable      bool            `json:"model_invocable"`
	Context             skill.Mode      `json:"context"`
	Paths               []string        `json:"paths"`
	ArgumentHint        string          `json:"argument_hint"`
	Version             string          `json:"version"`
	Path                string          `json:"path"`
	Dir                 string          `json:"dir"`
	ListingTokens       int             `json:"listing_tokens"` // estimate of its line in the listing
	BodyTokens          int             `json:"body_tokens"`    // estimate from the file size
	Problems            []skill.Problem `json:"problems"`
}

// NewRow describes e, for a session in which active tells what was activated.
func NewRow(snap *catalog.Snapshot, e *catalog.Entry, active func(id string) bool) Row {
	r := Row{
		ID: e.ID, Name: e.Label(), Description: e.Description, DescriptionFallback: e.DescriptionFallback,
		WhenToUse: e.WhenToUse, Source: e.Origin.Source, State: e.CurrentState(active),
		UserInvocable:  !e.Trigger.HiddenFromUser,
		ModelInvocable: !e.Trigger.HiddenFromModel && e.Visibility != catalog.UserInvocableOnly,
		Context:        cmp.Or(e.Run.Mode, skill.Inline), Paths: e.Trigger.Paths,
		ArgumentHint: e.ArgumentHint, Version: e.Version, Path: e.Origin.Path, Dir: e.Origin.Dir,
		ListingTokens: text.Tokens(listing.FullLine(listing.Entry{Summary: e.Summary}, listing.Options{})),
		BodyTokens:    text.TokensOfBytes(e.Content.Bytes),
		Problems:      snap.ProblemsOf(e.Origin.Path),
	}
	if e.Winner != nil {
		r.ShadowedBy = e.Winner.ID
	}
	if r.Paths == nil {
		r.Paths = []string{}
	}
	if e.Origin.Path == "" || r.Problems == nil {
		r.Problems = []skill.Problem{}
	}
	return r
}

type options struct {
	flags  *workspace.Flags
	all    bool
	by     string
	source string
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	o := &options{flags: f}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the skills of the workspace",
		Long: `List every skill that the workspace knows, with its source, its state and
what it costs: the tokens of its full text, estimated from the file size.

States: active (offered), conditional (offered once a matching file is
touched), disabled (by settings), shadowed (another skill owns the name;
only with --all).`,
		Example: `  knack list
  knack list --all --source project
  knack list --by model --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "also list shadowed skills")
	cmd.Flags().StringVar(&o.by, "by", "", "only what a `CALLER` may start: user or model")
	cmd.Flags().StringVar(&o.source, "source", "", "only skills of one `SOURCE`, such as project")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"user", "model"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("source", cobra.FixedCompletions(sourceNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func sourceNames() []string {
	var out []string
	for _, s := range catalog.DefaultPrecedence() {
		out = append(out, string(s))
	}
	return out
}

func (o *options) run(cmd *cobra.Command) error {
	if o.source != "" && !slices.Contains(sourceNames(), o.source) {
		return output.Usagef("--source: %q is no source (one of %s)", o.source, strings.Join(sourceNames(), ", "))
	}
	var by invoke.Caller
	if o.by != "" {
		var err error
		if by, err = workspace.By(o.by); err != nil {
			return err
		}
	}
	e, err := o.flags.Open(cmd)
	if err != nil {
		return err
	}
	if o.source == "" || o.source == string(skill.MCP) {
		if _, err := o.flags.Connect(cmd, e); err != nil {
			return err
		}
	}
	rows := o.rows(e, by)
	if o.flags.JSON {
		return output.JSON(cmd.OutOrStdout(), rows)
	}
	return table(cmd.OutOrStdout(), o.flags, rows)
}

func (o *options) rows(e *knack.Engine, by invoke.Caller) []Row {
	snap := e.Snapshot()
	seq := snap.All()
	switch by {
	case invoke.ByUser:
		seq = snap.UserView()
	case invoke.ByModel:
		seq = snap.ModelView(e.Session().Active)
	}
	rows := make([]Row, 0, snap.Len())
	add := func(entry *catalog.Entry) {
		if o.source == "" || string(entry.Origin.Source) == o.source {
			rows = append(rows, NewRow(snap, entry, e.Session().Active))
		}
	}
	for entry := range seq {
		add(entry)
	}
	if o.all {
		for entry := range snap.Shadowed() {
			add(entry)
		}
	}
	return rows
}

func table(w io.Writer, f *workspace.Flags, rows []Row) error {
	cells := make([][]string, len(rows))
	for i, r := range rows {
		state := string(r.State)
		if len(r.Problems) > 0 {
			state += "*"
		}
		cells[i] = []string{text.Terminal(r.ID), string(r.Source), state,
			strconv.Itoa(r.BodyTokens), text.Terminal(r.Description)}
	}
	return f.Style(w).Table(w, []string{"ID", "SOURCE", "STATE", "~TOKENS", "DESCRIPTION"}, cells)
}
