package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// maxRequires is how many needs of one skill are looked up.
const maxRequires = 100

// Missing returns which of the skills that e requires are not here, as e names
// them. A name that several skills claim is not missing.
func (s *Snapshot) Missing(e *Entry) (names []string) {
	for _, name := range e.Run.Requires[:min(len(e.Run.Requires), maxRequires)] {
		if claims, _ := s.find(required(name)); len(claims) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// required is a name without its range: name@^1.2.
func required(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return nfc(strings.TrimSpace(name))
}

// requireProblems reports skills that need one that is not here, and rings of
// skills that need each other. What a skill needs grants it nothing.
func requireProblems(s *Snapshot) (out []skill.Problem) {
	walk := rings{snapshot: s, state: map[*Entry]int{}}
	for _, e := range s.ordered {
		if len(e.Run.Requires) == 0 {
			continue
		}
		for _, name := range s.Missing(e) {
			out = append(out, skill.Problem{
				Code: codeRequiresMissing, Severity: skill.Warning, Path: e.Origin.Path,
				Message: fmt.Sprintf("%q requires the skill %q, which is not here", e.ID, name),
				Fix:     "add that skill, or take its name out of requires",
			})
		}
		walk.from(e)
	}
	return append(out, walk.problems...)
}

// rings finds skills that need themselves by way of others.
type rings struct {
	snapshot *Snapshot
	state    map[*Entry]int // of entries that were reached
	path     []*Entry
	problems []skill.Problem
}

const (
	onPath = iota + 1
	done
)

func (r *rings) from(e *Entry) {
	switch r.state[e] {
	case done:
		return
	case onPath:
		r.report(r.path[slices.Index(r.path, e):])
		return
	}
	r.state[e] = onPath
	r.path = append(r.path, e)
	for _, name := range e.Run.Requires[:min(len(e.Run.Requires), maxRequires)] {
		if claims, _ := r.snapshot.find(required(name)); len(claims) == 1 {
			r.from(claims[0])
		}
	}
	r.path = r.path[:len(r.path)-1]
	r.state[e] = done
}

func (r *rings) report(ring []*Entry) {
	var ids []string
	for _, e := range ring {
		ids = append(ids, e.ID)
	}
	r.problems = append(r.problems, skill.Problem{
		Code: codeRequiresRing, Severity: skill.Warning, Path: ring[0].Origin.Path,
		Message: "skills require each other in a ring: " + strings.Join(append(ids, ids[0]), " → "),
		Fix:     "take one of them out of requires",
	})
}
