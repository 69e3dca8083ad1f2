package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// devices are targets of redirections that are no files to protect.
var devices = map[string]bool{
	"/dev/null": true, "/dev/zero": true, "/dev/tty": true,
	"/dev/stdin": true, "/dev/stdout": true, "/dev/stderr": true,
}

// redirect adds what a redirection does: it counts as a Write or a Read of its
// target (spec S-7).
func (r *reader) redirect(n *syntax.Redirect) {
	if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
		r.variable(n, strings.Trim(n.N.Value, "{}"))
	}
	tool := "Write"
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if !plainDelimiter(n.Word) {
			r.add(part{text: source(r.src, n.Word), loose: "the end of a here-document is not plain text", unread: true, blind: "a here-document may end early"})
		}
		return
	case syntax.WordHdoc:
		return
	case syntax.RdrIn:
		tool = "Read"
	}
	w := r.word(n.Word)
	if n.Op == syntax.DplIn || n.Op == syntax.DplOut {
		if w.static && (w.value == "-" || isDigits(strings.TrimSuffix(w.value, "-"))) {
			return // a descriptor, not a file
		}
		if n.Op == syntax.DplIn {
			r.loose(n, "the descriptor is only known when it runs")
			return
		}
	}
	switch {
	case w.static && (devices[w.value] || isDigits(strings.TrimPrefix(w.value, "/dev/fd/"))):
	case w.static && (strings.HasPrefix(w.value, "/dev/tcp/") || strings.HasPrefix(w.value, "/dev/udp/")):
		r.loose(n, "the redirection opens a network connection")
	case !w.static && w.value == "/dev/fd/" && isProcSubst(n.Word):
		// the commands inside are parts of their own
	case !w.static:
		p := r.fileOf(tool, w, n)
		p.loose = "the target of the redirection is only known when it runs"
		r.add(p)
	default:
		p := r.fileOf(tool, w, n)
		if tool == "Read" {
			p.builtin = "reading a file by redirection changes nothing"
		}
		r.add(p)
	}
}

func (r *reader) fileOf(tool string, w word, n syntax.Node) part {
	p := part{tool: tool, text: source(r.src, n), place: r.placeOf(w)}
	if tool != "Read" {
		p.firm = p.place.protected()
	}
	return p
}

func isProcSubst(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ProcSubst)
	return ok
}

// plainDelimiter reports whether bash and the parser agree where a
// here-document ends.
func plainDelimiter(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\`$") {
				return false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			if p.Dollar || len(p.Parts) > 1 || len(p.Parts) == 1 && !isPlainLit(p.Parts[0]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isPlainLit(p syntax.WordPart) bool {
	l, ok := p.(*syntax.Lit)
	return ok && !strings.ContainsAny(l.Value, "\\`$")
}

// stdinScript looks into a here-document that is fed to a shell.
func (r *reader) stdinScript(s *syntax.Stmt) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	for _, rd := range s.Redirs {
		var text *syntax.Word
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text = rd.Hdoc
		case syntax.WordHdoc:
			text = rd.Word
		}
		if text == nil || !r.runsStdin(r.words(call.Args)) {
			continue
		}
		w := r.word(text)
		if rd.Op != syntax.WordHdoc && len(text.Parts) == 1 {
			if l, ok := text.Parts[0].(*syntax.Lit); ok {
				w = word{value: l.Value, static: true}
			}
		}
		if !w.static {
			r.add(part{text: source(r.src, call), inside: true, blind: "a shell reads a script that is only known when it runs"})
			continue
		}
		r.script(w.value)
	}
}

// runsStdin reports whether any word names a shell: "sudo -u x bash" reads a
// script from its input as well as "bash" does.
func (r *reader) runsStdin(words []word) bool {
	for _, w := range words {
		if w.static && shells[base(w.value)] {
			return true
		}
	}
	return false
}
