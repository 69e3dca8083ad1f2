package mcpserver

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/listing"
	"github.com/knack-skills/knack/skill"
)

// maxGuide is how much of the instructions of a server, and of the description
// of a tool, agents read: 2,048 characters, as UTF-16 counts them.
const maxGuide = 2048

// Some agents show their model the instructions of a server and not, or only
// later, the descriptions of its tools; some do it the other way round. So both
// say how skills are used and which there are.
const (
	guide = `Skills are instructions that the people of this workspace wrote for certain kinds of task.
- Before you begin a task that a skill below is for, call the tool Skill with its id. Do not imitate a skill from its description: only the call gives you its instructions. Then follow them.
- When the person types "/" and a name, they mean the skill with that id; what follows the name is args.
- If no line fits, or the list is cut short, use SkillSearch. It also takes a file, since some skills are only for certain files. Do not invent ids.
- Relative paths in instructions belong to the skill's base directory, which is named at their beginning. SkillRead reads its files if you cannot.
- A refusal says why. Report it; do not work around it.
`
	toolGuide = `Gives you the instructions of a skill, to be followed for the current task. Call it first when a skill below is for what is asked, and whenever the person types "/" and the id of one. Do not imitate a skill from its description.
- skill: the id exactly as listed, with any prefix such as "plugin:".
- args: what the skill should work on, as plain text.
If no line fits, or the list is cut short, use SkillSearch. A refusal says why; report it.
`
)

// listed returns what every client may be told of: conditional skills are for
// those alone that work on such files.
func (s *Server) listed(snap *catalog.Snapshot) []listing.Entry {
	var out, bundled []listing.Entry
	for _, l := range s.engine.Entries() {
		e, err := snap.Resolve(l.ID)
		if err != nil {
			continue // of a later snapshot, which will be published
		}
		if ok, _ := snap.VisibleToModel(e, nil); !ok {
			continue
		}
		l.Pinned = false // there is little room, and no skill of ours is worth more than theirs
		if e.Origin.Source == skill.Bundled {
			bundled = append(bundled, l)
		} else {
			out = append(out, l)
		}
	}
	return append(out, bundled...) // what does not fit is cut at the end
}

// fill appends to a guide the lines of as many skills as fit.
func fill(guide string, entries []listing.Entry) string {
	if len(entries) == 0 {
		return guide + "\nThere are no skills now."
	}
	const head = "\nSkills:\n"
	room := maxGuide - units(guide+head)
	l := listing.Format(entries, listing.Options{Chars: room, Mode: listing.Ranked})
	var lines []string
	for _, line := range l.Lines {
		lines = append(lines, line.Line)
	}
	// The listing counts otherwise, and lets names alone take more than that.
	for n := len(lines); ; n-- {
		s := guide + head + strings.Join(lines[:n], "\n")
		if more := len(entries) - n; more > 0 {
			s += fmt.Sprintf("\n(%d more: use SkillSearch)", more)
		}
		if units(s) <= maxGuide || n == 0 {
			return s
		}
	}
}

// units is the length of s in UTF-16, in which agents count.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
