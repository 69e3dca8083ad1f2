package knack

import (
	"context"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/invoke"
)

// Inert lists what the workspace brings and what is off because it is not
// trusted (spec S-9), one thing each, for the person who is asked about it: the
// grants, hooks and inline commands of its skills, and its settings. It reads
// every skill of the workspace that may have some. The error is that of ctx.
func (e *Engine) Inert(ctx context.Context) ([]string, error) {
	if e.trusted {
		return nil, nil
	}
	var out []string
	for _, p := range e.conf().problems {
		if p.Code == "setting-untrusted" || p.Code == "rule-untrusted" {
			_, what, _ := strings.Cut(p.Message, ": ")
			kind := "settings"
			if p.Code == "rule-untrusted" {
				kind = "allow rules"
			}
			out = append(out, fmt.Sprintf("%s in %s: %s", kind, p.Path, what))
		}
	}
	var entries []*catalog.Entry
	for entry := range e.Snapshot().All() {
		if entry.Origin.FromWorkspace() {
			entries = append(entries, entry)
		}
	}
	env := e.Env()
	lines := make([][]string, len(entries))
	each(len(entries), func(i int) {
		if ctx.Err() != nil {
			return
		}
		in, err := entries[i].Content.Body.Load(ctx)
		if err != nil {
			return // its problem is told where it is started
		}
		for _, d := range invoke.Details(entries[i], in, env) {
			lines[i] = append(lines[i], "skill "+entries[i].ID+" "+d)
		}
	})
	for _, l := range lines {
		out = append(out, l...)
	}
	return out, ctx.Err()
}
