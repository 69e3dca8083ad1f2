package catalog

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// static is a source of values.
type static struct {
	skills   []*skill.Skill
	problems []skill.Problem
	err      error
}

func (s static) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	return s.skills, s.problems, cmp.Or(ctx.Err(), s.err)
}

// at makes a skill that lies in root, with an id that may hold a category.
func at(source skill.Source, root, id string, change ...func(*skill.Skill)) *skill.Skill {
	s := &skill.Skill{
		Summary: skill.Summary{ID: id, Description: "Does " + id + "."},
		Origin:  skill.Origin{Source: source, Root: root},
	}
	if root != "" {
		s.Origin.Dir = path.Join(root, strings.ReplaceAll(id, ":", "/"))
		s.Origin.Path = s.Origin.Dir + "/SKILL.md"
		s.Origin.Real = s.Origin.Path
	}
	for _, f := range change {
		f(s)
	}
	return s
}

const (
	userRoot    = "/home/u/.claude/skills"
	userTwin    = "/home/u/.agents/skills"
	managedRoot = "/etc/claude-code/.claude/skills"
	nearRoot    = "/repo/apps/.claude/skills"
	nearTwin    = "/repo/apps/.agents/skills"
	farRoot     = "/repo/.claude/skills"
)

func bundled(id string, f ...func(*skill.Skill)) *skill.Skill { return at(skill.Bundled, "", id, f...) }
func managed(id string, f ...func(*skill.Skill)) *skill.Skill {
	return at(skill.Managed, managedRoot, id, f...)
}
func user(id string, f ...func(*skill.Skill)) *skill.Skill { return at(skill.User, userRoot, id, f...) }
func near(id string, f ...func(*skill.Skill)) *skill.Skill {
	return at(skill.Project, nearRoot, id, f...)
}
func far(id string, f ...func(*skill.Skill)) *skill.Skill {
	return at(skill.Project, farRoot, id, append(f, distance1)...)
}
func added(n int, id string) *skill.Skill {
	return at(skill.Additional, fmt.Sprintf("/add%d/.claude/skills", 9-n), id, func(s *skill.Skill) { s.Origin.Distance = n })
}
func legacy(scope skill.Source, id string) *skill.Skill {
	return at(skill.Legacy, "/"+string(scope)+"/.claude/commands", id, func(s *skill.Skill) { s.Origin.Scope = scope })
}
func workflow(id string) *skill.Skill { return at(skill.Workflow, "/repo/workflows", id) }
func plugin(owner, id string, f ...func(*skill.Skill)) *skill.Skill {
	return at(skill.Plugin, "/plugins/"+owner+"/skills", owner+":"+id, append(f, func(s *skill.Skill) { s.Origin.Owner = owner })...)
}
func mcp(owner, id string, f ...func(*skill.Skill)) *skill.Skill {
	return at(skill.MCP, "", owner+":"+id, append(f, func(s *skill.Skill) { s.Origin.Owner = owner })...)
}
func nested(below, id string, f ...func(*skill.Skill)) *skill.Skill {
	return at(skill.Project, "/repo/apps/"+below+"/.claude/skills", id, append(f, func(s *skill.Skill) { s.Origin.Below = below })...)
}

func distance1(s *skill.Skill) { s.Origin.Distance = 1 }

// named, real, conditional and so on change one thing.
func named(n string) func(*skill.Skill) { return func(s *skill.Skill) { s.Name = n } }
func real(p string) func(*skill.Skill)  { return func(s *skill.Skill) { s.Origin.Real = p } }
func inode(n uint64) func(*skill.Skill) {
	return func(s *skill.Skill) { s.Origin.Device, s.Origin.Inode = 1, n }
}
func linked(s *skill.Skill)      { s.Origin.Linked = true }
func conditional(s *skill.Skill) { s.Trigger.Conditional, s.Trigger.Paths = true, []string{"*.go"} }
func onlyUser(s *skill.Skill)    { s.Trigger.HiddenFromModel = true }
func onlyModel(s *skill.Skill)   { s.Trigger.HiddenFromUser = true }
func undescribed(s *skill.Skill) { s.Description = "" }
func fallback(s *skill.Skill)    { s.DescriptionFallback = true }
func whenToUse(s *skill.Skill)   { s.Description, s.WhenToUse = "", "When asked." }
func enabled(f func() bool) func(*skill.Skill) {
	return func(s *skill.Skill) { s.Trigger.Enabled = f }
}

// snap merges skills under opts.
func snap(opts Options, skills ...*skill.Skill) *Snapshot {
	return merge([]result{{skills: skills}}, opts)
}

// ids draws winners, in order, as "id=qualified".
func ids(s *Snapshot) []string {
	var out []string
	for e := range s.All() {
		out = append(out, e.ID+"="+e.Qualified)
	}
	return out
}

// losers draws the shadowed, in order, as "qualified<winner rule".
func losers(s *Snapshot) []string {
	var out []string
	for e := range s.Shadowed() {
		out = append(out, fmt.Sprintf("%s<%s %s", e.Qualified, e.Winner.Qualified, e.lost.Rule))
	}
	return out
}

// codes draws problems as "severity code path".
func codes(problems []skill.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%s %s %s", p.Severity, p.Code, p.Path))
	}
	return out
}

func idsOf(entries []*Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.ID)
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// draw writes everything of a snapshot that can be seen.
func draw(s *Snapshot) string {
	var b strings.Builder
	for e := range s.All() {
		fmt.Fprintf(&b, "all %s %s %s %s %+v %s\n", e.ID, e.Qualified, e.State, e.Visibility, e.Reason, e.Origin.Path)
	}
	for e := range s.Shadowed() {
		fmt.Fprintf(&b, "shadowed %s %s %s %s %+v %s by %s\n", e.ID, e.Qualified, e.State, e.Visibility, e.Reason, e.Origin.Path, e.Winner.Qualified)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "%+v\n", p)
	}
	return b.String()
}
