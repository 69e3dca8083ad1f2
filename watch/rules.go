package watch

import (
	"path/filepath"
	"slices"
	"strings"
)

// A Kind says which files below a root matter, and which directories may hold
// some. The rules are those by which package source/dir reads (spec C-3, C-4).
type Kind uint8

// The kinds of roots.
const (
	Skills   Kind = iota // directories with a SKILL.md, up to three levels deep
	Commands             // Markdown files at any depth, and directories with a SKILL.md
	Markdown             // Markdown files in the directory itself
	File                 // the root is one file
	Settings             // JSON files in the directory itself
)

// maxDirectories is how many directories of one root are looked at (spec C-3).
const maxDirectories = 20_000

// A rule is what a [Kind] means.
type rule struct {
	depth int                    // levels of directories that are looked into; negative: all
	file  func(name string) bool // the names of files that matter
	enter func(name string) bool // the names of directories that are looked into
	leaf  bool                   // a directory below the root with a SKILL.md has nothing else in it
	early bool                   // looks for that SKILL.md before it lists a directory
}

var rules = [...]rule{
	Skills:   {depth: 3, file: isSkillFile, enter: mayHoldSkills, leaf: true, early: true},
	Commands: {depth: -1, file: isMarkdown, enter: mayHoldCommands, leaf: true},
	Markdown: {depth: 0, file: isMarkdown, enter: never},
	File:     {depth: 0, file: never, enter: never},
	Settings: {depth: 0, file: isSettings, enter: never},
}

const (
	skillFile = "SKILL.md"
	// A directory with pluginMark is a plugin and no category (spec X-1).
	pluginDir, pluginMark = ".claude-plugin", "plugin.json"
)

// noCommands are directories without command files in them (spec C-4).
var noCommands = []string{"node_modules", ".git", "dist", "venv"}

func isSkillFile(name string) bool {
	return len(name) == len(skillFile) && strings.EqualFold(name, skillFile)
}

func isMarkdown(name string) bool {
	return !strings.HasPrefix(name, ".") && strings.EqualFold(filepath.Ext(name), ".md")
}

func isSettings(name string) bool {
	return !strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".json")
}

func mayHoldSkills(name string) bool {
	return !strings.HasPrefix(name, ".") && name != "node_modules"
}

func mayHoldCommands(name string) bool {
	return !strings.HasPrefix(name, ".") && !slices.Contains(noCommands, name)
}

func never(string) bool { return false }
