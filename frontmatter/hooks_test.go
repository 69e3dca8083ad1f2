package frontmatter

import (
	"testing"

	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// TestHooksNotForSkills: an event that is over when a skill is invoked is
// dropped with its place and reason, and the others stay (spec H-8, H-9).
func TestHooksNotForSkills(t *testing.T) {
	d, _ := Parse("SKILL.md", []byte("---\nname: t\nhooks:\n  SessionStart: [{hooks: [{type: command, command: \"echo hi\"}]}]\n  Stop: [{hooks: [{type: command, command: \"x\"}]}]\n---\nbody\n"))
	var s skill.Skill
	problems := d.Fill(&s, false)
	if len(s.Run.Hooks) != 1 || s.Run.Hooks[0].Event != hook.Stop {
		t.Errorf("kept %+v", s.Run.Hooks)
	}
	if len(problems) != 1 || problems[0].Code != "hook-unavailable-event" || problems[0].Severity != skill.Warning || problems[0].Line != 4 {
		t.Errorf("%+v", problems)
	}
	if hooks := d.Values("so it cannot be used").Hooks(); len(hooks) != 2 {
		t.Errorf("an agent keeps both: %+v", hooks)
	}
}
