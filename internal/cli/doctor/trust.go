package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/knack-skills/knack"
	"github.com/knack-skills/knack/approval"
)

// approvals counts the skills of this workspace that are approved for good, and
// names those whose approval does not hold any more.
func approvals(ctx context.Context, e *knack.Engine) []Finding {
	f := Finding{Area: "trust", Name: "approvals", Status: "ok"}
	store := e.Approvals()
	list, err := store.List(ctx)
	if err != nil {
		f.Status, f.Detail, f.Fix = "bad", err.Error(), "remove the damaged file; you are asked about its skill again"
		return []Finding{f}
	}
	var stale []Finding
	here := 0
	for _, r := range list {
		if r.Workspace != e.ProjectDir() {
			continue
		}
		here++
		if why := outdated(ctx, e, store, r); why != "" {
			stale = append(stale, Finding{Area: "trust", Name: "approval", Status: "missing",
				Detail: fmt.Sprintf("%s, approved on %s: %s", r.Skill, r.Time.Format(time.DateOnly), why),
				Fix:    "look at it and answer again, or `knack permissions approvals --revoke " + r.ID + "`"})
		}
	}
	f.Detail = fmt.Sprintf("%d skills are approved for good here", here)
	if here > 0 {
		f.Detail += " (`knack permissions approvals`)"
	}
	return append([]Finding{f}, stale...)
}

// outdated says why an approval does not hold any more (spec S-14); "" when it does.
func outdated(ctx context.Context, e *knack.Engine, store approval.Store, r approval.Record) string {
	entry, err := e.Snapshot().Resolve(r.Skill)
	if err != nil || entry.Qualified != r.Skill {
		return "there is no such skill any more"
	}
	in, err := entry.Content.Body.Load(ctx)
	if err != nil {
		return "it cannot be read: " + err.Error()
	}
	c, err := approval.Read(ctx, entry.Origin, entry.Run, in)
	if err != nil {
		return "it cannot be read: " + err.Error()
	}
	st, err := store.Look(approval.Key{Workspace: e.ProjectDir(), Skill: entry.Qualified}, c)
	switch {
	case err != nil:
		return err.Error()
	case st.Approved:
		return ""
	}
	return "you are asked again, because it changed: " + strings.Join(st.Changed, ", ")
}
