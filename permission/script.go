package permission

import (
	"mvdan.cc/sh/v3/syntax"
)

// A Script is what a text would run if a shell read it. It says nothing about
// whether that is allowed; see [Rules.Decide].
type Script struct {
	Calls []Call
}

// A Call is one simple command of a [Script], its quotes resolved.
type Call struct {
	Offset, End int // in the text, in bytes
	Words       []Arg
	Set         []Arg // assignments before it, or alone: NAME=value
	// Reads and Writes are the files of its redirections, and of those around it.
	Reads, Writes []Arg
	Input         string // text of here-documents and here-strings
	Within        int    // the call in whose words it stands, as in bash <(...); -1 if none
	From          []int  // pipes it reads from; calls with the same number in To write to them
	To            []int
}

// An Arg is one word: Value is what the program receives, or what is known to
// come first when it is not Static; Text is the word as written.
type Arg struct {
	Text   string
	Value  string
	Static bool
}

// ReadScript reads text as bash would. The error says that it is no shell
// script, or too large to be read (64 KiB).
func ReadScript(text string) (*Script, error) {
	file, err := parse(text)
	if err != nil {
		return nil, err
	}
	r := scriptReader{src: text, script: &Script{}}
	for _, s := range file.Stmts {
		r.node(s, scope{within: -1})
	}
	return r.script, nil
}

// scope is what holds for all calls below a node.
type scope struct {
	within        int
	from, to      []int
	reads, writes []Arg
	input         string
	depth         int
}

type scriptReader struct {
	src    string
	script *Script
	pipes  int
}

func (r *scriptReader) arg(w *syntax.Word) Arg {
	if w == nil {
		return Arg{}
	}
	x := readWord(r.src, "", w)
	return Arg{x.text, x.value, x.static}
}

// node visits n and everything below it.
func (r *scriptReader) node(n syntax.Node, s scope) {
	if s.depth++; s.depth > maxNesting {
		return
	}
	switch n := n.(type) {
	case *syntax.Stmt:
		s = r.redirects(n.Redirs, s)
		if n.Cmd == nil {
			r.add(n, Call{}, s)
			return
		}
		r.node(n.Cmd, s)
	case *syntax.BinaryCmd:
		if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
			r.node(n.X, s)
			r.node(n.Y, s)
			return
		}
		r.pipes++
		pipe := r.pipes
		left, right := s, s
		left.to = append(s.to[:len(s.to):len(s.to)], pipe)
		right.from = append(s.from[:len(s.from):len(s.from)], pipe)
		r.node(n.X, left)
		r.node(n.Y, right)
	case *syntax.CallExpr:
		c := Call{}
		for _, a := range n.Assigns {
			c.Set = append(c.Set, r.set(a))
		}
		for _, w := range n.Args {
			c.Words = append(c.Words, r.arg(w))
		}
		r.call(n, c, s)
	case *syntax.DeclClause:
		c := Call{Words: []Arg{{n.Variant.Value, n.Variant.Value, true}}}
		for _, a := range n.Args {
			c.Set = append(c.Set, r.set(a))
		}
		r.call(n, c, s)
	default:
		r.children(n, s)
	}
}

func (r *scriptReader) set(a *syntax.Assign) Arg {
	if a.Name == nil {
		return r.arg(a.Value)
	}
	v := r.arg(a.Value)
	return Arg{a.Name.Value + "=" + v.Text, a.Name.Value + "=" + v.Value, a.Value == nil || v.Static}
}

// add appends a call.
func (r *scriptReader) add(n syntax.Node, c Call, s scope) int {
	c.Offset, c.End = int(n.Pos().Offset()), int(n.End().Offset())
	c.Within, c.From, c.To, c.Reads, c.Writes, c.Input = s.within, s.from, s.to, s.reads, s.writes, s.input
	r.script.Calls = append(r.script.Calls, c)
	return len(r.script.Calls) - 1
}

// call adds a call, and after it those inside its words.
func (r *scriptReader) call(n syntax.Node, c Call, s scope) {
	i := r.add(n, c, s)
	r.children(n, scope{within: i, depth: s.depth})
}

// redirects adds the files and texts that a statement is connected with. What
// runs inside a redirection (< <(curl ...)) is fed to the statement as by a pipe.
func (r *scriptReader) redirects(list []*syntax.Redirect, s scope) scope {
	for _, d := range list {
		switch d.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			s.reads = append(s.reads[:len(s.reads):len(s.reads)], r.arg(d.Word))
		case syntax.Hdoc, syntax.DashHdoc:
			s.input += r.arg(d.Hdoc).Value
		case syntax.WordHdoc:
			s.input += r.arg(d.Word).Value + "\n"
		case syntax.DplIn, syntax.DplOut:
			continue
		default:
			s.writes = append(s.writes[:len(s.writes):len(s.writes)], r.arg(d.Word))
		}
		r.pipes++
		pipe := r.pipes
		before := len(r.script.Calls)
		inner := scope{within: s.within, to: []int{pipe}, depth: s.depth}
		for _, w := range []*syntax.Word{d.Word, d.Hdoc} {
			if w != nil {
				r.children(w, inner)
			}
		}
		if len(r.script.Calls) > before {
			s.from = append(s.from[:len(s.from):len(s.from)], pipe)
		}
	}
	return s
}

// children visits the statements that stand somewhere below n.
func (r *scriptReader) children(n syntax.Node, s scope) {
	first := true
	syntax.Walk(n, func(c syntax.Node) bool {
		if c == nil {
			return true
		}
		if first {
			first = false
			return true
		}
		switch c := c.(type) {
		case *syntax.Stmt, *syntax.CallExpr, *syntax.DeclClause, *syntax.BinaryCmd:
			r.node(c, s)
			return false
		}
		return true
	})
}
