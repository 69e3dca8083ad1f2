package agentdef

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/knack-skills/knack/skill"
)

// precedence says who wins a name, strongest first (spec A-4). Project levels
// follow each other from the nearest on.
var precedence = []skill.Source{
	skill.Managed, CommandLine, skill.Project, skill.Additional, skill.User, skill.Plugin, skill.Bundled,
}

// untrusted is the order in a workspace that is not trusted (spec S-9): what
// came with the repository replaces nothing that did not.
var untrusted = []skill.Source{
	skill.Managed, CommandLine, skill.User, skill.Plugin, skill.Bundled, skill.Project, skill.Additional,
}

// sortByStrength orders definitions, strongest first; equals keep their order.
func sortByStrength(defs []*Definition, trusted bool) {
	order := precedence
	if !trusted {
		order = untrusted
	}
	slices.SortStableFunc(defs, func(a, b *Definition) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Origin.Source), slices.Index(order, b.Origin.Source)),
			cmp.Compare(a.Origin.Distance, b.Origin.Distance),
		)
	})
}

// A Root is a directory of definitions.
type Root struct {
	Path     string
	Source   skill.Source
	Distance int
	Owner    string // plugin
	// Boundary is where links may lead besides Path; empty means anywhere.
	Boundary string
}

// A Place says where to look.
type Place struct {
	Managed    []string // managed directories
	Project    []string // directories whose .claude belongs to the project, nearest first
	Additional []string // --add-dir
	UserDir    string   // ~/.claude or what replaces it; empty means none
	Repository string   // where links of the project may lead; empty means each directory itself
}

// Roots returns every directory to read, existing or not. A directory that is
// both the user's and the project's is the user's alone.
func (p Place) Roots() []Root {
	var user, out []Root
	add := func(list *[]Root, r Root) {
		r.Path = filepath.Join(r.Path, ".claude", "agents")
		same := func(o Root) bool { return sameDir(o.Path, r.Path) }
		if !slices.ContainsFunc(user, same) && !slices.ContainsFunc(out, same) {
			*list = append(*list, r)
		}
	}
	if p.UserDir != "" {
		user = []Root{{Path: filepath.Join(p.UserDir, "agents"), Source: skill.User}}
	}
	for i, d := range p.Managed {
		add(&out, Root{Path: d, Source: skill.Managed, Distance: i})
	}
	for i, d := range p.Project {
		add(&out, Root{Path: d, Source: skill.Project, Distance: i, Boundary: cmp.Or(p.Repository, d)})
	}
	for i, d := range p.Additional {
		add(&out, Root{Path: d, Source: skill.Additional, Distance: i, Boundary: d})
	}
	return append(out, user...)
}
