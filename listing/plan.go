package listing

import (
	"fmt"
	"math"
	"sort"
)

// A plan decides how much of each entry is printed (spec L-3).
type plan struct {
	o      Options
	budget int
	items  []item
	step   int
	level  int // characters everybody got, in step 2
	needed int // units that full lines (step 2) or bare names (step 3) take
}

// newPlan chooses the first step that fits.
func newPlan(entries []Entry, o Options) *plan {
	p := &plan{o: o, budget: o.BudgetChars(), items: make([]item, len(entries))}
	least := 0 // what must be printed in steps 1 and 2
	others := false
	for i := range entries {
		it := &p.items[i]
		it.begin(&entries[i], &o)
		if it.fixed() {
			it.load(&o)
		} else {
			others = true
		}
		least += it.size()
	}
	p.needed = least
	switch {
	case !others:
		p.step = 1
		if least > p.budget {
			p.step = 2
		}
	case least > p.budget:
		p.namesOnly()
	default:
		p.share(least)
	}
	return p
}

// share is steps 1 and 2, or 3 when the shares are too small. least is what
// the fixed entries and the names of the others take.
func (p *plan) share(least int) {
	var texts []*item
	heads, full := 0, 0
	for i := range p.items {
		it := &p.items[i]
		if it.fixed() {
			continue
		}
		it.load(&p.o)
		if it.chars > 0 {
			texts = append(texts, it)
			heads += it.head - it.bare
			full += it.cost(it.chars)
		}
	}
	p.needed = least + heads + full
	if p.needed <= p.budget {
		p.step = 1
		return
	}
	if p.level = p.divide(texts, p.budget-least-heads); p.level < minShare && len(texts) > 0 {
		p.needed = least
		p.namesOnly()
		return
	}
	p.step = 2
}

// divide gives units to texts, in steps of one character, in an order that
// does not depend on units; so more units never give anybody less. It returns
// the number of characters that everybody got or could have got.
func (p *plan) divide(texts []*item, units int) int {
	most := p.o.maxDesc()
	if p.o.Mode == Ranked {
		most = min(most, rankedFloor)
	}
	cost := func(level int) (sum int) {
		for _, it := range texts {
			sum += it.cost(level)
		}
		return sum
	}
	// Water filling: the highest level that fits. What short texts do not
	// need raises the level for the long ones.
	level := sort.Search(most, func(n int) bool { return cost(n+1) > units })
	left := units - cost(level)
	for _, it := range texts {
		it.take = min(it.chars, max(level, 0))
	}
	if level < most {
		giveOne(texts, level, left)
	} else {
		giveByRank(texts, left)
	}
	return level
}

// giveOne gives the remainder of an equal division: one more character each,
// in the order of the entries, until the first that does not fit.
func giveOne(texts []*item, level, left int) {
	for _, it := range texts {
		if it.chars <= level {
			continue
		}
		if left -= it.cost(level+1) - it.cost(level); left < 0 {
			return
		}
		it.take = level + 1
	}
}

// giveByRank completes texts in the order of their ranks (spec L-5).
func giveByRank(texts []*item, left int) {
	for _, it := range highest(texts, math.MaxInt) {
		had := it.cost(it.take)
		it.take += sort.Search(it.chars-it.take, func(n int) bool { return it.cost(it.take+n+1)-had > left })
		if it.take < it.chars {
			return
		}
		left -= it.cost(it.take) - had
	}
}

// namesOnly is step 3. Names beyond twice the budget are left out by rank.
func (p *plan) namesOnly() {
	p.step = 3
	names := make([]*item, 0, len(p.items))
	pinned, total := 0, 0
	for i := range p.items {
		it := &p.items[i]
		if it.entry.Pinned && !it.entry.NameOnly {
			pinned += it.size()
			continue
		}
		it.take = 0
		total += it.bare
		names = append(names, it)
	}
	// Where bundled entries alone are too long, names still have a place.
	limit := max(namesOverBudget*p.budget-pinned, p.budget/2)
	if total <= limit {
		return
	}
	for _, it := range names {
		it.out = true
	}
	for _, it := range highest(names, limit) {
		it.out = false
	}
}

// listing renders the plan.
func (p *plan) listing() Listing {
	l := Listing{BudgetChars: p.budget, Step: p.step}
	for i := range p.items {
		if p.items[i].out {
			l.Omitted++
		}
	}
	l.Lines = make([]Line, 0, len(p.items)-l.Omitted)
	bare := fmt.Sprintf("name only: the budget of %d characters leaves under %d for each description", p.budget, minShare)
	for i := range p.items {
		it := &p.items[i]
		if it.out {
			continue
		}
		shortened, reason := p.reason(it, bare)
		l.Lines = append(l.Lines, Line{ID: it.entry.ID, Line: it.line(), Shortened: shortened, Reason: reason})
	}
	l.UsedChars = count(l.Lines)
	l.Problems = p.problems(&l)
	return l
}

// reason says why less is printed of it than the author wrote (spec L-10);
// bare is the reason of step 3, the same for all.
func (p *plan) reason(it *item, bare string) (shortened bool, why string) {
	switch {
	case it.entry.NameOnly:
		return false, "name only: set by skillOverrides"
	case p.step == 3 && !it.entry.Pinned:
		if it.entry.Description == "" && it.entry.WhenToUse == "" {
			return false, ""
		}
		return true, bare
	case it.take < it.chars:
		return true, fmt.Sprintf("cut to %d of %d characters: its share of the budget of %d", it.take, it.chars, p.budget)
	case it.cut:
		return true, fmt.Sprintf("cut to skillListingMaxDescChars (%d characters)", p.o.maxDesc())
	}
	return false, ""
}
