package permission

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A command is one simple command in all the forms a rule may be written for.
type command struct {
	text string // as written, one blank between words, without redirections
	// forms are what an allow rule is compared with: the command as written,
	// then without safe assignments, then without each wrapper.
	forms [][]word
	// hidden are what refusals see besides: the command without any
	// assignment, and what programs such as sudo are told to run.
	hidden [][]word
	// runner is set for a program that runs other programs and is not looked
	// through: an allow rule must name it.
	runner string
	// actions are words that an allow rule must hold, such as find's -exec.
	actions []string
	demand  demand    // what else it must hold
	unknown bool      // the program is only known when it runs
	whole   bool      // only its whole text makes a sensible rule
	first   [256]bool // bytes that a form can begin with
	second  [256]bool // bytes that may come next
	next    [256]bool // bytes that the second word of a form can begin with
	after   [256]bool // bytes that may come next in it
	loose   bool      // the first word holds blanks, so next says nothing
}

// call adds the parts of one simple command.
func (r *reader) call(n *syntax.CallExpr) {
	words := r.words(n.Args)
	if len(words) == 0 {
		for _, a := range n.Assigns {
			r.assignment(a)
		}
		return
	}
	var assigns []word
	unsafe, blind := "", false
	for _, a := range n.Assigns {
		assigns = append(assigns, r.assignWord(a))
		if !safeVariable(a.Name.Value) && unsafe == "" {
			unsafe = a.Name.Value
		}
		blind = blind || codeVariables[a.Name.Value]
	}
	full := slices.Concat(assigns, words)
	c := &command{text: writtenText(full), forms: [][]word{full}, hidden: [][]word{words}[:min(1, len(assigns))]}
	p := part{text: c.text, cmd: c}
	if unsafe == "" && len(assigns) > 0 {
		c.forms = append(c.forms, words)
	}
	inner, opaque := r.unwrap(c, words, unsafe == "")
	switch {
	case opaque:
		c.runner = inner[0].value
	case unsafe == "":
		p.builtin = readOnlyReason(inner)
	}
	in := visible(c, inner, opaque)
	if c.demand = demandOf(inner, r.elsewhere()); c.demand.only != "" {
		p.builtin = ""
	}
	c.whole = !c.demand.empty() || opaque || unsafe != "" || gitWithoutOptions(inner) != nil || !inner[0].static
	p.blind = in.blind
	if p.blind == "" {
		p.blind = evaluates(inner)
	}
	if blind {
		p.blind = runsText
	}
	if !inner[0].static {
		c.unknown = true
		p.blind = "the program is only known when it runs"
	}
	c.index()
	p.hazy = readsUnknown(inner)
	r.add(p)
	if why := evaluatesValue(inner); why != "" {
		r.loose(n, why)
	}
	for _, s := range in.scripts {
		r.script(s)
	}
	r.files(c.text, inner)
}

// unwrap looks through timeout, nice and the like (spec S-7). It returns the
// innermost command, and whether that is a program whose own arguments are a
// command that an allow rule must not be compared with.
func (r *reader) unwrap(c *command, words []word, allowed bool) (inner []word, opaque bool) {
	for {
		name := words[0]
		w, isWrapper := wrappers[name.value]
		if !name.static || !isWrapper {
			opaque = name.static && (runners[base(name.value)] || shells[base(name.value)])
			c.actions = actionsOf(words)
			return words, opaque || len(c.actions) > 0
		}
		rest, ok := w.strip(words)
		if !ok {
			return words, !w.queries(words)
		}
		if len(rest) == 0 {
			return words, false
		}
		if allowed {
			c.forms = append(c.forms, rest)
		} else {
			c.hidden = append(c.hidden, rest)
		}
		words = rest
	}
}

// declare adds export, declare, local, readonly and typeset, which the parser
// treats as part of the language.
func (r *reader) declare(n *syntax.DeclClause) {
	words := []word{{text: n.Variant.Value, value: n.Variant.Value, static: true}}
	harmless, blind := true, false
	for _, a := range n.Args {
		w := r.assignWord(a)
		words = append(words, w)
		switch {
		case a.Naked && a.Name == nil:
			// An option. -n makes a reference, -i makes every value arithmetic.
			plain := w.static && strings.Trim(w.value, "-aAgprx") == ""
			harmless, blind = harmless && plain, blind || !plain
		default:
			harmless = harmless && localVariable(a.Name.Value)
			blind = blind || codeVariables[a.Name.Value]
		}
	}
	c := &command{text: writtenText(words), forms: [][]word{words}}
	c.index()
	p := part{text: c.text, cmd: c}
	if harmless {
		p.builtin = "it sets variables that no program reads"
	}
	if blind {
		p.blind = runsText
	}
	r.add(p)
}

// assignment adds a variable set for the rest of the line.
func (r *reader) assignment(a *syntax.Assign) {
	w := r.assignWord(a)
	c := &command{text: w.text, forms: [][]word{{w}}, whole: true}
	c.index()
	p := part{text: w.text, cmd: c}
	if localVariable(a.Name.Value) {
		p.builtin = "it sets a variable that no program reads"
	}
	if codeVariables[a.Name.Value] {
		p.blind = runsText
	}
	r.add(p)
}

// variable adds a variable that a construct other than an assignment sets.
func (r *reader) variable(n syntax.Node, name string) {
	if !localVariable(name) {
		r.loose(n, "it sets the variable "+name)
	}
}

func (r *reader) assignWord(a *syntax.Assign) word {
	w := word{text: source(r.src, a)}
	w.value, w.static = w.text, true
	if a.Value != nil {
		v := r.word(a.Value)
		if cut := len(w.text) - len(v.text); cut >= 0 && strings.HasSuffix(w.text, v.text) {
			w.value = w.text[:cut] + v.value
		}
		w.static = v.static
	}
	if a.Array != nil || a.Index != nil {
		w.static = false
	}
	return w
}

func writtenText(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return strings.TrimSuffix(b.String(), " ")
}

// plainText joins the words with their quotes resolved where that is not
// ambiguous: a quoted blank must not look like the end of a word.
func plainText(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w.static && w.value != "" && !strings.ContainsAny(w.value, " \t\n") {
			b.WriteString(w.value)
		} else {
			b.WriteString(w.text)
		}
	}
	return b.String()
}

// base returns the last element of a program's path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// index prepares excludes.
func (c *command) index() {
	for _, forms := range [][][]word{c.forms, c.hidden} {
		for _, f := range forms {
			for _, s := range []string{f[0].text, f[0].value, base(f[0].value)} {
				if s != "" {
					c.first[s[0]] = true
					if len(s) > 1 {
						c.second[s[1]] = true
					}
				}
			}
			if strings.ContainsAny(f[0].text, " \t\n") {
				c.loose = true
			}
			if len(f) > 1 {
				for _, s := range []string{f[1].text, f[1].value} {
					if s != "" {
						c.next[s[0]] = true
					}
					if len(s) > 1 {
						c.after[s[1]] = true
					}
				}
				if !f[1].static { // nobody knows its letters
					for b := range c.after {
						c.after[b] = true
					}
				}
			}
		}
	}
	// Quotes, home directories and wildcards in a rule stand for other letters.
	for _, b := range []byte("\"'\\$~*`") {
		c.first[b], c.second[b], c.next[b], c.after[b] = true, true, true, true
	}
	// A word of one letter may end there, and a prefix may end anywhere.
	c.second[' '], c.second['\t'], c.second[':'], c.next[':'] = true, true, true, true
	c.after[' '], c.after['\t'], c.after[':'] = true, true, true
}

// special reports whether a byte of a rule stands for other letters, or for none.
func special(b byte) bool { return strings.IndexByte("\"'\\$~*`:", b) >= 0 }

// excludes is a quick look that spares most comparisons: the specifier, or its
// second word, begins with two bytes that the command cannot have there.
func (c *command) excludes(spec string) bool {
	if spec == "" || !c.first[spec[0]] {
		return true
	}
	for i := 0; i < len(spec); i++ {
		switch spec[i] {
		case '"', '\'', '\\', '$', '~', '*', '`':
			return false
		case ' ', '\t':
			for i < len(spec) && isBlank(spec[i]) {
				i++
			}
			if i == len(spec) || c.loose {
				return false
			}
			return !c.next[spec[i]] || i+1 < len(spec) && !special(spec[i]) && !c.after[spec[i+1]]
		default:
			if i == 1 && !c.second[spec[1]] {
				return true
			}
		}
	}
	return false
}

// matches reports whether a Bash specifier that is not excluded covers the
// command (spec S-7).
func (c *command) matches(spec, home string, l list) bool {
	s := readSpec(spec, home)
	for _, f := range c.forms {
		if s.covers(f, c, l) {
			return true
		}
	}
	if l == allowList {
		return false
	}
	for _, f := range c.hidden {
		if s.covers(f, c, l) {
			return true
		}
	}
	return false
}
