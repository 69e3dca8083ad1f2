package listing

import (
	"fmt"
	"maps"
	"slices"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// A Delta is the difference between what an agent was told and what is true
// now (spec L-6).
type Delta struct {
	New, Changed []Entry
	Removed      []string // ids
}

// Empty reports that there is nothing to tell.
func (d Delta) Empty() bool { return len(d.New) == 0 && len(d.Changed) == 0 && len(d.Removed) == 0 }

// Diff compares told (summary by id) with now. New and changed entries keep
// the order of now; removed ids are sorted. A summary has changed when its
// line would read differently: a new version or white space is no news.
func Diff(told map[string]skill.Summary, now []Entry) Delta {
	var d Delta
	gone := maps.Clone(told)
	for _, e := range now {
		before, known := told[e.ID]
		delete(gone, e.ID)
		switch {
		case !known:
			d.New = append(d.New, e)
		case !sameText(before.Description, e.Description) || !sameText(before.WhenToUse, e.WhenToUse):
			d.Changed = append(d.Changed, e)
		}
	}
	if len(gone) > 0 {
		d.Removed = slices.Sorted(maps.Keys(gone))
	}
	return d
}

// sameText reports whether a and b are printed alike.
func sameText(a, b string) bool { return a == b || text.Line(a) == text.Line(b) }

// FormatDelta writes a delta as a reminder message; "" when it is empty. The
// budget applies to the new and changed entries together; removed ids have a
// budget of their own. Lines holds new, changed and removed entries.
func FormatDelta(d Delta, o Options) Listing {
	if d.Empty() {
		return Listing{BudgetChars: o.BudgetChars(), Step: 1}
	}
	p := newPlan(slices.Concat(d.New, d.Changed), o)
	l := p.listing()

	// Entries may be left out, so the lines of new ones are counted.
	fresh := 0
	for i := range d.New {
		if !p.items[i].out {
			fresh++
		}
	}
	out := section(newHeading, l.Lines[:fresh]) + section(changedHeading, l.Lines[fresh:]) + more(l.Omitted)

	removed, left := removedLines(d.Removed, p)
	out += section(removedHeading, removed)
	if left > 0 {
		out += fmt.Sprintf("and %d more were removed: SkillSearch finds only those that are left\n", left)
	}
	l.Lines = append(l.Lines, removed...)
	l.Omitted += left
	l.UsedChars = count(l.Lines)
	wrap(&l, deltaIntro, out)
	return l
}

// section is a heading with lines, or nothing.
func section(heading string, lines []Line) string {
	if len(lines) == 0 {
		return ""
	}
	return heading + body(lines)
}

// removedLines names the ids that are gone, as many as the budget allows.
func removedLines(ids []string, p *plan) (lines []Line, left int) {
	room := namesOverBudget * p.budget
	for i, id := range ids {
		var it item
		it.begin(&Entry{Summary: skill.Summary{ID: id}}, &p.o)
		if room -= it.bare; room < 0 {
			return lines, len(ids) - i
		}
		lines = append(lines, Line{ID: id, Line: it.line(), Reason: "removed"})
	}
	return lines, 0
}
