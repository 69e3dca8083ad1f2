package hookexec

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine is the longest line in bytes that is taken apart, and maxShells how
// many shells inside shells are followed.
const (
	maxLine   = 64 << 10
	maxShells = 8
)

// A quoting is a shell line that was made safe for directories of any name
// (spec H-5). The line never holds such a name: the names are in the
// environment, and the quoting sees to it that the shell takes each for one
// word, or a part of one, and for nothing else.
type quoting struct {
	line string
	used []string // variables that the line needs, sorted
	code []string // those whose value some program reads as program text
}

// quote makes a line safe. One that cannot be parsed is left to the shell.
func quote(line string) quoting { return quoteShell(line, 0) }

func quoteShell(line string, depth int) quoting {
	w := quoter{src: line, depth: depth, used: map[string]bool{}, code: map[string]bool{}, own: map[string]bool{}, done: map[*syntax.Word]bool{}}
	f, err := parse(line)
	if err != nil {
		w.mention(line)
		q := w.result(line)
		if depth > 0 { // a shell inside will read it, however it does
			q.code = q.used
		}
		return q
	}
	syntax.Walk(f, w.visit)
	return w.result(w.apply())
}

func parse(line string) (*syntax.File, error) {
	if len(line) > maxLine {
		return nil, errors.New("the line is too long")
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
}

// An edit replaces src[from:to].
type edit struct {
	from, to uint
	text     string
}

type quoter struct {
	src   string
	depth int
	edits []edit
	used  map[string]bool
	code  map[string]bool
	own   map[string]bool       // names that the line sets itself
	done  map[*syntax.Word]bool // words that are edited as a whole
}

func (w *quoter) result(line string) quoting {
	q := quoting{line: line}
	for _, v := range variables() {
		if w.used[v] && !w.own[v] {
			q.used = append(q.used, v)
		}
		if w.code[v] {
			q.code = append(q.code, v)
		}
	}
	return q
}

func (w *quoter) apply() string {
	slices.SortStableFunc(w.edits, func(a, b edit) int { return int(a.from) - int(b.from) })
	var b strings.Builder
	at := uint(0)
	for _, e := range w.edits {
		if e.from < at {
			continue // inside a word that was edited as a whole
		}
		b.WriteString(w.src[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(w.src[at:])
	return b.String()
}

func (w *quoter) replace(n syntax.Node, text string) {
	w.edits = append(w.edits, edit{n.Pos().Offset(), n.End().Offset(), text})
}

// braced finds ${NAME} in text that the shell does not expand.
func braced(text string) []string {
	var names []string
	for _, v := range variables() {
		if strings.Contains(text, "${"+v+"}") {
			names = append(names, v)
		}
	}
	return names
}

func (w *quoter) mention(text string) {
	for _, v := range braced(text) {
		w.used[v] = true
	}
}

// visit is the walk over a whole line.
func (w *quoter) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			w.own[n.Name.Value] = true
		}
	case *syntax.CallExpr:
		w.call(n)
	case *syntax.Stmt:
		if call, ok := n.Cmd.(*syntax.CallExpr); ok && reads(call) {
			for _, r := range n.Redirs {
				w.program(r.Hdoc)
				if r.Op == syntax.WordHdoc {
					w.program(r.Word)
				}
			}
		}
	case *syntax.BinaryCmd:
		if call, ok := n.Y.Cmd.(*syntax.CallExpr); ok && (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && reads(call) {
			w.isCode(n.X)
		}
	case *syntax.Redirect:
		syntax.Walk(n.Word, w.visit)
		w.heredoc(n)
		return false
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.ParamExp:
		for name := range needs(n) {
			w.used[name] = true
		}
		return false
	case *syntax.Word:
		if w.done[n] {
			return false
		}
		w.word(n)
	}
	return true
}

// word puts quotes around variables that stand bare, and takes paths out of
// single quotes. Other text in single quotes is for a program that finds the
// variables in its environment.
func (w *quoter) word(n *syntax.Word) {
	for _, p := range n.Parts {
		switch p := p.(type) {
		case *syntax.ParamExp:
			if name := plainly(p); name != "" {
				w.replace(p, `"${`+name+`}"`)
			}
		case *syntax.SglQuoted:
			w.mention(p.Value)
			if names := braced(p.Value); len(names) > 0 && !p.Dollar && isPath(p.Value) {
				text := "'" + p.Value + "'"
				for _, name := range names {
					text = strings.ReplaceAll(text, "${"+name+"}", `'"${`+name+`}"'`)
				}
				w.replace(p, text)
			}
		}
	}
}

// isPath reports whether text with ${NAME} in it is a path and nothing else.
func isPath(text string) bool {
	for _, name := range braced(text) {
		text = strings.ReplaceAll(text, "${"+name+"}", "")
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\"'`$\\(){}[]<>|&;*?!#", r)
	})
}

// heredoc leaves the text as it is: variables in it are expanded and not split,
// or it is quoted and meant for a program that has them in its environment.
// Commands inside are lines like others.
func (w *quoter) heredoc(r *syntax.Redirect) {
	if r.Hdoc == nil {
		return
	}
	for _, p := range r.Hdoc.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			w.mention(lit.Value)
		} else {
			syntax.Walk(p, w.visit)
		}
	}
}

// needs returns the variables that n cannot do without, wherever they stand.
func needs(n syntax.Node) map[string]bool {
	names := map[string]bool{}
	syntax.Walk(n, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && isVariable(p.Param.Value) && !hasDefault(p) {
			names[p.Param.Value] = true
		}
		return true
	})
	return names
}

// hasDefault reports whether p copes with a variable that is not set.
func hasDefault(p *syntax.ParamExp) bool {
	return p.IsSet || p.Exp != nil && slices.Contains([]syntax.ParExpOperator{
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
	}, p.Exp.Op)
}

// plainly returns the variable of $NAME or ${NAME}, or "" for anything else.
func plainly(p *syntax.ParamExp) string {
	if p.Param == nil || !isVariable(p.Param.Value) || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil ||
		p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 || p.Flags != nil {
		return ""
	}
	return p.Param.Value
}

// harmful reports whether a value could leave the place in a program at which
// it stands.
func harmful(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || strings.ContainsRune("\"'`$\\(){};&|<>#", r) })
}
