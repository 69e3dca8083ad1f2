package knack

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/knack-skills/knack/approval"
	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/settings"
	"github.com/knack-skills/knack/skill"
)

// Approvals returns where approvals of skills are kept (spec S-14).
func (e *Engine) Approvals() approval.Store { return approval.Store{Dir: e.stateDir("approvals")} }

// approvals answers for the skills of one workspace.
type approvals struct{ e *Engine }

var _ invoke.Approvals = approvals{}

// Examine implements [invoke.Approvals].
func (a approvals) Examine(ctx context.Context, entry *catalog.Entry, in skill.Instructions) (invoke.Content, error) {
	c, err := approval.Read(ctx, entry.Origin, entry.Run, in)
	switch {
	case ctx.Err() != nil:
		return invoke.Content{}, ctx.Err()
	case err != nil:
		return invoke.Content{Note: "its files are not checked, because they cannot all be read: " + err.Error()}, nil
	}
	out := invoke.Content{Hash: c.Hash, Terms: c.Terms}
	switch {
	case c.Loose != "":
		out.Note = "you are asked each time, because " + c.Loose
		return out, nil
	case isSet(a.e.conf().settings.AllowManagedPermissionRulesOnly):
		return out, nil // only the administrator allows for good
	}
	store, key := a.e.Approvals(), approval.Key{Workspace: a.e.project, Skill: entry.Qualified}
	st, err := store.Look(key, c)
	if err != nil {
		out.Note = fmt.Sprintf("what was approved before is not known: %v", err)
	}
	out.Approved, out.Changed, out.Diff = st.Approved, st.Changed, st.Diff
	if store.Dir != "" {
		out.Keep = func(context.Context) error { return store.Approve(key, c) }
	}
	return out, nil
}

// keeper returns where the person's rules for this workspace are written. It is
// nil where a rule would not be in force: its file waits for trust (spec S-9).
func (e *Engine) keeper() invoke.Keeper {
	if !e.trusted || e.opts.StateDir == "" || !wants(e.opts.SettingSources, settings.LocalLevel) ||
		isSet(e.conf().settings.AllowManagedPermissionRulesOnly) {
		return nil
	}
	return keeper{settings.Writer{
		Path: filepath.Join(e.project, ".claude", "settings.local.json"), Lock: e.stateDir("settings.lock")}}
}

type keeper struct{ w settings.Writer }

// Allow implements [invoke.Keeper].
func (k keeper) Allow(_ context.Context, rules []string) error { return k.w.Allow(rules...) }
