package prompt

import (
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// A compiler holds one compilation: the parsed body, what it refers to, and
// the arguments. It is used by one goroutine.
type compiler struct {
	skill *skill.Skill
	in    skill.Instructions
	args  string
	list  []string // args, split
	env   Env
	scope scope
	names []name

	doc      document
	tokens   []token // placeholders of the text, in order
	commands []command
	// literal: the commands are text (spec P-13).
	literal bool
	base    int // index of the first argument
}

// A command is one inline command, in the order of the body.
type command struct {
	piece  piece
	labels []shellByte
	tokens []token
	source int // line of the file

	line   string // what runs
	env    []string
	ran    Ran
	output string
}

// maxHint bounds what is allocated before it is known to be needed.
const maxHint = 1000

func newCompiler(s *skill.Skill, in skill.Instructions, args string, env Env) *compiler {
	if in.Filled {
		args = "" // they are in the text, and are not added once more
	}
	if env.Vars.SkillDir == "" {
		env.Vars.SkillDir = in.Dir
	}
	c := &compiler{
		skill: s, in: in, args: args, list: SplitArgs(args), env: env,
		scope: scopeOf(s, env.Vars),
		names: declared(s.Content.Arguments),
		doc:   parse(in.Text),
		// Remote text never runs a command, whoever calls (spec P-13, C-13).
		literal: s.Origin.Remote() || env.NoShell,
	}
	c.readPlaceholders()
	return c
}

// readPlaceholders finds what the body refers to. Whether $1 in code is a
// placeholder depends on the whole body, so that is decided last.
func (c *compiler) readPlaceholders() {
	d := dialectOf(c.skill.Run.Shell)
	if n := strings.Count(c.in.Text, "$"); n > 0 {
		c.tokens = make([]token, 0, min(n, maxHint))
	}
	at := newPosition(c.in.Text)
	for _, p := range c.doc.pieces {
		switch p.kind {
		case textPiece:
			c.tokens = textTokens(c.tokens, c.in.Text, p.start, p.end, c.names)
		case commandPiece:
			line, _ := at.advance(p.start)
			cmd := command{piece: p, labels: d.scan(p.text), source: c.fileLine(line)}
			cmd.tokens = lineTokens(p.text, cmd.labels, c.names)
			c.commands = append(c.commands, cmd)
		}
	}
	markCode(c.tokens, c.doc.code)
	positional := c.skill.Content.Positional || c.usesArguments()
	live := c.tokens[:0]
	for _, t := range c.tokens {
		if c.in.Filled && t.kind != variableToken {
			continue // text: a value that looks like a placeholder is none
		}
		number := t.kind == indexToken && !t.listed
		if number && (t.code && !positional || t.money && !t.escaped) {
			continue // text
		}
		live = append(live, t)
	}
	c.tokens = live
	c.base = c.firstIndex()
}

// fileLine turns a line of the body into one of the file.
func (c *compiler) fileLine(line int) int { return max(c.in.Line, 1) + line - 1 }

// markCode marks the tokens inside of code; both lists are in order.
func markCode(tokens []token, code []extent) {
	for i := range tokens {
		for len(code) > 0 && code[0].end <= tokens[i].start {
			code = code[1:]
		}
		tokens[i].code = len(code) > 0 && code[0].start <= tokens[i].start
	}
}

// references calls f for each placeholder, text and commands, that has its
// meaning.
func (c *compiler) references(f func(token)) {
	for _, t := range c.tokens {
		if !t.escaped {
			f(t)
		}
	}
	for _, cmd := range c.commands {
		for _, t := range cmd.tokens {
			f(t)
		}
	}
}

// usesArguments reports whether the body uses $ARGUMENTS, whole or by index.
func (c *compiler) usesArguments() (uses bool) {
	c.references(func(t token) {
		uses = uses || t.listed || t.kind == argumentsToken && t.name == "ARGUMENTS"
	})
	return uses
}

// firstIndex resolves Env.Base: auto counts from one when the body uses $1 and
// never $0 (spec P-4).
func (c *compiler) firstIndex() int {
	if c.env.Base >= 0 {
		return min(c.env.Base, 1)
	}
	zero, more := false, false
	c.references(func(t token) {
		if t.kind == indexToken {
			zero = zero || t.index == 0
			more = more || t.index > 0
		}
	})
	if more && !zero {
		return 1
	}
	return 0
}

// argument returns the argument with the index that the author wrote.
func (c *compiler) argument(index int) (string, bool) {
	i := index - c.base
	if index < 0 || i < 0 || i >= len(c.list) {
		return "", false
	}
	return c.list[i], true
}

// named returns the value of the declared name at i; missing is empty.
func (c *compiler) named(i int) string {
	if i < len(c.list) {
		return c.list[i]
	}
	return ""
}

// consumes reports whether t uses some of the arguments (spec P-5).
func (c *compiler) consumes(t token) bool {
	switch {
	case t.escaped:
		return false
	case t.kind == indexToken:
		_, ok := c.argument(t.index)
		return ok
	}
	return t.kind == argumentsToken || t.kind == nameToken
}

// join puts the final text together.
func (c *compiler) join() *Result {
	w := writer{body: c.in.Text, at: newPosition(c.in.Text), line: max(c.in.Line, 1)}
	w.b.Grow(len(c.in.Text) + len(c.args) + 200)
	w.spans = make([]Span, 0, min(2*(len(c.tokens)+len(c.commands))+3, maxHint))
	if c.in.Dir != "" && !c.skill.Origin.Remote() { // spec P-2, C-13
		dir := filepath.ToSlash(c.in.Dir)
		w.add("Base directory for this skill: "+dir+"\n\n", Span{Kind: "base_dir", Name: dir})
	}
	r := &Result{Commands: []Ran{}}
	consumed := false
	tokens, commands := c.tokens, c.commands
	for _, p := range c.doc.pieces {
		switch p.kind {
		case textPiece:
			for ; len(tokens) > 0 && tokens[0].start < p.end; tokens = tokens[1:] {
				c.expand(&w, tokens[0])
				consumed = consumed || c.consumes(tokens[0])
			}
			w.copy(p.end)
		case escapePiece:
			w.skip(p.end)
		case commandPiece:
			consumed = c.insert(&w, commands[0], r) || consumed
			commands = commands[1:]
		}
	}
	if strings.TrimSpace(c.args) != "" && !consumed { // spec P-5
		w.add(w.blankLine()+"ARGUMENTS: "+c.args, Span{Kind: "argument", Name: "ARGUMENTS"})
	}
	r.Text, r.Trace = w.b.String(), w.spans
	return r
}

// expand writes the text before t and what t stands for.
func (c *compiler) expand(w *writer, t token) {
	if t.escaped {
		w.copy(t.start - 1)
		w.skip(t.start) // the backslash
		w.copy(t.end)
		return
	}
	value, ok := "", true
	kind := "argument"
	switch t.kind {
	case argumentsToken:
		value = c.args
	case nameToken:
		value = c.named(t.index)
	case indexToken:
		value, ok = c.argument(t.index)
	case variableToken:
		kind = "variable"
		value, ok = c.scope.lookup(t.name)
	}
	if !ok { // stays as it is (spec P-4, P-7)
		w.copy(t.end)
		return
	}
	w.copy(t.start)
	w.insert(t.end, value, Span{Kind: kind, Name: t.name})
}

// insert writes a command's output, or what stands in its place, and reports
// whether the command used some of the arguments. One that did not run because
// of a policy used none: the model still learns what was typed.
func (c *compiler) insert(w *writer, cmd command, r *Result) (consumed bool) {
	p := cmd.piece
	w.copy(p.start)
	switch {
	case c.skill.Origin.Remote():
		w.copy(p.end)
		return false
	case c.env.NoShell:
		w.copy(p.end)
	case c.env.Off != "":
		w.insert(p.end, c.env.Off, Span{Kind: "command", Name: p.text})
		return false
	default:
		r.Commands = append(r.Commands, cmd.ran)
		w.insert(p.end, cmd.output, Span{Kind: "command", Name: cmd.line, ExitCode: cmd.ran.ExitCode, MS: cmd.ran.MS})
	}
	for _, t := range cmd.tokens {
		consumed = consumed || c.consumes(t)
	}
	return consumed
}
