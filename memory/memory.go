// Package memory gathers what an agent is told of the place it works in (spec
// the files in which people leave instructions (CLAUDE.md, AGENTS.md)
// with what they import, files that a text refers to as @path, the state of the
// git repository, and the environment.
//
// What an agent is shown is text of others: whoever calls decides, through a
// function, which files may be read, and everything is kept within fixed sizes,
// with a notice where something was cut. Rendering is pure; clocks and programs
// are handed in. All values are read-only once returned, and all functions are
// safe for concurrent use.
package memory

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// Sizes in bytes (spec A-5). What is larger is cut at the end of a line, and
// the cut is named.
const (
	MaxFile       = 64 << 10  // of one memory file
	MaxTotal      = 256 << 10 // of all memory files
	MaxAttachment = 100 << 10 // of one attached file
	MaxAttached   = 400 << 10 // of all files attached to one text
)

// A Level says whose instructions a memory file holds.
type Level string

// The levels, in the order in which an agent reads them: what comes later is
// nearer to the work.
const (
	Managed Level = "managed" // of the organisation
	User    Level = "user"    // of the person, for all projects
	Project Level = "project" // of the project, shared
	Local   Level = "local"   // of the person, for this project
)

// meanings says for each level whose words they are.
var meanings = map[Level]string{
	Managed: "instructions of the organisation",
	User:    "the person's own instructions for all projects",
	Project: "instructions of the project",
	Local:   "the person's own instructions for this project",
}

// A File is one memory file, or a file that one imports.
type File struct {
	Path  string
	Level Level
	Text  string
	By    string // the file that imports it; empty for the hierarchy itself
}

// A Memory is all that was found.
type Memory struct {
	Files    []File
	Problems []skill.Problem // what was cut, refused, missing or unreadable, in the order in which it was met
}

// Render returns the text for an agent, or "" when there is nothing. The same
// files give the same bytes.
func (m Memory) Render() string {
	if len(m.Files) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<system-reminder>\nThe people you work for have left these instructions. Follow them where they bear on the task; of two that contradict each other, the later one counts, and what the person says in the conversation counts more than both.\n")
	for _, f := range m.Files {
		fmt.Fprintf(&b, "\nContents of %s (%s", attribute(f.Path), meanings[f.Level])
		if f.By != "" {
			fmt.Fprintf(&b, ", imported by %s", attribute(f.By))
		}
		fmt.Fprintf(&b, "):\n\n%s\n", strings.TrimRight(neutral(f.Text, "system-reminder"), "\n"))
	}
	b.WriteString("</system-reminder>")
	return b.String()
}

// neutral keeps text from opening or closing the tag that stands around it.
func neutral(s, tag string) string {
	return strings.NewReplacer("<"+tag, "&lt;"+tag, "</"+tag, "&lt;/"+tag).Replace(s)
}

// attribute makes a path safe within one line and within quotes.
func attribute(path string) string {
	return strings.NewReplacer("\n", "\\n", "\r", "\\r", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(path)
}

// cut returns the lines of s that fit into max bytes, and how many bytes are
// left out. A single line that is longer is cut within.
func cut(s string, max int) (head string, rest int) {
	if len(s) <= max {
		return s, 0
	}
	head = s[:max]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i+1]
	} else {
		head = strings.ToValidUTF8(head, "")
	}
	return head, len(s) - len(head)
}
