// Package hooks is `knack hooks` (spec K-9, H-11): which hooks there are, and
// what they say to one event.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/audit"
	"github.com/knack-skills/knack/hookexec"
	"github.com/knack-skills/knack/internal/cli/chat"
	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/internal/cli/workspace"
	"github.com/knack-skills/knack/text"
)

// New returns the command.
func New(f *workspace.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "List hooks, or try what they say to an event",
		Example: `  knack hooks list
  knack hooks test PreToolUse --tool Bash <call.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return output.Usagef("say `knack hooks list` or `knack hooks test EVENT`")
		},
	}
	cmd.AddCommand(newList(f), newTest(f))
	return cmd
}

// A row is one hook (spec K-9).
type row struct {
	Event   string `json:"event"`
	Matcher string `json:"matcher"`
	If      string `json:"if"`
	Type    string `json:"type"`
	Command string `json:"command"` // of other types: the address, the prompt, the tool
	Origin  string `json:"origin"`
	Source  string `json:"source"`
	Once    bool   `json:"once"`
	// State is active, on-invocation for the hooks of skills and agents, or off.
	State  string `json:"state"`
	Reason string `json:"reason"` // of off
	Last   *last  `json:"last"`   // as the audit log has it; null before the first run
}

// last is how a hook ended the last time.
type last struct {
	Time    string `json:"time"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
}

func newList(f *workspace.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all hooks with their origin and last result",
		Long: `List all hooks: those of settings files, and those that skills register when
they are invoked. Hooks that policy or a missing trust keeps from running are
listed as off, with the reason.`,
		Example: "  knack hooks list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := f.Open(cmd)
			if err != nil {
				return err
			}
			rows, err := list(cmd.Context(), e)
			if err != nil {
				return err
			}
			if f.JSON {
				return output.JSON(cmd.OutOrStdout(), rows)
			}
			if len(rows) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "There are no hooks. A settings file declares them under \"hooks\".")
				return nil
			}
			cells := make([][]string, len(rows))
			for i, r := range rows {
				state := r.State
				if r.Last != nil {
					state += ", last " + r.Last.Outcome
				}
				cells[i] = []string{r.Event, text.Terminal(cmp.Or(r.Matcher, "*")), state, text.Terminal(r.Command), output.Tilde(text.Terminal(r.Origin))}
			}
			if err := f.Style(cmd.OutOrStdout()).Table(cmd.OutOrStdout(), []string{"EVENT", "MATCHER", "STATE", "HOOK", "ORIGIN"}, cells); err != nil {
				return err
			}
			why(cmd, rows)
			return nil
		},
	}
}

// why says once for each reason what is off.
func why(cmd *cobra.Command, rows []row) {
	said := map[string]bool{}
	for _, r := range rows {
		if r.Reason != "" && !said[r.Origin+r.Reason] {
			said[r.Origin+r.Reason] = true
			fmt.Fprintf(cmd.ErrOrStderr(), "off: %s: %s\n", output.Tilde(text.Terminal(r.Origin)), text.Terminal(r.Reason))
		}
	}
}

func list(ctx context.Context, e *knack.Engine) ([]row, error) {
	ran, err := results(ctx, e)
	if err != nil {
		return nil, err
	}
	rows := []row{}
	add := func(entry hookexec.Entry, state, reason string) {
		h := entry.Handler
		rows = append(rows, row{Event: string(entry.Event), Matcher: entry.Matcher, If: h.If, Type: h.Type,
			Command: hookexec.Summary(h), Origin: entry.Owner, Source: entry.Level, Once: h.Once, State: state, Reason: reason,
			Last: ran[key(string(entry.Event), entry.Owner, hookexec.Summary(h))]})
	}
	for _, d := range chat.Hooks(e) {
		state := "active"
		switch {
		case d.Off != "":
			state = "off"
		case d.Entry.Level == hookexec.Skill || d.Entry.Level == hookexec.Agent:
			state = "on-invocation"
		}
		add(d.Entry, state, d.Off)
	}
	return rows, nil
}

// results reads from the audit log how each hook ended last.
func results(ctx context.Context, e *knack.Engine) (map[string]*last, error) {
	dir := e.TrustStore().Dir
	out := map[string]*last{}
	if dir == "" {
		return out, nil
	}
	for entry, err := range audit.Read(ctx, filepath.Join(dir, audit.FileName), audit.Filter{Kind: []string{string(audit.Hook)}}) {
		if err != nil {
			return nil, err
		}
		var d struct{ Event, Owner, Hook, Reason string }
		if json.Unmarshal(entry.Record.Detail, &d) != nil {
			continue // a damaged line, which `knack audit` shows
		}
		out[key(d.Event, d.Owner, d.Hook)] = &last{Time: entry.Record.Time.UTC().Format("2006-01-02T15:04:05Z"),
			Outcome: entry.Record.Outcome, Reason: d.Reason}
	}
	return out, nil
}

func key(parts ...string) string { return strings.Join(parts, "\x00") }
