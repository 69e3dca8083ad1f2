package knack

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/search"
	"github.com/knack-skills/knack/skill"
)

// Search finds model-visible skills by words (spec L-8), best first; a limit of
// zero means 20. The index is built on first use, which reads every body, and
// brought up to date after a reload or an activation, which reads the bodies of
// skills that are new or changed.
func (e *Engine) Search(ctx context.Context, query string, limit int) ([]search.Hit, error) {
	snap := e.Snapshot()
	ix, err := e.searchIndex(ctx, snap)
	if err != nil {
		return nil, err
	}
	// Whether a skill is enabled is asked each time (spec C-9).
	hits := ix.Search(query, limit)
	return slices.DeleteFunc(hits, func(h search.Hit) bool {
		entry, err := snap.Resolve(h.ID)
		if err != nil {
			return true
		}
		visible, _ := snap.VisibleToModel(entry, e.session.Active)
		return !visible
	}), nil
}

// headings are those of the bodies that were read.
type headings map[*skill.Skill]string

func (e *Engine) searchIndex(ctx context.Context, snap *catalog.Snapshot) (*search.Index, error) {
	e.indexMu.Lock()
	defer e.indexMu.Unlock()
	key := indexKey{snap.Generation, e.session.Activations()}
	if e.index != nil && e.indexed == key {
		return e.index, nil
	}
	entries := slices.Collect(snap.ModelView(e.session.Active))
	docs := make([]search.Doc, len(entries))
	failed := make([]bool, len(entries)) // is tried again next time
	each(len(entries), func(i int) {
		entry := entries[i]
		docs[i] = search.Doc{ID: entry.ID, Name: entry.Name, Description: entry.Description, WhenToUse: entry.WhenToUse}
		// Only files: a remote body costs a call, a bundled one may extract.
		if entry.Origin.Path == "" || ctx.Err() != nil {
			return
		}
		if known, ok := e.headings[entry.Skill]; ok {
			docs[i].Headings = known
		} else if in, err := entry.Content.Body.Load(ctx); err == nil {
			docs[i].Headings = search.Headings(in.Text)
		} else {
			failed[i] = true
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.headings = make(headings, len(entries)) // a reload keeps the skills that did not change
	for i, entry := range entries {
		if !failed[i] {
			e.headings[entry.Skill] = docs[i].Headings
		}
	}
	if e.index == nil {
		e.index = new(search.Index)
	}
	e.index, e.indexed = e.index.Update(docs), key
	return e.index, nil
}

// each calls f for 0 to n-1, several at a time.
func each(n int, f func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
