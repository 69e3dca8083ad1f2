// Package agentdef reads agent definitions (spec A-4): Markdown files whose
// frontmatter says what a kind of agent may use and whose body is its system
// prompt. It merges their levels by a table, knows the built-in kinds, and
// works out which tools an agent gets (spec I-9).
//
// Nothing here runs an agent. Files are read by [Load] alone; everything else
// is a pure function of values. A [Set] and all that it holds are read-only
// and safe for concurrent use.
package agentdef

import (
	"github.com/knack-skills/knack/hook"
	"github.com/knack-skills/knack/skill"
)

// GeneralPurpose is the kind that runs when nobody names one (spec I-8).
const GeneralPurpose = "general-purpose"

// CommandLine is the source of definitions given with --agents.
const CommandLine skill.Source = "command-line"

// A Definition is one kind of agent.
type Definition struct {
	Name        string
	Description string // when to use it, for the model that may start it
	Prompt      string // system prompt
	Tools       Tools
	Run         Run
	Origin      Origin
	// Unusable says why it must not run: a field that limits it cannot be read.
	// Empty for all others.
	Unusable string
}

// Tools is what a kind of agent may use: entries are names of tools, patterns
// with *, MCP servers such as mcp__github, or rules such as Bash(git *).
type Tools struct {
	Listed  bool     // Only counts, even when it is empty; else all tools
	Only    []string // tools
	Without []string // disallowedTools
}

// Run is how a kind of agent runs. Zero values inherit.
type Run struct {
	Model          string
	Effort         string // as skill.Run.Effort
	MaxTurns       int    // model calls; zero means the limit for all subagents
	PermissionMode string // one of spec S-10
	Background     bool
	Skills         []string // ids whose full text stands in its first message (spec I-1)
	Hooks          hook.Config
	InitialPrompt  string // what it begins with when it is the main agent (spec I-1)
	// Lean agents start without memory files and git status: they are asked
	// small questions often.
	Lean bool
}

// Origin says where a definition is from.
type Origin struct {
	Source   skill.Source // Managed, [CommandLine], Project, Additional, User, Plugin or Bundled
	Distance int          // of project levels: 0 is nearest
	Owner    string       // plugin
	Path     string       // file; empty if none
}

// fromWorkspace reports whether it came with the repository, so that workspace
// trust decides what it may do (spec S-9).
func (o Origin) fromWorkspace() bool {
	return o.Source == skill.Project || o.Source == skill.Additional
}
