// Package plugin reads the skills of one installed plugin (spec C-1, C-6, X-1).
// Installing, enabling and updating plugins is not its business.
package plugin

import (
	"context"

	"github.com/knack-skills/knack/skill"
)

// A Source is one enabled plugin directory. It implements catalog.Source.
type Source struct {
	Name string // namespace; empty means the manifest's name, else the directory's
	Dir  string // the plugin's directory
}

// Load reads skills/, commands/ and a root SKILL.md; ids are "plugin:skill".
func (s Source) Load(ctx context.Context) ([]*skill.Skill, []skill.Problem, error) {
	panic("to be written")
}
