package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// Resolve finds the skill that name means (spec C-6): exact id, then qualified
// id, then mcp__server__name for a skill of an MCP server, or its id with the name
// that its server has in the configuration, then a display name that nobody else
// claims, then the id of a plugin skill without the plugin, if only one plugin has
// it (spec X-2). Shadowed skills are found by their qualified ids only. Names are
// compared in Unicode normal form C and never loosely: anything else, hostile
// names included, is not found. It returns a [*NotFoundError] or an
// [*AmbiguousError].
func (s *Snapshot) Resolve(name string) (*Entry, error) {
	e, _, err := s.resolve(name)
	return e, err
}

// Ways in which a name can mean a skill, for Explain.
const (
	byExactID    = "it is the id"
	byQualified  = "it is the qualified id"
	byName       = "it is the display name, which no other skill claims"
	byToolName   = "it is the id, spelled like the name of a tool of its server"
	byServerName = "it is the id, with the name of its server as the configuration has it"
	byTail       = "it is the id without the plugin, which is free and which no other plugin has"
)

func (s *Snapshot) resolve(name string) (e *Entry, how string, err error) {
	name = nfc(name)
	claims, how := s.find(name)
	switch len(claims) {
	case 0:
		return nil, "", &NotFoundError{Name: name, Near: s.near(name)}
	case 1:
		return claims[0], how, nil
	}
	ids := make([]string, len(claims))
	for i, c := range claims {
		ids[i] = c.ID
	}
	return nil, "", &AmbiguousError{Name: name, IDs: ids}
}

// find returns the skills that name may mean, which is in normal form C.
func (s *Snapshot) find(name string) (claims []*Entry, how string) {
	if e := s.byID[name]; e != nil {
		return []*Entry{e}, byExactID
	}
	if e := s.byQualified(name); e != nil {
		return []*Entry{e}, byQualified
	}
	if claims, how := s.byTool(name); len(claims) > 0 {
		return claims, how
	}
	return s.claims(name)
}

// byTool finds the skills of servers that are spelled like one of their tools,
// mcp__server__name (spec X-6), or with the name that the server has in the
// configuration, as plugin:p:s:name. As in names of tools, what is no letter,
// digit, hyphen or underscore in the server's name may be an underscore. A name
// that two servers could mean is neither's: one of them may have chosen it.
func (s *Snapshot) byTool(name string) (claims []*Entry, how string) {
	rest, tool := strings.CutPrefix(name, "mcp__")
	if !tool && !strings.Contains(name, ":") {
		return nil, ""
	}
	for _, e := range s.ordered {
		if e.Origin.Source != skill.MCP {
			continue
		}
		server, prompt, _ := strings.Cut(e.ID, ":")
		switch {
		case tool && (rest == server+"__"+prompt || rest == underscored(server)+"__"+prompt):
			claims, how = append(claims, e), byToolName
		case name == nfc(e.Origin.Owner)+":"+prompt:
			claims, how = append(claims, e), byServerName
		}
	}
	return claims, how
}

func underscored(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// claims returns the skills that name may mean without being an id.
func (s *Snapshot) claims(name string) (claims []*Entry, how string) {
	var here, remote []*Entry
	own := false
	for _, e := range s.names[name] {
		if e.Origin.Remote() {
			remote = append(remote, e)
			continue
		}
		here = append(here, e)
		own = own || e.Origin.Source != skill.Plugin
	}
	if own {
		return here, byName
	}
	// One plugin's display name must not take the bare name of another's skill.
	tails := s.pluginTails()[name]
	switch {
	case len(here) > 0:
		return slices.Concat(here, tails), byName
	case len(tails) > 0:
		return tails, byTail
	}
	// A remote server must not make a name of this machine ambiguous.
	return remote, byName
}

// pluginTails is built when a name is asked for that nothing else explains,
// which most runs of the program never do.
func (s *Snapshot) pluginTails() map[string][]*Entry {
	s.tailsOnce.Do(func() {
		s.tails = map[string][]*Entry{}
		for _, e := range s.ordered {
			if t := e.tail(); e.Origin.Source == skill.Plugin && t != "" {
				s.tails[t] = append(s.tails[t], e)
			}
		}
	})
	return s.tails
}

// A NotFoundError reports that no skill has the wanted name.
type NotFoundError struct {
	Name string
	Near []string // up to three near names (spec C-6)
}

func (e *NotFoundError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf(`unknown skill %q; "knack list" shows every skill`, e.Name)
	}
	return fmt.Sprintf(`unknown skill %q; did you mean %s? "knack list" shows every skill`, e.Name, quoted(e.Near, "or"))
}

// An AmbiguousError reports that several skills claim a display name, or
// several plugins a skill of that name.
type AmbiguousError struct {
	Name string
	IDs  []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("the name %q is claimed by several skills; use one of the ids %s", e.Name, quoted(e.IDs, "or"))
}

// quoted lists words as text: "a", "b" or "c".
func quoted(words []string, conjunction string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" " + conjunction + " ")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", w)
	}
	return b.String()
}
