package hookexec

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells read program text behind -c, or on standard input.
var shells = []string{"bash", "sh", "dash", "zsh", "ksh", "ash"}

// interpreters are other programs that take program text as an argument, or on
// standard input. A version behind the name counts as the name.
var interpreters = []string{
	"python", "node", "nodejs", "bun", "deno", "perl", "ruby", "php", "lua", "awk", "gawk", "mawk", "nawk",
	"osascript", "pwsh", "powershell", "tclsh", "ssh", "sed", "xargs", "parallel",
}

// named returns what a command is called, without directory and version.
func named(word *syntax.Word) string {
	return strings.TrimRight(path.Base(word.Lit()), "0123456789.")
}

// wrappers run the command that their arguments name.
var wrappers = []string{"env", "exec", "command", "nohup", "timeout", "nice", "time", "sudo", "setsid", "stdbuf"}

// program returns where in args a shell or an interpreter is named, or -1.
func program(args []*syntax.Word) (at int, shell bool) {
	for i, a := range args {
		name := named(a)
		switch {
		case slices.Contains(shells, name):
			return i, true
		case slices.Contains(interpreters, name):
			return i, false
		case i == 0 && !slices.Contains(wrappers, name):
			return -1, false
		}
	}
	return -1, false
}

// reads reports whether a command takes program text from standard input: no
// argument says what else it runs.
func reads(call *syntax.CallExpr) bool {
	at, _ := program(call.Args)
	if at < 0 {
		return false
	}
	rest := call.Args[at+1:]
	other := slices.IndexFunc(rest, func(a *syntax.Word) bool { return !strings.HasPrefix(a.Lit(), "-") })
	return other < 0 || slices.ContainsFunc(rest[:other], func(a *syntax.Word) bool { return a.Lit() == "-s" })
}

// call looks for arguments that are program text.
func (w *quoter) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return
	}
	if c.Args[0].Lit() == "eval" {
		for _, a := range c.Args[1:] {
			w.nested(a)
		}
		return
	}
	at, shell := program(c.Args)
	if at < 0 {
		return
	}
	args := c.Args[at+1:]
	if shell {
		if a := commandLine(args); a != nil {
			w.nested(a)
		}
		return
	}
	for _, a := range args {
		if strings.ContainsAny(w.outside(a), "{}();\"'= ") {
			w.isCode(a)
		}
	}
}

// commandLine returns what stands behind -c in the arguments of a shell, or
// nil: behind the first argument that is no option, -c is somebody else's.
func commandLine(args []*syntax.Word) *syntax.Word {
	for i := 0; i < len(args)-1; i++ {
		switch a := args[i].Lit(); {
		case isCommandFlag(a):
			return args[i+1]
		case a == "-o" || a == "+o" || a == "-O" || a == "+O" || a == "--rcfile" || a == "--init-file":
			i++
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return nil
		}
	}
	return nil
}

// isCommandFlag reports whether an argument of a shell is -c, or ends with it
// as -lc does.
func isCommandFlag(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c")
}

// outside is the text of a word without the variables.
func (w *quoter) outside(a *syntax.Word) string {
	var b strings.Builder
	syntax.Walk(a, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			b.WriteString(n.Value)
		case *syntax.SglQuoted:
			b.WriteString(n.Value)
		case *syntax.ParamExp:
			return false
		}
		return true
	})
	return b.String()
}

// program notes that text which a program reads holds variables, unless it is
// missing.
func (w *quoter) program(text *syntax.Word) {
	if text != nil {
		w.isCode(text)
	}
}

func (w *quoter) isCode(n syntax.Node) { maps.Copy(w.code, needs(n)) }

// nested rewrites a word that is a line for another shell: that shell finds the
// variables in its environment, so this one must not put them into the line.
func (w *quoter) nested(a *syntax.Word) {
	u := unfolding{w: w}
	for _, p := range a.Parts {
		u.part(p, false)
	}
	line := u.b.String()
	if len(braced(line)) == 0 {
		w.isCode(a) // if at all, in a form that is not taken apart
		return
	}
	if strings.Contains(w.src, hole) || w.depth >= maxShells {
		w.isCode(a)
		return
	}
	inner := quoteShell(line, w.depth+1)
	for _, name := range inner.used {
		w.used[name] = true
	}
	for _, name := range inner.code {
		w.code[name] = true
	}
	for _, h := range u.holes {
		w.isCode(h.node)
	}
	w.done[a] = true
	w.replace(a, u.fold(inner.line))
}

// hole stands in an inner line for something that the outer shell fills in.
const hole = "KNACKHOLE"

// An unfolding is the text of a word as the inner shell gets it, with
// variables as ${NAME} and holes for what is not known.
type unfolding struct {
	w     *quoter
	b     strings.Builder
	holes []filling
}

type filling struct {
	node syntax.Node
	text string // as it must stand outside of quotes
}

func (u *unfolding) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		u.b.WriteString(unescape(p.Value, quoted))
		return
	case *syntax.SglQuoted:
		if !p.Dollar {
			u.b.WriteString(p.Value)
			return
		}
	case *syntax.DblQuoted:
		if !p.Dollar {
			for _, inner := range p.Parts {
				u.part(inner, true)
			}
			return
		}
	case *syntax.ParamExp:
		if name := plainly(p); name != "" {
			u.b.WriteString("${" + name + "}")
			return
		}
	}
	text := u.w.src[p.Pos().Offset():p.End().Offset()]
	if quoted {
		text = `"` + text + `"`
	}
	fmt.Fprintf(&u.b, "%s%dX", hole, len(u.holes))
	u.holes = append(u.holes, filling{p, text})
}

// unescape drops the backslashes of a literal that the shell would drop.
func unescape(s string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// fold is the word that gives the inner shell this line.
func (u *unfolding) fold(line string) string {
	folded := "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	for i, h := range u.holes {
		folded = strings.ReplaceAll(folded, fmt.Sprintf("%s%dX", hole, i), "'"+h.text+"'")
	}
	return folded
}
