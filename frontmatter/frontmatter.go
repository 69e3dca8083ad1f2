// Package frontmatter reads SKILL.md: YAML between two fences, then Markdown
// (spec chapter 1). Every source uses it, so all skills obey one set of rules.
//
// Reading has three steps (spec F-3). Plain headers, nearly all of them, are
// read by a scanner that accepts only what it provably reads like YAML does
// (fast.go). Everything else goes through strict YAML (strict.go). What YAML
// refuses is cut at its keys and recovered piece by piece (recover.go).
//
// Nothing here touches a file system. All functions are safe for concurrent
// use; a [Document] is read-only after [Parse].
package frontmatter

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// Limits (spec F-4, F-7).
const (
	MaxFile        = 4 << 20  // bytes; larger files are refused
	MaxFrontmatter = 64 << 10 // bytes; larger frontmatter is refused
)

// The errors of [SplitBody] (spec F-7).
var (
	ErrNUL      = errors.New("the file contains NUL bytes, so it is not UTF-8 text")
	ErrTooLarge = errors.New("the file is larger than 4 MiB")
)

// A Document is one parsed file.
type Document struct {
	Path string
	// Body is the text after the frontmatter, byte for byte, or as much of it
	// as was given to [Parse]. It may share memory with the data given to
	// Parse: use it, and call [Document.Fill], before that buffer changes.
	Body     string
	BodyLine int // line of the file on which Body starts, from 1
	// Refused is the code of the problem for which nothing of the file may be
	// loaded: "path-only", "utf-16", "binary" or "too-large" (spec F-1, F-7). It is empty for every file that is a skill.
	Refused string

	entries   []entry // in source order, one for each key
	ascii     bool    // the fast path read it, and it is all printable ASCII
	recovered bool    // YAML could not read it as a whole
	// fault is why YAML cannot read the one entry of which Fill reports that it
	// is unusable. Parse leaves that report to it: one fault, one problem.
	fault string
}

// Parse splits data and reads its frontmatter, leniently (spec F-3). It never
// fails. path is used in problems only. data may be the head of a larger file
// if [Enough] said so. The frontmatter is copied once; the body is not.
func Parse(path string, data []byte) (*Document, []skill.Problem) {
	d := &Document{Path: path, BodyLine: 1}
	if p, bad := refuse(path, data); bad {
		d.Refused = p.Code
		return d, []skill.Problem{p}
	}
	var problems []skill.Problem
	src := view(data)
	if !validUTF8(src) {
		line, col := position(src, invalidAt(src))
		problems = append(problems, finding(path, skill.Warning, "invalid-utf8", line, col,
			"the file is not valid UTF-8; bad bytes are read as U+FFFD", "save the file as UTF-8"))
		src = strings.ToValidUTF8(src, "\uFFFD")
	}
	c := cut(src)
	d.Body, d.BodyLine = src[c.body:], c.bodyLine
	switch {
	case c.closed && c.headEnd-c.head > MaxFrontmatter:
		problems = append(problems, finding(path, skill.Error, "frontmatter-too-large", 1, 0,
			"the frontmatter is larger than 64 KiB and was not read", "move the text into the body or into a reference file"))
		d.entries = unreadSecurity(src[c.head:c.headEnd])
	case c.closed:
		problems = d.read(strings.Clone(src[c.head:c.headEnd]), problems)
	case c.opened:
		problems = append(problems, finding(path, skill.Warning, "unclosed-frontmatter", 1, 1,
			"the frontmatter that opens here is never closed, so the whole file is body", "add a line --- after the last key"))
	default:
		if code, line := missedFence(d.Body); code != "" {
			problems = append(problems, finding(path, skill.Warning, code, line, 1, missedMessage[code], missedFix[code]))
		}
	}
	return d, problems
}

// finding is a problem at a place.
func finding(path string, sev skill.Severity, code string, line, col int, message, fix string) skill.Problem {
	return skill.Problem{Code: code, Severity: sev, Message: message, Path: path, Line: line, Column: col, Fix: fix}
}

// maxRepeats is how many problems of one code are told one by one.
const maxRepeats = 10

// folded keeps the first problems of each code and counts the rest in the last
// of them: a file made to be wrong must not drown the others.
func folded(problems []skill.Problem) []skill.Problem {
	if len(problems) <= maxRepeats {
		return problems
	}
	count, last := map[string]int{}, map[string]int{}
	kept := problems[:0]
	for _, p := range problems {
		if count[p.Code]++; count[p.Code] <= maxRepeats {
			last[p.Code] = len(kept)
			kept = append(kept, p)
		}
	}
	for code, at := range last {
		if more := count[code] - maxRepeats; more > 0 {
			kept[at].Message += fmt.Sprintf(" (and %d more of this kind)", more)
		}
	}
	return kept
}

// refuse finds the files of which nothing may be loaded.
func refuse(path string, data []byte) (skill.Problem, bool) {
	p := skill.Problem{Severity: skill.Error, Path: path}
	s := view(data)
	switch {
	case len(data) > MaxFile:
		p.Code, p.Message, p.Fix = "too-large", ErrTooLarge.Error(), "move parts into files next to it and name them in the body"
	case strings.HasPrefix(s, "\xff\xfe"), strings.HasPrefix(s, "\xfe\xff"):
		p.Code, p.Message, p.Fix = "utf-16", "the file is UTF-16", "save it as UTF-8"
	case strings.IndexByte(s, 0) >= 0:
		p.Code, p.Message, p.Fix = "binary", ErrNUL.Error(), "save it as UTF-8 text"
		p.Line, p.Column = position(s, strings.IndexByte(s, 0))
	case isPath(s):
		p.Code, p.Line = "path-only", 1
		p.Message = "the file holds only the path " + strings.TrimRight(s, "\r\n") + ": a link that was checked out as text"
		p.Fix = "check the link out as a link (git config core.symlinks true), or put the text here"
	default:
		return p, false
	}
	return p, true
}

// Enough reports whether head, the first bytes of a file, is all that loading
// needs (spec F-9): the frontmatter with its closing fence, and, unless it
// holds a description, the first paragraph of the body, complete.
func Enough(head []byte) bool {
	s := view(head)
	c := cut(s)
	if c.opened && !c.complete {
		return false
	}
	if c.closed && utf8.ValidString(s[c.head:c.headEnd]) && c.headEnd-c.head <= MaxFrontmatter {
		if describes(s[c.head:c.headEnd]) {
			return true
		}
	}
	return firstParagraph(s[c.body:]).complete
}

// Fields returns all entries as written, in order (spec K-2 "fields").
func (d *Document) Fields() []skill.Field {
	fields := make([]skill.Field, 0, len(d.entries))
	for i := range d.entries {
		e := &d.entries[i]
		fields = append(fields, e.field(isTextField(e.key)))
	}
	return fields
}

// SplitBody returns the body of a whole file and the line on which it starts,
// by the same splitter that Parse uses. Invalid UTF-8 becomes U+FFFD. It
// returns [ErrNUL] for NUL bytes (spec F-7: looked for again at invocation)
// and [ErrTooLarge].
func SplitBody(data []byte) (body string, line int, err error) {
	s := view(data)
	if len(data) > MaxFile {
		return "", 0, ErrTooLarge
	}
	if strings.IndexByte(s, 0) >= 0 {
		return "", 0, ErrNUL
	}
	c := cut(s)
	if s = s[c.body:]; utf8.ValidString(s) {
		return strings.Clone(s), c.bodyLine, nil
	}
	return strings.ToValidUTF8(s, "\uFFFD"), c.bodyLine, nil
}
