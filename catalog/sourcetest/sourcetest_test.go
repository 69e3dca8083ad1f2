package sourcetest

import (
	"context"
	"testing"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// source is a function used as a source.
type source func(ctx context.Context) ([]*skill.Skill, []skill.Problem, error)

func (s source) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) { return s(ctx) }

func good() *skill.Skill {
	return &skill.Skill{
		Summary: skill.Summary{ID: "x"},
		Run:     skill.Run{AllowedTools: []string{"Read"}, Hooks: hook.Config{{Matcher: "Bash"}}},
		Origin:  skill.Origin{Source: skill.User},
		Content: skill.Content{Body: skill.Text("text")},
	}
}

func with(change func(*skill.Skill)) source {
	return func(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
		s := good()
		change(s)
		return []*skill.Skill{s}, nil, ctx.Err()
	}
}

func TestGoodSource(t *testing.T) {
	problem := skill.Problem{Code: "c", Severity: skill.Info, Message: "m"}
	Run(t, source(func(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
		return []*skill.Skill{good()}, []skill.Problem{problem}, ctx.Err()
	}))
}

// TestBadSources: each check finds the fault that it is for.
func TestBadSources(t *testing.T) {
	shared, calls := good(), 0
	tests := []struct {
		name  string
		check func(context.Context, catalog.Source) error
		src   source
	}{
		{"growing", repeated, func(context.Context) ([]*skill.Skill, []skill.Problem, error) {
			calls++
			return make([]*skill.Skill, calls), nil, nil
		}},
		{"different run part", repeated, with(func(s *skill.Skill) { calls++; s.Run.Hooks = make(hook.Config, calls) })},
		{"cancelled is ignored", cancelled, func(context.Context) ([]*skill.Skill, []skill.Problem, error) { return nil, nil, nil }},
		{"no id", complete, with(func(s *skill.Skill) { s.ID = "" })},
		{"no origin", complete, with(func(s *skill.Skill) { s.Origin = skill.Origin{} })},
		{"no body", complete, with(func(s *skill.Skill) { s.Content.Body = nil })},
		{"nil", complete, func(context.Context) ([]*skill.Skill, []skill.Problem, error) { return []*skill.Skill{nil}, nil, nil }},
		{"mute problem", complete, func(context.Context) ([]*skill.Skill, []skill.Problem, error) {
			return nil, []skill.Problem{{Path: "/x"}}, nil
		}},
		{"changed later", unchanged, func(context.Context) ([]*skill.Skill, []skill.Problem, error) {
			shared.Run.AllowedTools[0] += "!"
			return []*skill.Skill{shared}, nil, nil
		}},
		{"failing", concurrent, func(context.Context) ([]*skill.Skill, []skill.Problem, error) {
			return nil, nil, context.DeadlineExceeded
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.check(t.Context(), tt.src); err == nil {
				t.Error("the fault was not found")
			}
		})
	}
}
