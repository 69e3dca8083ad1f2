package prompt

import (
	"sort"

	"github.com/knack-skills/knack/skill"
)

// A Placeholder is one use of an argument or a variable in a body.
type Placeholder struct {
	Kind      string // "arguments", "index", "name", "variable", "unknown-variable"
	Name      string // name or index
	Raw       string
	Line      int
	Column    int
	InCode    bool
	InCommand bool
}

// Placeholders returns what the body refers to, for lints (args-one-based,
// unknown variables) and for "knack explain". Text that only looks like a
// placeholder (spec P-4) is not among them. The name of an index is its
// number, of a variable what stands between the braces; lines and columns are
// those of the body.
func Placeholders(s *skill.Skill, body string) []Placeholder {
	return newCompiler(s, skill.Instructions{Text: body, Line: 1}, "", Env{}).placeholders()
}

// placeholders lists the references, in the order of the body.
func (c *compiler) placeholders() []Placeholder {
	out := []Placeholder{}
	at := newPosition(c.in.Text)
	add := func(t token, offset int, raw string, inCommand bool) {
		line, column := at.advance(offset)
		out = append(out, Placeholder{
			Kind: c.kindOf(t), Name: t.name, Raw: raw, Line: line, Column: column, InCode: t.code, InCommand: inCommand,
		})
	}
	tokens, commands := c.tokens, c.commands
	for _, p := range c.doc.pieces {
		switch p.kind {
		case textPiece:
			for ; len(tokens) > 0 && tokens[0].start < p.end; tokens = tokens[1:] {
				if t := tokens[0]; !t.escaped {
					add(t, t.start, c.in.Text[t.start:t.end], false)
				}
			}
		case commandPiece:
			for _, t := range commands[0].tokens {
				add(t, p.source(t.start), p.text[t.start:t.end], true)
			}
			commands = commands[1:]
		}
	}
	return out
}

func (c *compiler) kindOf(t token) string {
	switch t.kind {
	case argumentsToken:
		return "arguments"
	case indexToken:
		return "index"
	case nameToken:
		return "name"
	}
	if c.scope.known(t.name) {
		return "variable"
	}
	return "unknown-variable"
}

// source returns the offset in the body of offset i of a command's text.
func (p piece) source(i int) int {
	k := sort.Search(len(p.lines), func(k int) bool { return p.lines[k].text > i }) - 1
	return p.lines[k].body + i - p.lines[k].text
}
