package permission_test

import (
	"testing"

	"github.com/knack-skills/knack/permission"
)

func TestCovers(t *testing.T) { // spec H-3
	skill := permission.Request{Tool: "Skill", Input: permission.Input{Skill: "web:deploy", Aliases: []string{"deploy"}, Args: "prod"}}
	bash := func(line string) permission.Request {
		return permission.Request{Tool: "Bash", Input: permission.Input{Command: line}}
	}
	for _, tt := range []struct {
		rule string
		call permission.Request
		want bool
	}{
		{"Skill", skill, true},
		{"Skill(deploy)", skill, true},
		{"Skill(web:deploy)", skill, true},
		{"Skill(other)", skill, false},
		{"Bash", skill, false},
		{"Bash(git *)", bash("ls && git push"), true},
		{"Bash(git *)", bash("ls"), false},
		{"Bash(git *)", bash("if (("), true}, // nobody can read it
		{"Read", bash("if (("), false},
		{"Bash(", bash("git push"), false}, // no rule
	} {
		if got := permission.Covers(tt.rule, tt.call); got != tt.want {
			t.Errorf("%s over %+v: %v", tt.rule, tt.call.Input, got)
		}
	}
}
