package listing

import "fmt"

// The fixed words around the entries. Entries cannot contain the tags, because
// text.Line escapes them (spec L-9).
const (
	reminderOpen  = "<system-reminder>\n"
	reminderClose = "</system-reminder>"

	listingIntro = `These skills are available through the Skill tool. When one of them matches what the user wants, call the Skill tool with its id BEFORE you answer or do anything else. Never merely mention a skill or guess what it says: call it. A line with only an id hides a description; SkillSearch looks it up.
`
	namesIntro = `The conversation was shortened. These skills are still available through the Skill tool, and what was said about them holds: when one matches, call it BEFORE you answer, never merely mention it. SkillSearch finds their descriptions and further skills.
`
	deltaIntro = `The skills available through the Skill tool have changed. As before: when one matches what the user wants, call the Skill tool with its id BEFORE you answer, and never merely mention it.
`
	newHeading     = "New:\n"
	changedHeading = "Changed (these lines replace the earlier ones):\n"
	removedHeading = "Removed (do not call these any more):\n"
)

// more is the last line when names were left out.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more: use SkillSearch\n", n)
}

// ToolName and ToolDescription are the constant part of the two channels (spec
// L-1): no skill names in it, ever.
const ToolName = "Skill"

// ToolDescription returns the fixed instructions of the Skill tool.
func ToolDescription() string { return toolDescription }

const toolDescription = `Runs a skill: a set of instructions, written for one kind of task, that the user or the project has installed.

The available skills are listed in system reminders, one line each, with an id, what the skill does and when to use it.

When to call it
- When a listed skill matches what the user asks for, call this tool first, before you answer, plan or use other tools for that task. This is required, not a suggestion.
- When the user types "/" and a name, they mean the skill with that id.
- Never merely mention a skill, describe what it would do, or imitate it from its description: only the call gives you its instructions.
- When no listed skill fits, or a line shows only an id, use SkillSearch if it is offered. Do not invent ids.

How to call it
- skill: the id exactly as listed, including any prefix such as "plugin:".
- args: what the skill should work on, as plain text, if it takes arguments.

What you get
- The skill's instructions, to be followed for the current task; or, for a skill that runs in a separate agent, its result.
- Relative paths in a skill's instructions are relative to the skill's base directory, which is named at their beginning.
- If the instructions of the same skill with the same arguments are already in this conversation, follow those; do not call it again.
- A refusal says why. Report it; do not work around it.`
