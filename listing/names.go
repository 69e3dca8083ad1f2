package listing

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// Names writes what is sent after compaction (spec L-7): one line per ten names
// within an eighth of the budget, highest rank first, then how many more. The
// result has a Line for each name; UsedChars counts the lines of names.
func Names(entries []Entry, o Options) Listing {
	l := Listing{BudgetChars: o.BudgetChars() / compactedPart, Step: 3}
	if len(entries) == 0 {
		return l
	}
	items := make([]item, len(entries))
	names := make([]*item, len(entries))
	for i := range entries {
		items[i].begin(&entries[i], &o)
		items[i].bare -= len("- \n") - len(", ")
		names[i] = &items[i]
	}
	kept := highest(names, l.BudgetChars)
	l.Omitted = len(names) - len(kept)

	var b strings.Builder
	for i, it := range kept {
		b.WriteString(it.id)
		if i%namesPerLine == namesPerLine-1 || i == len(kept)-1 {
			b.WriteByte('\n')
		} else {
			b.WriteString(", ")
		}
		described := it.entry.Description != "" || it.entry.WhenToUse != ""
		l.Lines = append(l.Lines, Line{ID: it.entry.ID, Line: it.id, Shortened: described, Reason: "name only: after compaction"})
	}
	l.UsedChars = utf8.RuneCountInString(b.String())
	if l.Omitted > 0 {
		l.Problems = []skill.Problem{{
			Code: "listing-omitted", Severity: skill.Info, Fix: fixBudget,
			Message: fmt.Sprintf("%d of %d skills are not named after compaction and only found by SkillSearch: names may take %d characters", l.Omitted, len(names), l.BudgetChars),
		}}
	}
	wrap(&l, namesIntro, b.String()+more(l.Omitted))
	return l
}
