package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/knack-skills/knack/skill"
)

// TestExplain covers G-7 and K-7: the rules that decided, in order.
func TestExplain(t *testing.T) {
	settings := map[string]string{"x": "/s.json", "disableBundledSkills": "/b.json"}
	tests := []struct {
		name  string
		opts  Options
		in    []*skill.Skill
		query string
		want  string // "rule:outcome ..."
	}{
		{
			"plain", Options{}, []*skill.Skill{user("x")}, "x",
			"C-6:found C-2:found C-13:trusted C-6:named C-5:unique C-9:pass D-3:pass C-10:visible C-10:visible",
		},
		{
			"winner", Options{}, []*skill.Skill{user("x"), near("x"), far("x"), at(skill.User, userTwin, "x", real(user("x").Origin.Real))}, "x",
			"C-6:found C-2:found C-13:trusted C-6:named C-7:same-file C-5:won C-5:won C-9:pass D-3:pass C-10:visible C-10:visible",
		},
		{
			"loser", Options{}, []*skill.Skill{user("x"), near("x")}, "project:x",
			"C-6:found C-2:found C-13:workspace C-6:named C-5:lost C-9:pass D-3:pass C-10:hidden C-10:hidden",
		},
		{
			"duplicate", Options{}, []*skill.Skill{user("x", real("/r")), near("x", real("/r"))}, "project:x",
			"C-6:found C-2:found C-13:workspace C-6:named C-7:same-file C-9:pass D-3:pass C-10:hidden C-10:hidden",
		},
		{
			"nested", Options{}, []*skill.Skill{nested("web", "x"), near("x")}, "web:x",
			"C-6:found D-1:found C-13:workspace D-1:named C-5:unique C-9:pass D-3:pass C-10:visible C-10:visible",
		},
		{
			"legacy", Options{}, []*skill.Skill{legacy(skill.User, "x")}, "x",
			"C-6:found C-4:found C-13:trusted C-6:named C-5:unique C-9:pass D-3:pass C-10:visible C-10:visible",
		},
		{
			"remote, undescribed", Options{}, []*skill.Skill{mcp("s", "x", undescribed)}, "s:x",
			"C-6:found X-6:found C-13:remote C-6:named C-5:unique C-9:pass D-3:pass C-10:hidden C-10:hidden C-10:visible",
		},
		{
			"plugin by its bare name, waiting", Options{}, []*skill.Skill{plugin("p", "x", conditional)}, "x",
			"C-6:found X-1:found C-13:enabled C-6:named C-5:unique C-9:pass D-3:waiting C-10:hidden C-10:visible",
		},
		{
			"off", Options{Overrides: map[string]Visibility{"x": Off}, OverridesFrom: settings}, []*skill.Skill{near("x")}, "x",
			"C-6:found C-2:found C-13:workspace C-6:named C-5:unique C-9:hidden D-3:pass C-10:hidden C-10:hidden",
		},
		{
			"name only", Options{Overrides: map[string]Visibility{"x": NameOnly}}, []*skill.Skill{near("x")}, "x",
			"C-6:found C-2:found C-13:workspace C-6:named C-5:unique C-9:limited D-3:pass C-10:visible C-10:visible",
		},
		{
			"bundled off and not available", Options{DisableBundled: true, OverridesFrom: settings}, []*skill.Skill{bundled("x", enabled(never))}, "x",
			"C-6:found B-1:found C-13:trusted C-6:named C-5:unique C-9:hidden C-9:hidden D-3:pass C-10:hidden C-10:hidden",
		},
		{
			"available", Options{}, []*skill.Skill{bundled("x", enabled(always))}, "x",
			"C-6:found B-1:found C-13:trusted C-6:named C-5:unique C-9:enabled D-3:pass C-10:visible C-10:visible",
		},
		{
			"for nobody", Options{}, []*skill.Skill{near("x", onlyUser, onlyModel)}, "x",
			"C-6:found C-2:found C-13:workspace C-6:named C-5:unique C-9:pass C-10:hidden C-10:hidden C-10:hidden D-3:pass C-10:hidden C-10:hidden",
		},
		{
			"denied", Options{Denied: func(*Entry) (string, bool) { return "", true }}, []*skill.Skill{near("x")}, "x",
			"C-6:found C-2:found C-13:workspace C-6:named C-5:unique C-9:pass D-3:pass S-3:hidden C-10:hidden C-10:visible",
		},
		{
			"display name taken", Options{}, []*skill.Skill{near("x", named("y")), near("y")}, "x",
			"C-6:found C-2:found C-13:workspace C-6:named C-6:taken C-5:unique C-9:pass D-3:pass C-10:visible C-10:visible",
		},
		{"unknown", Options{}, []*skill.Skill{near("deploy")}, "deplyo", "C-6:unknown"},
		{"ambiguous", Options{}, []*skill.Skill{near("a", named("Bird")), near("b", named("Bird"))}, "Bird", "C-6:ambiguous C-6:taken C-6:taken"},
		{
			"the other name of a file", Options{}, []*skill.Skill{user("a", real("/r")), near("other", real("/r"))}, "other",
			"C-6:unknown C-7:same-file",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := snap(tt.opts, tt.in...)
			e, steps := s.Explain(tt.query, nil)
			var got []string
			for _, step := range steps {
				got = append(got, step.Rule+":"+step.Outcome)
				if step.Detail == "" {
					t.Errorf("%s:%s has no detail", step.Rule, step.Outcome)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), tt.want)
			}
			if r, _ := s.Resolve(tt.query); r != e {
				t.Errorf("explains %v, the name means %v", e, r)
			}
		})
	}
}

// TestExplainSources: the file of a setting, the line of a problem, the winner.
func TestExplainSources(t *testing.T) {
	bad := near("x", onlyUser, named("Bird"))
	problem := skill.Problem{Code: codeFieldLost, Severity: skill.Error, Message: "hooks are lost", Path: bad.Origin.Path, Line: 3}
	s := merge([]result{{skills: []*skill.Skill{bad, user("x", named("Bird"))}, problems: []skill.Problem{problem}}}, Options{
		Overrides:     map[string]Visibility{"project:x": NameOnly, "x": UserInvocableOnly},
		OverridesFrom: map[string]string{"project:x": "/local.json", "x": "/user.json"},
	})
	find := func(name, rule, outcome string) Step {
		t.Helper()
		_, steps := s.Explain(name, nil)
		for _, step := range steps {
			if step.Rule == rule && step.Outcome == outcome {
				return step
			}
		}
		t.Fatalf("no step %s:%s in %v", rule, outcome, steps)
		return Step{}
	}
	if got := find("project:x", "F-3", OutcomeProblem); got.Line != 3 || got.Path != bad.Origin.Path || !strings.Contains(got.Detail, "hooks are lost") {
		t.Errorf("problem: %+v", got)
	}
	if got := find("project:x", "F-3", OutcomeHidden); got.Path != bad.Origin.Path {
		t.Errorf("security loss: %+v", got)
	}
	if got := find("project:x", "C-9", OutcomeLimited); got.Path != "/local.json" {
		t.Errorf("override: %+v", got)
	}
	if got := find("x", "C-9", OutcomeHidden); got.Path != "/user.json" {
		t.Errorf("override: %+v", got)
	}
	if got := find("project:x", "C-5", OutcomeLost); got.Path != user("x").Origin.Path || !strings.Contains(got.Detail, "user comes before project") {
		t.Errorf("lost: %+v", got)
	}
	if got := find("x", "C-5", OutcomeWon); got.Path != bad.Origin.Path || !strings.Contains(got.Detail, `"project:x"`) {
		t.Errorf("won: %+v", got)
	}
	if got := find("x", "C-10", OutcomeHidden); got.Path != "/user.json" || !strings.HasPrefix(got.Detail, "model view: not listed, by C-9") {
		t.Errorf("result: %+v", got)
	}
}

// TestExplainActivation covers D-3.
func TestExplainActivation(t *testing.T) {
	s := snap(Options{}, near("x", conditional), near("y", conditional, func(s *skill.Skill) { s.Trigger.Paths = nil }))
	outcome := func(name string, active func(string) bool) string {
		_, steps := s.Explain(name, active)
		for _, step := range steps {
			if step.Rule == "D-3" {
				return step.Outcome + " " + step.Detail
			}
		}
		return ""
	}
	if got := outcome("x", nil); got != "waiting no file that matches its paths was touched yet: *.go" {
		t.Error(got)
	}
	if got := outcome("x", func(id string) bool { return id == "x" }); got != "active a file that matches its paths was touched: *.go" {
		t.Error(got)
	}
	if got := outcome("y", nil); got != "waiting its paths hold no usable pattern, so nothing activates it" {
		t.Error(got)
	}
}

// TestExplainPlace: where a skill was found, in words.
func TestExplainPlace(t *testing.T) {
	tests := []struct {
		in   *skill.Skill
		want string
	}{
		{far("x"), "found in a skills directory of the project: /repo/.claude/skills"},
		{near("x", linked, func(s *skill.Skill) { s.Origin.Category = "ops" }), "found in a skills directory of the project: /repo/apps/.claude/skills, category ops (C-3), through a link (C-7)"},
		{legacy(skill.Project, "x"), "a command file (project): /project/.claude/commands"},
		{plugin("p", "x"), `part of a plugin called "p": /plugins/p/skills`},
		{nested("web", "x"), "found below the working directory, in web, when a file there was touched: /repo/apps/web/.claude/skills"},
		{at("embedded", "", "x"), "given by the source embedded"},
	}
	for _, tt := range tests {
		s := snap(Options{}, tt.in)
		if got := found(s.ordered[0]).Detail; got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestStepJSON(t *testing.T) {
	b, err := json.Marshal(Step{Rule: "C-5", Outcome: OutcomeWon, Detail: "d", Path: "/p", Line: 2})
	if want := `{"rule":"C-5","outcome":"won","detail":"d","path":"/p","line":2}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v", b, err)
	}
}
