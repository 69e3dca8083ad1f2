package lint_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/lint"
	"github.com/knack-skills/knack/skill"
)

// source is a fixed list of skills.
type source []*skill.Skill

func (s source) Load(context.Context) ([]*skill.Skill, []skill.Problem, error) { return s, nil, nil }

// entry makes a skill; from is "source:id".
func entry(from, name, description string) *skill.Skill {
	src, id, _ := strings.Cut(from, ":")
	s := &skill.Skill{
		Summary: skill.Summary{ID: id, Name: name, Description: description},
		Origin:  skill.Origin{Source: skill.Source(src)},
	}
	if s.Origin.Source != skill.Bundled {
		s.Origin.Dir = "/" + src + "/" + id
		s.Origin.Path = s.Origin.Dir + "/SKILL.md"
		s.Origin.Real = s.Origin.Path
	}
	return s
}

func hidden(s *skill.Skill) *skill.Skill {
	s.Trigger.HiddenFromModel = true
	return s
}

func TestCatalog(t *testing.T) {
	shared := strings.Repeat("the same words ", 20) // 300 characters
	for _, tt := range []struct {
		name   string
		skills []*skill.Skill
		want   []string // code and path
	}{
		{"different", []*skill.Skill{entry("project:a", "", "one"), entry("project:b", "", "two")}, nil},
		{"same start", []*skill.Skill{entry("project:a", "", shared+"one"), entry("project:b", "", shared+"two")}, []string{
			"same-visible-prefix /project/a/SKILL.md", "same-visible-prefix /project/b/SKILL.md"}},
		{"same text", []*skill.Skill{entry("project:a", "", "one"), entry("user:b", "", "one")}, []string{
			"same-visible-prefix /project/a/SKILL.md", "same-visible-prefix /user/b/SKILL.md"}},
		{"different within the cap", []*skill.Skill{entry("project:a", "", "one "+shared), entry("project:b", "", "two "+shared)}, nil},
		{"one is hidden", []*skill.Skill{entry("project:a", "", "one"), hidden(entry("user:b", "", "one"))}, nil},
		{"no description", []*skill.Skill{entry("project:a", "", ""), entry("user:b", "", "")}, nil},
		{"display name like another", []*skill.Skill{entry("bundled:commit", "", "one"), entry("project:x", "Cоmmit", "two")}, []string{
			"name-squatting /project/x/SKILL.md"}},
		{"display name of another", []*skill.Skill{entry("bundled:commit", "", "one"), entry("project:x", "commit", "two")}, nil}, // the catalog's
		{"display name of nobody", []*skill.Skill{entry("bundled:commit", "", "one"), entry("project:x", "push", "two")}, nil},
		{"own display name", []*skill.Skill{entry("project:x", "x", "two")}, nil},
		{"other alphabet", []*skill.Skill{entry("bundled:commit", "", "one"), entry("project:соmmit", "", "two")}, []string{
			"name-squatting /project/соmmit/SKILL.md"}},
		{"digits for letters", []*skill.Skill{entry("user:deploy", "", "one"), entry("project:dep1oy", "", "two")}, []string{
			"name-squatting /project/dep1oy/SKILL.md", "name-squatting /user/deploy/SKILL.md"}},
		{"one letter off", []*skill.Skill{entry("bundled:commit", "", "one"), entry("project:comit", "", "two")}, []string{
			"name-squatting /project/comit/SKILL.md"}},
		{"letters swapped", []*skill.Skill{entry("bundled:commit", "", "one"), entry("project:ocmmit", "", "two")}, []string{
			"name-squatting /project/ocmmit/SKILL.md"}},
		{"two letters off", []*skill.Skill{entry("bundled:commit", "", "one"), entry("project:omits", "", "two")}, nil},
		{"near to a short word", []*skill.Skill{entry("bundled:loop", "", "one"), entry("project:loot", "", "two")}, nil},
		{"near to one's own", []*skill.Skill{entry("project:commit", "", "one"), entry("project:commits", "", "two")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap, err := catalog.New(catalog.Options{}, source(tt.skills)).Refresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range lint.Catalog(snap, lint.Options{}) {
				got = append(got, p.Code+" "+p.Path)
				if p.Message == "" || p.Fix == "" || p.Severity == "" {
					t.Errorf("incomplete problem: %+v", p)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if got := lint.Catalog(snap, lint.Options{Profile: lint.AgentSkills}); len(got) > 0 {
				t.Errorf("the portable profile compares skills: %v", got)
			}
		})
	}
}

func TestCatalogNamesOthers(t *testing.T) {
	var skills []*skill.Skill
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		skills = append(skills, entry("project:"+id, "", "one"))
	}
	snap, err := catalog.New(catalog.Options{}, source(skills)).Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := lint.Catalog(snap, lint.Options{})
	if len(found) != 5 || !strings.Contains(found[4].Message, "a, b, c and 1 more") {
		t.Errorf("got %v", found)
	}
}
