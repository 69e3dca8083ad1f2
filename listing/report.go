package listing

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

const (
	fixBudget = "raise skillListingBudgetFraction or skillListingBudget, shorten the longest descriptions, or take skills out of the listing with skillOverrides"
	fixCap    = "put what decides first in the description, or raise skillListingMaxDescChars"
	offenders = 3 // longest texts named in a problem
)

// problems reports each kind of shortening once, with numbers (spec L-3).
func (p *plan) problems(l *Listing) []skill.Problem {
	shared, capped := 0, 0
	for i := range p.items {
		it := &p.items[i]
		switch {
		case it.fixed() && it.cut, p.step != 3 && it.cut && it.take == it.chars:
			capped++
		case p.step != 1 && !it.fixed() && (it.take < it.chars || p.step == 3):
			shared++
		}
	}
	var out []skill.Problem
	add := func(code string, severity skill.Severity, fix, format string, args ...any) {
		out = append(out, skill.Problem{Code: code, Severity: severity, Message: fmt.Sprintf(format, args...), Fix: fix})
	}
	budget := p.budgetText()
	switch {
	case p.step == 2 && shared > 0:
		add("listing-shortened", skill.Warning, fixBudget,
			"the descriptions of %d of %d skills are shortened, to about %d characters: all need %d, the budget is %s, and %d are used; the longest are %s",
			shared, len(p.items), p.level, p.needed, budget, l.UsedChars, p.longest(nil))
	case p.step == 2:
		add("listing-over-budget", skill.Warning, fixBudget,
			"%d skills that are never shortened need %d characters; the budget is %s", len(p.items), p.needed, budget)
	case p.step == 3:
		add("listing-names-only", skill.Warning, fixBudget,
			"%d of %d skills are listed without a description, since under %d characters would be left for each: the names need %d, the budget is %s, and %d are used; the longest are %s",
			shared-l.Omitted, len(p.items), minShare, p.needed, budget, l.UsedChars, p.longest(nil))
	}
	if l.Omitted > 0 {
		add("listing-omitted", skill.Warning, fixBudget,
			"%d of %d skills are not listed at all and only found by SkillSearch: the names need %d characters, and may take %d",
			l.Omitted, len(p.items), p.needed, namesOverBudget*p.budget)
	}
	if capped > 0 {
		add("listing-capped", skill.Info, fixCap,
			"%d of %d skills have more than %d characters of description and when_to_use; the rest is never listed: %s",
			capped, len(p.items), p.o.maxDesc(), p.longest(func(it *item) bool { return it.cut }))
	}
	return out
}

// budgetText says what the budget is.
func (p *plan) budgetText() string {
	if p.o.CharsOnly {
		return fmt.Sprintf("%d characters", p.budget)
	}
	return fmt.Sprintf("%d characters or %d tokens", p.budget, p.budget/charsPerToken)
}

// longest names the entries with the longest texts among those wanted (nil
// means all). Lengths of bytes decide, so that a large catalog is not read.
func (p *plan) longest(wanted func(*item) bool) string {
	size := func(it *item) int { return len(it.entry.Description) + len(it.entry.WhenToUse) }
	var top []*item
	for i := range p.items {
		it := &p.items[i]
		if wanted != nil && !wanted(it) || len(top) == offenders && size(it) <= size(top[offenders-1]) {
			continue
		}
		at := len(top)
		for at > 0 && size(top[at-1]) < size(it) {
			at--
		}
		top = slices.Insert(top, at, it)
		top = top[:min(len(top), offenders)]
	}
	var names []string
	for _, it := range top {
		chars := utf8.RuneCountInString(it.entry.Description) + utf8.RuneCountInString(it.entry.WhenToUse)
		names = append(names, fmt.Sprintf("%s (%d)", text.Terminal(it.entry.ID), chars))
	}
	return strings.Join(names, ", ")
}
