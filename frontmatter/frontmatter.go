// Package frontmatter reads SKILL.md: YAML between two fences, then Markdown
// (spec chapter 1). Every source uses it, so all skills obey one set of rules.
package frontmatter

import "github.com/knack-skills/knack/skill"

// Limits (spec F-4, F-7).
const (
	MaxFile        = 4 << 20  // bytes; larger files are refused
	MaxFrontmatter = 64 << 10 // bytes; larger frontmatter is refused
)

// A Document is one parsed file.
type Document struct {
	Path     string
	Body     string // byte for byte, or as much of it as was given to Parse
	BodyLine int    // line of the file on which Body starts, from 1
	// ... fields in source order (unexported); see Fields
}

// Parse splits data and reads its frontmatter, leniently (spec F-3). It never
// fails. path is used in problems only. data may be the head of a larger file
// if [Enough] said so.
func Parse(path string, data []byte) (*Document, []skill.Problem) { panic("to be written") }

// Enough reports whether head, the first bytes of a file, is all that loading
// needs (spec F-9): the frontmatter with its closing fence, and, unless it
// holds a description, the first paragraph of the body, complete.
func Enough(head []byte) bool { panic("to be written") }

// Fields returns all entries as written, in order (spec K-2 "fields").
func (d *Document) Fields() []skill.Field { panic("to be written") }

// Fill copies the fields of d into s (Summary except ID, Trigger, Run, and
// Content except Body and Bytes) and reports what is wrong with them. A bad
// field costs that field, not the skill. legacy ignores name and paths (spec C-4).
func (d *Document) Fill(s *skill.Skill, legacy bool) []skill.Problem { panic("to be written") }

// SplitBody returns the body of a whole file and the line on which it starts,
// by the same splitter that Parse uses. Invalid UTF-8 becomes U+FFFD. It
// returns an error for NUL bytes (spec F-7: looked for again at invocation).
func SplitBody(data []byte) (body string, line int, err error) { panic("to be written") }

// Quote returns s as a YAML value that every reader gives back as s (spec F-10).
func Quote(s string) string { panic("to be written") }

// A Change is one repair that [Fix] made.
type Change struct {
	Line   int
	Reason string
	Old    string
	New    string
}

// Fix rewrites only the faulty lines of the frontmatter (spec F-10), keeping
// comments, order, line ends, byte order mark and body bytes. It is idempotent,
// and the result reads to the same values without recovery.
func Fix(data []byte) ([]byte, []Change) { panic("to be written") }
