package prompt

import "github.com/knack-skills/knack/skill"

// Lines returns the command lines of in as [Env].Decide will be asked about
// them (spec P-10), in order and whatever arguments are typed: an argument is
// never part of a line (spec P-9). Environ is that of [Env]. Remote text has none (spec P-13).
func Lines(s *skill.Skill, in skill.Instructions, vars Vars, environ []string) []string {
	if s.Origin.Remote() {
		return nil
	}
	c := newCompiler(s, in, "", Env{Vars: vars})
	if len(c.commands) == 0 {
		return nil
	}
	d, exported := dialectOf(s.Run.Shell), exportable(baseEnviron(environ))
	out := make([]string, len(c.commands))
	for i, cmd := range c.commands {
		out[i] = d.prepare(cmd.piece.text, cmd.labels, cmd.tokens, c.scope, exported)
	}
	return out
}
