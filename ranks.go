package knack

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/state"
	"github.com/knack-skills/knack/usage"
)

// EntriesFor is [Engine.Entries] for an agent that is about to read prompt:
// among the skills that were not used in this project, those that match it rank
// higher (spec L-5). The error is that of ctx.
func (e *Engine) EntriesFor(ctx context.Context, prompt string) ([]listing.Entry, error) {
	matches, err := e.matches(ctx, prompt)
	if err != nil {
		return nil, err
	}
	return e.entries(matches), nil
}

// matches returns how well skills match prompt, by id.
func (e *Engine) matches(ctx context.Context, prompt string) (map[string]float64, error) {
	if err := ctx.Err(); err != nil || prompt == "" {
		return nil, err // without building an index
	}
	ix, err := e.searchIndex(ctx, e.Snapshot())
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, h := range ix.Search(prompt, e.Snapshot().Len()) {
		if !h.Weak {
			out[h.ID] = h.Score
		}
	}
	return out, nil
}

// rank fills the ranks of entries (spec L-5): each that was used is above each
// that only matches, and each that matches above the rest. Ranks are places and
// not scores, because the two kinds of score cannot be compared. Equals share a
// rank; among them the order of the entries decides.
func rank(entries []listing.Entry, used, matches map[string]float64) {
	compare := func(a, b *listing.Entry) int {
		return cmp.Or(cmp.Compare(used[a.ID], used[b.ID]), cmp.Compare(matches[a.ID], matches[b.ID]))
	}
	var some []*listing.Entry
	for i := range entries {
		if id := entries[i].ID; used[id] > 0 || matches[id] > 0 {
			some = append(some, &entries[i])
		}
	}
	slices.SortFunc(some, compare)
	place := 0.0
	for i, entry := range some {
		if i == 0 || compare(some[i-1], entry) != 0 {
			place++
		}
		entry.Rank = place
	}
}

// used returns the usage scores of the project.
func (e *Engine) used() (map[string]float64, error) {
	return e.usage().Scores(e.project, time.Now())
}

func (e *Engine) usage() usage.Store { return usage.Store{Dir: e.opts.StateDir} }

// RecordUse counts a use of entry (spec I-13). Without a state directory, as in
// a container, there is nothing to count for.
func (e *Engine) RecordUse(entry *catalog.Entry) error {
	id := entry.ID
	if entry.Winner != nil {
		id = entry.Qualified
	}
	err := e.usage().Record(e.project, id, time.Now())
	if errors.Is(err, state.ErrNoDirectory) {
		return nil
	}
	return err
}
