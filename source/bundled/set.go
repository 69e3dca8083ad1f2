package bundled

import (
	"embed"
	"io/fs"
)

// The files of the skills that ship with the program. Nothing writes them.
var (
	//go:embed skills/commit/SKILL.md
	commitFile string
	//go:embed skills/create-skill/SKILL.md
	createSkillFile string
	//go:embed skills/create-skill/references
	createSkillFiles embed.FS
	//go:embed skills/simplify/SKILL.md
	simplifyFile string
)

// Standard returns the skills that ship with the program (spec B-3), in
// alphabetical order. Each call returns new values; nothing is parsed, and no
// file of the system is read.
func Standard() []Skill {
	return []Skill{
		{ID: "commit", File: commitFile},
		{ID: "create-skill", File: createSkillFile, Files: below(createSkillFiles, "skills/create-skill")},
		{ID: "simplify", File: simplifyFile},
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
