package permission

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	bashTool = "Bash"

	// maxLine is the longest line in bytes that is read at all; nobody
	// approves a longer one with open eyes.
	maxLine = 64 << 10
	// maxNesting is the deepest syntax tree that is looked at; each member of
	// an && chain is one level, each $( ) five.
	maxNesting = 1000
	// maxDepth is how many shells inside shells (bash -c "bash -c ...") are
	// followed.
	maxDepth = 8
	// maxScript bounds the total text of the scripts found inside one line.
	maxScript = 4 * maxLine
)

// A part is one thing that is tried on the rules: a simple command, a file that
// a line writes, or the whole of a request to another tool.
type part struct {
	tool  string // the tool that rules must speak of
	text  string // as written, for people
	shell bool   // part of a shell line: rules about Bash see it
	line  string // the whole line as written; empty inside other commands
	cmd   *command
	place place
	names *skillNames

	inside  bool   // seen inside another command: refusals see it, nobody has to allow it
	builtin string // why it is allowed without a rule
	firm    string // why a person is asked whatever is allowed (spec S-10)
	loose   string // why no rule about one command can allow it
	unread  bool   // not understood: nothing can allow it
	blind   string // why refusals of single commands could miss it
	hazy    bool   // reads files whose names are only known when it runs
}

// A reader takes a shell line apart.
type reader struct {
	src        string
	line       string // as in part
	work, home string
	links      func(string) string
	dirs       []string // where relative paths of the line may lead from
	lost       bool     // the line changes directory in a way not followed
	inside     bool
	depth      int
	budget     *int // bytes of nested scripts still to be read
	parts      []part
}

// readLine returns the parts of a Bash request: every simple command that the
// line would run, every file it would write or read by redirection (spec S-7).
// There is always at least one.
func readLine(req *Request) []part {
	line := strings.TrimSpace(req.Input.Command)
	if line == "" {
		return []part{{tool: bashTool, text: line, shell: true, loose: "the command is empty", unread: true}}
	}
	budget := maxScript
	r := reader{src: line, line: line, work: req.WorkDir, home: req.Home, links: req.Links, dirs: []string{req.WorkDir}, budget: &budget}
	file, err := parse(line)
	if err != nil {
		return []part{r.unreadable(err)}
	}
	r.file(file)
	if len(r.parts) == 0 {
		r.add(part{text: line, builtin: "it runs nothing"})
	}
	return r.parts
}

// Readable reports whether a shell line can be parsed. What cannot may do
// anything.
func Readable(line string) bool {
	_, err := parse(line)
	return err == nil
}

// parse reads a line as bash would. Text that could look different from what
// it does is an error: control characters, broken encoding.
func parse(line string) (*syntax.File, error) {
	switch {
	case len(line) > maxLine:
		return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
	case !utf8.ValidString(line):
		return nil, errors.New("it is not valid UTF-8")
	case strings.ContainsFunc(line, func(c rune) bool { return isControl(c) && c != '\n' }):
		return nil, errors.New("it holds control characters")
	case opens(line) > maxNesting:
		return nil, errors.New("it nests too deeply")
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
}

// opens counts how many brackets are open at once, quoted or not: a parser
// that descends into sixty thousand of them takes seconds.
func opens(line string) int {
	most, now := 0, 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '(', '{', '[':
			now++
			most = max(most, now)
		case ')', '}', ']':
			now = max(now-1, 0)
		}
	}
	return most
}

// unreadable makes the part for a line that cannot be parsed. Refusals are
// still tried on its words as they stand.
func (r *reader) unreadable(err error) part {
	var words []word
	text := r.src
	if len(text) > maxLine {
		text = text[:maxLine]
	}
	for f := range strings.FieldsSeq(text) {
		words = append(words, word{text: f, value: f, static: true})
	}
	reason := "it cannot be read as a shell line: " + err.Error()
	cmd := &command{text: r.src, hidden: [][]word{words}}
	cmd.index()
	return part{tool: bashTool, shell: true, text: r.src, line: r.line, cmd: cmd, loose: reason, unread: true, blind: reason}
}

func (r *reader) add(p part) {
	p.shell, p.line, p.inside = true, r.line, p.inside || r.inside
	if p.tool == "" {
		p.tool = bashTool
	}
	r.parts = append(r.parts, p)
}

// loose adds something that only a rule about the whole line can allow.
func (r *reader) loose(n syntax.Node, why string) {
	r.add(part{text: source(r.src, n), loose: why})
}

func (r *reader) word(w *syntax.Word) word { return readWord(r.src, r.home, w) }

func (r *reader) words(ws []*syntax.Word) []word {
	out := make([]word, len(ws), len(ws)+1)
	for i, w := range ws {
		out[i] = r.word(w)
	}
	return out
}

// file visits every node: whatever a line nests, its commands are found.
func (r *reader) file(f *syntax.File) {
	r.followDirs(f)
	level, deep := 0, false
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			level--
			return true
		}
		if level == maxNesting {
			deep = true
			return false
		}
		level++
		switch n := n.(type) {
		case *syntax.Stmt:
			r.stdinScript(n)
		case *syntax.CallExpr:
			r.call(n)
		case *syntax.DeclClause:
			r.declare(n)
		case *syntax.Redirect:
			r.redirect(n)
		case *syntax.WordIter:
			r.variable(n, n.Name.Value)
		case *syntax.CoprocClause:
			if n.Name != nil {
				r.variable(n.Name, n.Name.Lit())
			}
		default:
			r.evaluates(n)
		}
		return true
	})
	if deep {
		r.add(r.unreadable(errors.New("it nests too deeply")))
	}
}

// evaluates looks for constructs that run text which is data to the parser:
// arithmetic on a variable runs a command substitution in its subscript.
func (r *reader) evaluates(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		r.arithmetic(n, n.X)
	case *syntax.ArithmCmd:
		r.arithmetic(n, n.X)
	case *syntax.LetClause:
		r.arithmetic(n, n.Exprs...)
	case *syntax.CStyleLoop:
		r.arithmetic(n, n.Init, n.Cond, n.Post)
	case *syntax.ArrayElem:
		r.subscript(n, n.Index)
	case *syntax.Assign:
		r.subscript(n, n.Index)
	case *syntax.ParamExp:
		r.expansion(n)
	case *syntax.BinaryTest:
		if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr && !(isNumber(n.X) && isNumber(n.Y)) {
			r.loose(n, "a numeric comparison evaluates its operands as code")
		}
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			r.loose(n, "a test of a variable evaluates its subscript as code")
		}
	case *syntax.FuncDecl:
		if n.Name != nil && n.Name.Value == "git" {
			r.loose(n, "git would mean something else")
		}
	case *syntax.ExtGlob:
		// Without extglob bash reads !(x) as a negated subshell.
		r.add(part{text: source(r.src, n), loose: "its meaning depends on the shell option extglob", blind: "an extended pattern can be a command"})
		r.script(n.Pattern.Value)
	case *syntax.CmdSubst:
		if text := source(r.src, n); n.Backquotes && strings.Contains(text, `\`) {
			r.loose(n, "backslashes inside backquotes change what runs")
			r.script(unescapeQuoted(strings.Trim(text, "`")))
		}
	}
}

func (r *reader) arithmetic(n syntax.Node, exprs ...syntax.ArithmExpr) {
	for _, e := range exprs {
		if e != nil && !isConstant(e) {
			r.loose(n, "arithmetic on a variable evaluates its value as code")
			return
		}
	}
}

func (r *reader) subscript(n syntax.Node, index syntax.ArithmExpr) {
	if w, ok := index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return
	}
	if index != nil && !isConstant(index) {
		r.loose(n, "a subscript is evaluated as code")
	}
}

func (r *reader) expansion(p *syntax.ParamExp) {
	r.subscript(p, p.Index)
	if p.Slice != nil {
		r.arithmetic(p, p.Slice.Offset, p.Slice.Length)
	}
	switch {
	case p.Excl && p.Names == 0:
		r.loose(p, "an indirect expansion evaluates a value as a name")
	case p.Exp == nil:
	case p.Exp.Op == syntax.OtherParamOps:
		r.loose(p, "the expansion may evaluate a value as a prompt")
	case p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull:
		if p.Param != nil {
			r.variable(p, p.Param.Value)
		}
	}
}

// isConstant reports whether an arithmetic expression holds numbers only.
func isConstant(e syntax.ArithmExpr) bool {
	constant := true
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			constant = constant && isDigits(n.Value)
		case *syntax.ParamExp:
			constant = constant && (n.Length || n.Param != nil && (n.Param.Value == "#" || n.Param.Value == "?"))
			return false // its name is no operand
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.SglQuoted:
			constant = false
		}
		return constant
	})
	return constant
}

func isNumber(x syntax.TestExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && isConstant(w)
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// script reads text that a command hands to a shell. Only refusals see what is
// in it: a rule that allows its commands says nothing about running a shell.
func (r *reader) script(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	*r.budget -= len(text)
	if r.depth >= maxDepth || *r.budget < 0 {
		r.add(part{text: text, inside: true, blind: "it nests too many shells"})
		return
	}
	inner := *r
	inner.src, inner.line, inner.inside, inner.parts = text, "", true, nil
	inner.depth++
	inner.dirs, inner.lost = nil, true // it runs wherever the line has gone
	inner.dirs = append(inner.dirs, r.dirs...)
	if file, err := parse(text); err != nil {
		p := inner.unreadable(err)
		p.inside = true
		inner.parts = append(inner.parts, p)
	} else {
		inner.file(file)
	}
	r.parts = append(r.parts, inner.parts...)
}
