package catalog

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// Codes of the problems found here.
const (
	codeShadowed          = "shadowed"           // info; warning when a repository claims a bundled id (C-5)
	codeNameTaken         = "display-name-taken" // warning (C-6)
	codeSourceFailed      = "source-failed"      // error (C-11)
	codeNoID              = "skill-without-id"   // error
	codeUnknownVisibility = "unknown-visibility" // warning (C-9)
	codeRequiresMissing   = "requires-missing"   // warning (G-1)
	codeRequiresRing      = "requires-ring"      // warning (G-1)
	codeBadPrecedence     = "bad-precedence"     // warning (C-5)
)

// ownCodes are the codes whose problems Explain tells by steps of their own.
var ownCodes = []string{codeShadowed, codeNameTaken}

func sourceFailed(err error) skill.Problem {
	return skill.Problem{
		Code: codeSourceFailed, Severity: skill.Error,
		Message: "a source of skills could not be read: " + err.Error(),
		Fix:     "the other skills are not affected; remove the cause and reload",
	}
}

func withoutID(s *skill.Skill) skill.Problem {
	p := skill.Problem{
		Code: codeNoID, Severity: skill.Error,
		Message: "a source gave a skill without an id, which nobody could call",
		Fix:     "give the skill's directory a name",
	}
	if s != nil {
		p.Path = s.Origin.Path
	}
	return p
}

// compareProblems is skill.CompareProblems, made total so that equal trees give
// equal reports (spec C-11).
func compareProblems(a, b skill.Problem) int {
	return cmp.Or(
		skill.CompareProblems(a, b),
		strings.Compare(string(a.Severity), string(b.Severity)),
		strings.Compare(a.Fix, b.Fix),
	)
}

// shadowProblems reports each different file that lost its id (spec C-5, C-8).
// A repository that claims the id of a bundled skill is a warning, whoever won.
func shadowProblems(lost []*Entry) []skill.Problem {
	var out []skill.Problem
	for _, e := range lost {
		w := e.Winner
		if e.claim.class() == classRetired {
			continue // switched off: nobody misses it
		}
		p := skill.Problem{
			Code: codeShadowed, Severity: skill.Info,
			Path:    cmp.Or(e.Origin.Path, w.Origin.Path),
			Message: fmt.Sprintf("%s %q is shadowed: %s", e.kind(), e.ID, e.lost.Detail),
			Fix:     fmt.Sprintf("rename one of them, or call this one %q", e.Qualified),
		}
		if w.Origin.Source == skill.Bundled && e.Origin.FromWorkspace() ||
			e.Origin.Source == skill.Bundled && w.Origin.FromWorkspace() {
			p.Severity = skill.Warning
		}
		out = append(out, p)
	}
	return out
}

// nameProblems reports display names that do not mean the skill that bears
// them, or not it alone (spec C-6).
func nameProblems(s *Snapshot) []skill.Problem {
	var out []skill.Problem
	for name, claims := range s.names {
		for _, e := range claims {
			if message, taken := s.nameTaken(name, e); taken {
				out = append(out, skill.Problem{
					Code: codeNameTaken, Severity: skill.Warning, Path: e.Origin.Path, Message: message,
					Fix: fmt.Sprintf("choose another name, or call the skill %q", e.ID),
				})
			}
		}
	}
	return out
}

// nameTaken reports whether name, the display name of e, means another skill,
// or several.
func (s *Snapshot) nameTaken(name string, e *Entry) (message string, taken bool) {
	if name == "" || e.Winner != nil {
		return "", false
	}
	owner := cmp.Or(s.byID[name], s.byQualified(name))
	claims := s.names[name]
	switch {
	case owner == e || owner == nil && len(claims) < 2:
		return "", false
	case owner != nil:
		return fmt.Sprintf("the display name %q of %q is the id of %s, and means that one", name, e.ID, owner.where()), true
	}
	return fmt.Sprintf("the display name %q of %q is claimed by %s too", name, e.ID, others(claims, e)), true
}

// maxOthers is how many other claimants a message names.
const maxOthers = 3

// others lists the claimants besides e.
func others(claims []*Entry, e *Entry) string {
	ids := make([]string, 0, maxOthers+1)
	for _, c := range claims {
		if c == e {
			continue
		}
		if len(ids) == maxOthers {
			return strings.Join(append(ids, fmt.Sprintf("%d more", len(claims)-1-maxOthers)), ", ")
		}
		ids = append(ids, fmt.Sprintf("%q", c.ID))
	}
	return strings.Join(ids, ", ")
}
