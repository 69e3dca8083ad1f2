package catalog

import (
	"fmt"
	"slices"
	"testing"

	"github.com/knack-skills/knack/skill"
	"pgregory.net/rapid"
)

var (
	someIDs     = rapid.SampledFrom([]string{"a", "b", "caf\u00e9", "cafe\u0301", "ops:a", "user:a", "project:b", "web:a", "bundled:a"})
	someRoots   = rapid.SampledFrom([]string{"", userRoot, userTwin, nearRoot, nearTwin, farRoot, `C:\u\.claude\skills`})
	someNames   = rapid.SampledFrom([]string{"", "a", "Bird", "user:a", "b"})
	someReals   = rapid.SampledFrom([]string{"", "", "", "/r1", "/r2"})
	someBelow   = rapid.SampledFrom([]string{"", "", "", "web", "web/admin"})
	someScopes  = rapid.SampledFrom([]skill.Source{"", skill.User, skill.Project, skill.Additional})
	someSources = rapid.SampledFrom(append(DefaultPrecedence(), "embedded"))
)

// anySkill draws a skill. Skills that are equal in all that can be seen are
// made different by serial, as two files always are.
func anySkill(t *rapid.T, serial int) *skill.Skill {
	source := someSources.Draw(t, "source")
	s := &skill.Skill{
		Summary: skill.Summary{ID: someIDs.Draw(t, "id"), Name: someNames.Draw(t, "name")},
		Trigger: skill.Trigger{
			HiddenFromModel: rapid.Bool().Draw(t, "only user"),
			HiddenFromUser:  rapid.Bool().Draw(t, "only model"),
			Conditional:     rapid.Bool().Draw(t, "conditional"),
		},
		Origin: skill.Origin{
			Source: source, Scope: someScopes.Draw(t, "scope"), Root: someRoots.Draw(t, "root"),
			Distance: rapid.IntRange(0, 2).Draw(t, "distance"), Linked: rapid.Bool().Draw(t, "linked"),
			Real: someReals.Draw(t, "real"), Inode: uint64(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "inode")),
		},
	}
	if source == skill.Plugin || source == skill.MCP {
		s.ID = "p:" + s.ID
	} else {
		s.Origin.Below = someBelow.Draw(t, "below")
	}
	s.Origin.Path = fmt.Sprintf("%s/%s/%d", s.Origin.Root, s.ID, serial)
	return s
}

func anySkills(t *rapid.T) []*skill.Skill {
	skills := make([]*skill.Skill, rapid.IntRange(0, 14).Draw(t, "n"))
	for i := range skills {
		skills[i] = anySkill(t, i)
	}
	return skills
}

func anyOptions(t *rapid.T) Options {
	o := Options{
		AllowBundledOverride: rapid.Bool().Draw(t, "override"),
		DisableBundled:       rapid.Bool().Draw(t, "disable"),
		Overrides: rapid.MapOfN(someIDs, rapid.SampledFrom([]Visibility{On, Off, NameOnly, UserInvocableOnly, "?"}), 0, 3).
			Draw(t, "overrides"),
	}
	if rapid.Bool().Draw(t, "reorder") {
		o.Precedence = rapid.SliceOfN(someSources, 0, 4).Draw(t, "precedence")
	}
	return o
}

// TestAnyOrderSameSnapshot covers C-11: neither the order of skills nor their
// distribution over sources can be seen in the result.
func TestAnyOrderSameSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		skills, opts := anySkills(t), anyOptions(t)
		problems := []skill.Problem{{Code: "p", Path: "/b"}, {Code: "p", Path: "/a"}, {Code: "p", Path: "/a", Fix: "f"}}
		want := draw(merge([]result{{skills: skills, problems: problems}}, opts))
		mixed := rapid.Permutation(skills).Draw(t, "order")
		cut := rapid.IntRange(0, len(mixed)).Draw(t, "cut")
		slices.Reverse(problems)
		got := draw(merge([]result{{skills: mixed[:cut]}, {skills: mixed[cut:], problems: problems}}, opts))
		if got != want {
			t.Fatalf("order can be seen:\n%s\n---\n%s", want, got)
		}
	})
}

// TestNothingIsLost covers C-8: every skill ends in one place, and every id
// and qualified id means the entry that bears it.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		skills := anySkills(t)
		s := snap(anyOptions(t), skills...)
		seen := map[*skill.Skill]int{}
		resolves := func(name string, e *Entry) {
			if got, err := s.Resolve(name); got != e {
				t.Fatalf("%q means %v (%v), not %s", name, got, err, e.Qualified)
			}
		}
		for e := range s.All() {
			seen[e.Skill]++
			resolves(e.ID, e)
			resolves(e.Qualified, e)
			if e.Winner != nil || e.State == Shadowed {
				t.Fatalf("%s is listed and shadowed", e.ID)
			}
		}
		for e := range s.Shadowed() {
			seen[e.Skill]++
			resolves(e.Qualified, e)
			if e.Winner == nil || e.lost.Detail == "" || e.State != Shadowed && e.State != Disabled {
				t.Fatalf("%s is shadowed without winner, reason or state", e.Qualified)
			}
			if e.lost.Rule == "C-5" && s.byID[e.ID] != e.Winner {
				t.Fatalf("%s lost %q to %s, which does not have it", e.Qualified, e.ID, e.Winner.ID)
			}
		}
		for _, sk := range skills {
			if seen[sk] != 1 {
				t.Fatalf("%+v ends in %d places", sk.Origin, seen[sk])
			}
		}
		for e := range s.All() {
			if got, steps := s.Explain(e.Qualified, nil); got != e || len(steps) < 5 {
				t.Fatalf("explanation of %s: %v", e.Qualified, steps)
			}
		}
	})
}

// TestLowerNeverWins covers C-5: the skill that claims last changes no other
// skill's id, and no other skill's file.
func TestLowerNeverWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		skills, opts := append(anySkills(t), anySkill(t, 99)), anyOptions(t)
		opts.AllowBundledOverride = false // there, lower sources win by rule
		with := snap(opts, skills...)
		lowest := slices.MaxFunc(slices.Concat(with.ordered, with.shadowed), func(a, b *Entry) int {
			return compareClaims(claimant{a.claim, a.Origin.Path, a}, claimant{b.claim, b.Origin.Path, b})
		})
		rest := slices.DeleteFunc(slices.Clone(skills), func(s *skill.Skill) bool { return s == lowest.Skill })
		without := snap(opts, rest...)
		for e := range without.All() {
			if got := with.byID[e.ID]; got == nil || got.Skill != e.Skill {
				t.Fatalf("%q went from %s to %v", e.ID, e.Qualified, got)
			}
		}
		for e := range without.Shadowed() {
			if _, err := with.Resolve(e.Qualified); err != nil {
				t.Fatalf("%q means nothing any more: %v", e.Qualified, err)
			}
		}
	})
}

// TestKeyKeepsOrder: packing origins into numbers loses no order within limits.
func TestKeyKeepsOrder(t *testing.T) {
	o := newOrder(&Options{}, map[string]uint64{userRoot: 0, nearRoot: 0})
	ordered := []skill.Origin{
		{Source: skill.Bundled},
		{Source: skill.User, Root: userRoot},
		{Source: skill.User, Root: userRoot, Linked: true},
		{Source: skill.Project, Root: nearRoot},
		{Source: skill.Project, Root: nearTwin},
		{Source: skill.Project, Root: farRoot, Distance: 1},
		{Source: skill.Project, Root: farRoot, Distance: 1 << 21},
		{Source: skill.Project, Root: farRoot, Below: "a/b/c/d"},
		{Source: skill.Project, Root: farRoot, Below: "a/b"},
		{Source: skill.Project, Root: farRoot, Below: "a"},
		{Source: skill.MCP},
		{Source: "embedded"},
	}
	for i := range ordered[1:] {
		_, a := o.keys(&ordered[i])
		_, b := o.keys(&ordered[i+1])
		if a >= b {
			t.Errorf("%+v is not shown before %+v", ordered[i], ordered[i+1])
		}
	}
	claims := []skill.Origin{
		{Source: skill.Bundled},
		{Source: skill.Project, Root: farRoot, Distance: 1 << 21},
		{Source: skill.Workflow},
		{Source: "embedded"},
		{Source: skill.Plugin},
		{Source: skill.MCP},
		{Source: skill.Additional, Root: farRoot, Below: "a/b"},
		{Source: skill.Project, Root: farRoot, Below: "a"},
	}
	for i := range claims[1:] {
		a, _ := o.keys(&claims[i])
		b, _ := o.keys(&claims[i+1])
		if a >= b {
			t.Errorf("%+v does not claim before %+v", claims[i], claims[i+1])
		}
	}
	if a, _ := o.keys(&skill.Origin{Source: skill.MCP, Distance: -1}); a.class() != classNamespaced {
		t.Error("the class is lost, or a negative distance is not the nearest")
	}
}
