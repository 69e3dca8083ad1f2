package bundled

import (
	"embed"
	"io/fs"
)

// The files of the skills that ship with the program. Nothing writes them.
var (
	//go:embed skills/batch/SKILL.md
	batchFile string
	//go:embed skills/commit/SKILL.md
	commitFile string
	//go:embed skills/create-skill/SKILL.md
	createSkillFile string
	//go:embed skills/create-skill/references
	createSkillFiles embed.FS
	//go:embed skills/debug/SKILL.md
	debugFile string
	//go:embed skills/keybindings-help/SKILL.md
	keybindingsHelpFile string
	//go:embed skills/loop/SKILL.md
	loopFile string
	//go:embed skills/remember/SKILL.md
	rememberFile string
	//go:embed skills/review/SKILL.md
	reviewFile string
	//go:embed skills/simplify/SKILL.md
	simplifyFile string
	//go:embed skills/skillify/SKILL.md
	skillifyFile string
	//go:embed skills/stuck/SKILL.md
	stuckFile string
	//go:embed skills/update-config/SKILL.md
	updateConfigFile string
	//go:embed skills/update-config/references
	updateConfigFiles embed.FS
	//go:embed skills/verify/SKILL.md
	verifyFile string
)

// The compiled-in switches. Each becomes true together with the part of the
// program that it stands for; the host of that part sets [Feature].On.
const (
	hasTerminal  = false // the interactive terminal
	hasSchedules = false // the tools that schedule prompts
)

// Standard returns the skills that ship with the program (spec B-3), in
// alphabetical order. Those whose feature is not built in are among them; [New]
// leaves them out. Each call returns new values; nothing is parsed, and no file
// of the system is read.
func Standard() []Skill {
	return []Skill{
		{ID: "batch", File: batchFile},
		{ID: "commit", File: commitFile},
		{ID: "create-skill", File: createSkillFile, Files: below(createSkillFiles, "skills/create-skill")},
		{ID: "debug", File: debugFile},
		{ID: "keybindings-help", File: keybindingsHelpFile, Feature: &Feature{Name: "terminal", Built: hasTerminal}},
		{ID: "loop", File: loopFile, Feature: &Feature{Name: "schedules", Built: hasSchedules}},
		{ID: "remember", File: rememberFile},
		{ID: "review", File: reviewFile},
		{ID: "simplify", File: simplifyFile},
		{ID: "skillify", File: skillifyFile},
		{ID: "stuck", File: stuckFile},
		{ID: "update-config", File: updateConfigFile, Files: below(updateConfigFiles, "skills/update-config")},
		{ID: "verify", File: verifyFile},
	}
}

// below returns the tree of dir, so that resource names are relative to the
// skill, as its text writes them.
func below(files embed.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // dir is a constant of this file, and a valid path
	}
	return sub
}
