package lint

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// sameVisiblePrefix reports skills that a model cannot tell apart, because what
// a listing shows of them is the same text (spec L-2).
func sameVisiblePrefix(snap *catalog.Snapshot, o Options) []skill.Problem {
	groups := map[string][]*catalog.Entry{}
	var order []string
	for e := range snap.ModelView(func(string) bool { return true }) {
		_, shown := visible(e.Summary, e.Origin.Source, o.maxDescChars())
		if shown == "" {
			continue
		}
		if groups[shown] == nil {
			order = append(order, shown)
		}
		groups[shown] = append(groups[shown], e)
	}
	var found []skill.Problem
	for _, shown := range order {
		if len(groups[shown]) < 2 {
			continue
		}
		for _, e := range groups[shown] {
			what := "the whole description"
			if strings.HasSuffix(shown, "…") {
				what = fmt.Sprintf("all that a model sees of the description (%d characters)", o.maxDescChars())
			}
			found = append(found, skill.Problem{
				Code: "same-visible-prefix", Severity: skill.Warning, Path: e.Origin.Path,
				Message: fmt.Sprintf("%s: %s is the same as that of %s", e.ID, what, others(groups[shown], e)),
				Fix:     "say first what is different about this skill",
			})
		}
	}
	return found
}

// others names the entries of a group but e, three at most.
func others(group []*catalog.Entry, e *catalog.Entry) string {
	var ids []string
	for _, o := range group {
		if o != e {
			ids = append(ids, o.ID)
		}
	}
	if n := len(ids) - 3; n > 0 {
		return strings.Join(ids[:3], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(ids, ", ")
}

// squatLength is the shortest id that a near spelling counts against: short
// words are near to many others by chance.
const squatLength = 6

// nameSquatting reports skills that can be taken for another one: an id or a
// display name that looks like another skill's id, letter by letter, and an id
// one letter from that of a bundled or managed skill. A display name that *is*
// the id of another skill is reported by the catalog (spec C-6).
func nameSquatting(snap *catalog.Snapshot) []skill.Problem {
	alike, trusted := map[string][]string{}, []string(nil)
	for e := range snap.All() {
		alike[text.Skeleton(e.ID)] = append(alike[text.Skeleton(e.ID)], e.ID)
		if e.Origin.ShippedOrManaged() && len(e.ID) >= squatLength {
			trusted = append(trusted, e.ID)
		}
	}
	var found []skill.Problem
	for e := range snap.All() {
		if e.Origin.ShippedOrManaged() {
			continue
		}
		if why := squats(e, alike, trusted); why != "" {
			found = append(found, skill.Problem{
				Code: "name-squatting", Severity: skill.Warning, Path: e.Origin.Path,
				Message: fmt.Sprintf("%s can be taken for another skill: %s", e.ID, why),
				Fix:     "choose a name that cannot be mistaken",
			})
		}
	}
	return found
}

// squats says for which other skill e can be taken, or "".
func squats(e *catalog.Entry, alike map[string][]string, trusted []string) string {
	for _, name := range []string{e.ID, e.Name} {
		for _, id := range alike[text.Skeleton(name)] {
			if name != "" && id != e.ID && id != name {
				return fmt.Sprintf("%q looks like %q", name, id)
			}
		}
	}
	for _, id := range trusted {
		if text.Edits(e.ID, id, 1) == 1 {
			return fmt.Sprintf("it is one letter from %q", id)
		}
	}
	return ""
}
