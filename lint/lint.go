// Package lint finds what is legal in a skill and yet hardly meant: words that
// no model sees, amounts that are taken for arguments, rules and patterns that
// can match nothing, links to files that are not there (spec K-6, F-6, F-8).
// What goes wrong while loading is reported by the sources; lint adds to it.
//
// Nothing is changed and nothing is run. [File] looks at the skill's own
// directory; [Catalog] and [Codes] read no files. All functions are safe for
// concurrent use.
package lint

import (
	"cmp"
	"slices"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/skill"
)

// A Profile is the set of rules to check against (spec K-6).
type Profile string

// The profiles.
const (
	Knack       Profile = "knack"       // what this program does with a skill; also when empty
	AgentSkills Profile = "agentskills" // what the portable standard would reject (spec F-8)
)

// Options selects what is checked. The zero value is the default.
type Options struct {
	Profile      Profile // empty means Knack
	MaxDescChars int     // characters of an entry that a listing shows (spec L-2); zero means 250
	ArgumentBase int     // first index of $N in force: 0, 1, or -1 for auto (spec P-4)
}

func (o Options) maxDescChars() int { return cmp.Or(max(o.MaxDescChars, 0), 250) }

// A check looks at one file for one kind of finding.
type check func(*file, Options) []skill.Problem

// fileChecks is what each profile looks for in one file.
var fileChecks = map[Profile][]check{
	Knack: {
		descriptionMissing, descriptionCut, nameDiffers,
		ruleProblems, pathProblems,
		argsOneBased, unescapedDollar, unknownVariables,
		bodyLong, missingResources, nestedSkills,
	},
	AgentSkills: {
		portableName, portableDescription, portableCompatibility,
		portableFields, portableMetadata,
	},
}

// File checks the skill s, which a source read from the file data. Problems of
// loading are not repeated, but for bytes that no text has: loading looks at the
// head of the file, and a call will refuse or change what is behind it (spec
// F-7). The result is sorted by position.
func File(s *skill.Skill, data []byte, o Options) []skill.Problem {
	f, found := read(s, data)
	if f == nil {
		return found
	}
	for _, c := range fileChecks[cmp.Or(o.Profile, Knack)] {
		found = append(found, c(f, o)...)
	}
	slices.SortFunc(found, skill.CompareProblems)
	return found
}

// Catalog checks the skills of a workspace against each other. The portable
// profile has no such rules. The result is sorted by file.
func Catalog(snap *catalog.Snapshot, o Options) []skill.Problem {
	if cmp.Or(o.Profile, Knack) != Knack {
		return nil
	}
	found := slices.Concat(sameVisiblePrefix(snap, o), nameSquatting(snap))
	slices.SortFunc(found, skill.CompareProblems)
	return found
}
