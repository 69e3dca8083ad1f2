package frontmatter_test

import (
	"testing"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

func TestVisible(t *testing.T) { // spec X-7
	same := skill.Instructions{Text: "می\u200cخواهم", Line: 3, Dir: "d", Note: "n"}
	if got := frontmatter.Visible(same); got != same {
		t.Errorf("%+v", got)
	}
	got := frontmatter.Visible(skill.Instructions{Text: "a\u2066b\U000E0041", Line: 3, Dir: "d", Note: "n"})
	want := skill.Instructions{Text: "ab", Line: 3, Dir: "d", Note: "n; hidden characters were taken out of the instructions: 2 that a person cannot see and a model can read"}
	if got != want {
		t.Errorf("%+v", got)
	}
}
