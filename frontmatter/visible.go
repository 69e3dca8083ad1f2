package frontmatter

import (
	"fmt"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// Visible takes out of instructions that strangers wrote what a model reads and
// a person does not see: tag characters and bidi controls. How many there were
// stands in Note, for the person who invokes the skill. Sources whose text comes
// from elsewhere call it (spec X-7); files that a person wrote stay as they are,
// and the scanner warns of them.
func Visible(in skill.Instructions) skill.Instructions {
	clean, removed := text.StripHidden(in.Text)
	if removed == 0 {
		return in
	}
	in.Text = clean
	note := fmt.Sprintf("hidden characters were taken out of the instructions: %d that a person cannot see and a model can read", removed)
	if in.Note != "" {
		note = in.Note + "; " + note
	}
	in.Note = note
	return in
}
