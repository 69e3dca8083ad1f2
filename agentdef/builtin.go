package agentdef

import (
	_ "embed" // the prompts
	"strings"

	"github.com/knack-skills/knack/skill"
)

//go:embed prompts/general-purpose.md
var generalPurposePrompt string

//go:embed prompts/explore.md
var explorePrompt string

//go:embed prompts/plan.md
var planPrompt string

// reading are the tools of the built-in kinds that only look. Bash is among
// them because history and structure are often only to be had by git, ls or
// find; the mode "plan" lets through what reads.
var reading = []string{"Read", "Grep", "Glob", "Bash", "BashOutput", "WebFetch", "TodoWrite", "Skill", "SkillSearch"}

// Builtin returns the kinds of agents that are always there (spec A-4). Callers
// own the result.
func Builtin() []*Definition {
	origin := Origin{Source: skill.Bundled}
	only := Tools{Listed: true, Only: reading}
	return []*Definition{
		{
			Name: GeneralPurpose, Origin: origin, Prompt: builtinPrompt(GeneralPurpose),
			Description: "Carries out a task of several steps on its own, research or changes, and reports the result. Use it when no other agent fits, or to keep long work out of this conversation.",
		},
		{
			Name: "Explore", Origin: origin, Prompt: builtinPrompt("Explore"), Tools: only,
			Description: "Finds out how something works or where it is, quickly and without changing anything: files by pattern, code by words, answers about a code base. Say how thorough it should be: quick, medium or very thorough.",
			Run:         Run{PermissionMode: "plan", Lean: true},
		},
		{
			Name: "Plan", Origin: origin, Prompt: builtinPrompt("Plan"), Tools: only,
			Description: "Designs how to make a change, without making it: reads what is there, weighs the options, and returns an ordered plan with the files that matter.",
			Run:         Run{PermissionMode: "plan", Lean: true},
		},
	}
}

func builtinPrompt(name string) string {
	switch name {
	case "Explore":
		return strings.TrimSpace(explorePrompt)
	case "Plan":
		return strings.TrimSpace(planPrompt)
	}
	return strings.TrimSpace(generalPurposePrompt)
}
