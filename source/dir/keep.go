package dir

import (
	"context"
	"fmt"
	"slices"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// What says that an edit broke a file which could be read before (spec D-8).
var (
	// brokenReads are problems for which nothing of a file is loaded. That a
	// file is gone, or is no file any more, is not among them.
	brokenReads = []string{unreadable, tooLarge, "binary", "utf-16", "path-only"}
	// brokenHeads are problems of a frontmatter, unless the version before had
	// them as well.
	brokenHeads = []string{"unclosed-frontmatter", "frontmatter-too-large", "yaml-recovered", "merge-conflict"}
)

// kept returns what becomes of the file at p when an edit broke it: its last
// good version. It is nil when the file is as good as it was, or was not known.
func (s *scan) kept(p place, rd reading) *entry {
	if s.before == nil {
		return nil
	}
	old := s.before.find(p.path)
	if old == nil || old.real != p.real {
		return nil
	}
	good := old
	if old.good != nil {
		good = old.good
	}
	why := broke(good, rd)
	if why == "" {
		return nil
	}
	sk := old.skill
	if old.good == nil { // broken just now
		version := *good.skill
		version.Content.Body = &keptBody{good, why}
		sk = &version
	}
	return &entry{
		path: p.path, real: p.real, linked: p.linked,
		stamp: rd.stamp, settled: settled(rd.stamp, rd.at),
		skill: sk, good: good, problems: rd.problems,
		more: append(slices.Clip(rd.problems), problem(versionKept, p.path,
			"the file was broken by an edit ("+why+"); what it said before still counts")),
	}
}

// broke says why a file that was good is not any more; empty if it is.
func broke(good *entry, rd reading) string {
	if rd.skill == nil {
		if p := rd.problems[0]; slices.Contains(brokenReads, p.Code) {
			return p.Message
		}
		return ""
	}
	if rd.blank && !good.blank {
		return "it is empty"
	}
	for _, code := range brokenHeads {
		is := func(p skill.Problem) bool { return p.Code == code }
		if i := slices.IndexFunc(rd.problems, is); i >= 0 && !slices.ContainsFunc(good.problems, is) {
			return rd.problems[i].Message
		}
	}
	return ""
}

// A keptBody is the last good text of a file that is broken now.
type keptBody struct {
	good *entry
	why  string
}

// Load returns the text as it was, or says that nobody remembers it. What the
// file holds now is never taken for it.
func (b *keptBody) Load(ctx context.Context) (skill.Instructions, error) {
	if err := ctx.Err(); err != nil {
		return skill.Instructions{}, err
	}
	path := b.good.path
	source := b.good.text.Load()
	if source == nil {
		return skill.Instructions{}, fmt.Errorf("read %s: the file was broken by an edit (%s), and its last good text was not kept; repair the file", path, b.why)
	}
	text, line, err := frontmatter.SplitBody([]byte(*source))
	if err != nil {
		return skill.Instructions{}, fmt.Errorf("read %s as it was: %w", path, err)
	}
	return skill.Instructions{Text: text, Line: line, Dir: b.good.skill.Origin.Dir, Source: *source}, nil
}

// Preserve keeps the text of all files that are known, and of those that change
// from now on, so that a version that is kept can also be invoked. At most limit
// bytes are kept; zero or less lets go of nothing and keeps no more. The error
// is that of ctx.
func (c *Cache) Preserve(ctx context.Context, limit int64) error {
	c.keep.Store(limit)
	c.mu.Lock()
	var all []*known
	for _, k := range c.roots {
		all = append(all, k)
	}
	c.mu.Unlock()
	for _, k := range all {
		c.hold(ctx, k)
	}
	return ctx.Err()
}

// hold reads the text of entries that have none yet, if they are still as they
// were when they were loaded.
func (c *Cache) hold(ctx context.Context, k *known) {
	limit := c.keep.Load()
	if limit <= 0 {
		return
	}
	var missing []*entry
	for _, e := range k.entries {
		if e.good == nil && e.text.Load() == nil {
			missing = append(missing, e)
		}
	}
	_ = each(ctx, len(missing), func(r *reader, i int) { // Preserve asks ctx
		e := missing[i]
		if c.held.Add(e.stamp.Size) > limit {
			c.held.Add(-e.stamp.Size)
			return
		}
		var in info
		data, err := r.head(e.real, &in, whole)
		if err != nil || in.Stamp != e.stamp || int64(len(data)) != e.stamp.Size {
			c.held.Add(-e.stamp.Size)
			return
		}
		text := string(data)
		if !e.text.CompareAndSwap(nil, &text) {
			c.held.Add(-e.stamp.Size) // somebody else was faster
		}
	})
}

// drop takes the text of entries that no load will find again off the account.
func (c *Cache) drop(before, now *known) {
	if before == nil || c.held.Load() == 0 {
		return
	}
	stay := map[*entry]bool{}
	if now != nil {
		for _, e := range now.entries {
			stay[e], stay[e.good] = true, true
		}
	}
	for _, e := range before.entries {
		for _, e := range [...]*entry{e, e.good} {
			if e != nil && !stay[e] && e.text.Load() != nil {
				c.held.Add(-e.stamp.Size)
			}
		}
	}
}
