package agentdef

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// A Set is all kinds of agents of a workspace, merged.
type Set struct {
	defs     []*Definition // by name
	shadowed []*Definition // what lost its name, strongest first
	problems []skill.Problem
}

// merge gives each name to the strongest definition.
func merge(defs []*Definition, problems []skill.Problem, trusted bool) *Set {
	sortByStrength(defs, trusted)
	s := &Set{problems: problems}
	winners := map[string]*Definition{}
	for _, d := range defs {
		w := winners[d.Name]
		if w == nil {
			winners[d.Name] = d
			s.defs = append(s.defs, d)
			continue
		}
		s.shadowed = append(s.shadowed, d)
		if d.Origin.Path != "" {
			s.problems = append(s.problems, problem(skill.Info, "agent-shadowed", d.Origin.Path,
				fmt.Sprintf("the agent %q is not used: %s stands before it", d.Name, w.Origin), "give one of them another name"))
		}
	}
	slices.SortFunc(s.defs, func(a, b *Definition) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.problems, skill.CompareProblems)
	return s
}

// String says where a definition is from, for people.
func (o Origin) String() string {
	switch {
	case o.Path != "":
		return fmt.Sprintf("that of %s (%s)", o.Path, o.Source)
	case o.Source == CommandLine:
		return "that of --agents"
	}
	return "the built-in one"
}

// All returns the definitions by name. Callers own the slice.
func (s *Set) All() []*Definition { return slices.Clone(s.defs) }

// Shadowed returns the definitions that lost their name to a stronger one.
// Callers own the slice.
func (s *Set) Shadowed() []*Definition { return slices.Clone(s.shadowed) }

// Problems returns what is wrong with the files, sorted. Callers own the slice.
func (s *Set) Problems() []skill.Problem { return slices.Clone(s.problems) }

// Lookup finds a kind of agent by its exact name; an empty name means
// general-purpose. It returns an [*UnknownError] or an [*UnusableError].
func (s *Set) Lookup(name string) (*Definition, error) {
	name = cmp.Or(strings.TrimSpace(name), GeneralPurpose)
	i, ok := slices.BinarySearchFunc(s.defs, name, func(d *Definition, name string) int { return strings.Compare(d.Name, name) })
	if !ok {
		e := &UnknownError{Name: name}
		for _, d := range s.defs {
			if d.Unusable == "" {
				e.Known = append(e.Known, d.Name)
			}
		}
		e.Near = text.Near(name, e.Known, 3)
		return nil, e
	}
	if d := s.defs[i]; d.Unusable != "" {
		return nil, &UnusableError{Name: name, Path: d.Origin.Path, Reason: d.Unusable}
	}
	return s.defs[i], nil
}

// An UnknownError reports that there is no kind of agent of that name.
type UnknownError struct {
	Name  string
	Known []string // every kind there is, by name
	Near  []string // up to three that look like Name, best first
}

// maxKnown is how many kinds an error names.
const maxKnown = 30

func (e *UnknownError) Error() string {
	text := fmt.Sprintf("unknown agent type %q", e.Name)
	if len(e.Near) > 0 {
		text += "; did you mean " + quoted(e.Near, " or ") + "?"
	} else {
		text += "."
	}
	if len(e.Known) == 0 {
		return text + " There are no agent types."
	}
	text += " Known agent types: " + quoted(e.Known[:min(len(e.Known), maxKnown)], ", ")
	if more := len(e.Known) - maxKnown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func quoted(names []string, sep string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(out, sep)
}

// An UnusableError reports a kind of agent that must not run, because a field
// that limits it cannot be read.
type UnusableError struct{ Name, Path, Reason string }

func (e *UnusableError) Error() string {
	where := e.Path
	if where == "" {
		where = "--agents"
	}
	return fmt.Sprintf("agent %q cannot be used: %s (%s)", e.Name, e.Reason, where)
}
