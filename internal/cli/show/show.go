// Package show is `knack show` (spec K-2): one skill with everything in it.
package show

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/approval"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/internal/cli/list"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/text"
)

type resource struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

type report struct {
	list.Row
	Fields    map[string]string `json:"fields"`
	Body      string            `json:"body"`
	Resources []resource        `json:"resources"`
	Hash      string            `json:"hash"`

	order []string // keys of Fields as written
	note  string   // why something is missing; for the person
}

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show one skill: fields, text, resources, hash",
		Long: `Show everything about one skill: every frontmatter field as written, the text,
the files beside it, and the hash that approvals are bound to.`,
		Example: `  knack show simplify
  knack show deploy --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			if err := f.ConnectFor(cmd, e, args[0]); err != nil {
				return err
			}
			entry, err := e.Snapshot().Resolve(args[0])
			if err != nil {
				return err
			}
			r, err := describe(cmd.Context(), e, entry)
			if err != nil {
				return err
			}
			if r.note != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "notice: "+text.Terminal(r.note))
			}
			if f.JSON {
				return output.JSON(cmd.OutOrStdout(), r)
			}
			return write(cmd.OutOrStdout(), f.Style(cmd.OutOrStdout()), r)
		},
	}
}

func describe(ctx context.Context, engine *knack.Engine, e *catalog.Entry) (*report, error) {
	r := &report{Row: list.NewRow(engine.Snapshot(), e, engine.Session().Active), Fields: map[string]string{}, Resources: []resource{}}
	in, err := e.Content.Body.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading skill %q: %w", e.ID, err)
	}
	r.Body = in.Text
	doc, _ := frontmatter.Parse(e.Origin.Path, []byte(in.Source))
	for _, f := range doc.Fields() {
		r.Fields[f.Key] = f.Value
		r.order = append(r.order, f.Key)
	}
	r.note = in.Note
	hash, files, err := approval.Hash(ctx, e.Origin, in)
	if err != nil {
		return nil, err
	}
	r.Hash = hash
	for _, f := range files {
		r.Resources = append(r.Resources, resource{f.Path, f.Bytes})
	}
	return r, nil
}

func write(w io.Writer, st output.Style, r *report) error {
	p := func(key, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s %s\n", key, text.Terminal(value))
		}
	}
	p("id", r.ID)
	p("name", r.Name)
	p("source", string(r.Source))
	p("state", string(r.State))
	p("shadowed by", r.ShadowedBy)
	p("path", output.Tilde(r.Path))
	p("hash", r.Hash)
	p("tokens", fmt.Sprintf("about %d, and %d in the listing", r.BodyTokens, r.ListingTokens))
	for _, k := range r.order {
		fmt.Fprintf(w, "%s %s\n", st.Dim(text.Terminal(k)+":"), text.TerminalBlock(r.Fields[k]))
	}
	for _, f := range r.Resources {
		fmt.Fprintf(w, "%s %s (%d bytes)\n", st.Dim("resource:"), text.Terminal(f.Path), f.Bytes)
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(w, output.Problem(problem))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", text.TerminalBlock(strings.TrimRight(r.Body, "\n")))
	return err
}
