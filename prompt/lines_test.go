package prompt

import (
	"context"
	"slices"
	"testing"

	"github.com/knack-skills/knack/shell"
	"github.com/knack-skills/knack/skill"
)

// Lines are exactly what Decide is asked about, whatever the arguments.
func TestLines(t *testing.T) { // spec P-9, P-10
	vars := Vars{SkillDir: "/my skills/a", ProjectDir: "/repo", Effort: "high"}
	declared := &skill.Skill{Content: skill.Content{Arguments: []string{"issue", "issue-number"}}}
	for _, tt := range []struct {
		skill *skill.Skill
		body  string
		want  []string
	}{
		{declared, "no command", nil},
		{declared, "!`sh ${CLAUDE_SKILL_DIR}/x.sh \"$issue\" $0`\n\n```!\nls ${KNACK_PROJECT_DIR}\n```\n",
			[]string{"sh '/my skills/a'/x.sh \"$issue\" $0", "ls /repo"}},
		{declared, "!`f $issue-number $ARGUMENTS[1]`", []string{`f "${KNACK_ARGUMENT_NAME_1}" "${KNACK_ARGUMENT_1}"`}},
		{&skill.Skill{Origin: skill.Origin{Source: skill.MCP}}, "!`ls`", nil},
	} {
		in := skill.Instructions{Text: tt.body, Line: 1}
		var asked []string
		_, err := Compile(t.Context(), tt.skill, in, `"a b" c; rm`, Env{Vars: vars, Shell: silent{},
			Decide: func(_ context.Context, line string) (Permission, error) {
				asked = append(asked, line)
				return Permission{Decision: "allow"}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		got := Lines(tt.skill, in, vars, nil)
		if !slices.Equal(got, asked) {
			t.Errorf("%q: Lines = %q, asked about %q", tt.body, got, asked)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: Lines = %q, want %q", tt.body, got, tt.want)
		}
	}
}

// silent is a shell in which every command succeeds and says nothing.
type silent struct{}

func (silent) Run(context.Context, shell.Command) (shell.Output, error) { return shell.Output{}, nil }
