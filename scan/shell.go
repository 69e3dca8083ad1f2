package scan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
)

// A mode says who reads a command before it runs.
type mode uint8

const (
	docs   mode = iota // a model reads it in a text and may run it
	span               // the same, in a code span
	script             // a file of the skill
	runs               // nobody: an inline command or a hook
)

// maxNested is how many shells inside shells are followed.
const maxNested = 4

// A judge looks at one script.
type judge struct {
	f    *file
	b    block
	m    mode
	base int    // offset of the script in the file
	text string // the script
	deep int
	lex  *lexicon
	*permission.Script
	credentials bool              // a path of a credential may stand in it
	programs    []program         // of the calls, by index
	fetched     map[string]string // files that were downloaded, with the address
	decoded     map[string]bool   // files that were decoded
}

// shell judges text, which stands at base in the file, as shell commands.
func (f *file) shell(text string, base int, m mode, b block) {
	j := &judge{f: f, b: b, m: m, base: base, lex: lexica()}
	j.credentials = m == runs || f.hitsIn(base, base+len(text), credentialWord)
	j.read(readable(text))
}

// readable blanks what would keep a parser from reading a script at all, and
// keeps its length: control characters, line ends of Windows, bytes that are no
// UTF-8.
func readable(s string) string {
	ok := func(c byte) bool { return c >= ' ' && c != 0x7f || c == '\n' || c == '\t' }
	bad := !utf8.ValidString(s)
	for i := 0; i < len(s) && !bad; i++ {
		bad = !ok(s[i])
	}
	if !bad {
		return s
	}
	b := []byte(s)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || n == 1 && !ok(b[i]) {
			b[i] = ' '
		}
		i += n
	}
	return string(b)
}

// read parses text whole, or line by line when it is no script as a whole.
func (j *judge) read(text string) {
	if j.m < script && strings.ContainsAny(text, "<{[") {
		text = j.lex.placeholder.ReplaceAllStringFunc(text, func(s string) string { return "_" + strings.Map(word, s[1:len(s)-1]) + "_" })
	}
	if s, err := permission.ReadScript(text); err == nil {
		j.judge(text, s)
		return
	}
	for at := 0; at < len(text); {
		line := logicalLine(text[at:])
		if j.deep > 0 || j.m >= script || j.f.hitsIn(j.base+at, j.base+at+len(line), shellWord) {
			k := *j
			k.base += at
			if s, err := permission.ReadScript(line); err == nil {
				k.judge(line, s)
			} else {
				k.unparsed(line)
			}
		}
		at += len(line)
	}
}

// logicalLine returns the first line of s, with those that continue it.
func logicalLine(s string) string {
	end := 0
	for {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return s
		}
		end += i + 1
		if before := strings.TrimRight(s[:end-1], "\r"); !strings.HasSuffix(before, `\`) && !strings.HasSuffix(before, "|") {
			return s[:end]
		}
	}
}

// word keeps the bytes of a placeholder, as one word of the same length.
func word(r rune) rune {
	if r == ' ' || r == '{' || r == '}' || r == '<' || r == '>' {
		return '_'
	}
	return r
}

// judge applies the rules about commands.
func (j *judge) judge(text string, s *permission.Script) {
	j.text, j.Script, j.fetched = text, s, map[string]string{}
	j.decoded = map[string]bool{}
	j.programs = make([]program, len(s.Calls))
	for i := range s.Calls {
		j.programs[i] = j.program(s.Calls[i])
	}
	for i := range s.Calls {
		j.download(i)
		j.encoded(i)
		j.sends(i)
		j.reads(i)
		j.persists(i)
		j.destroys(i)
		j.covers(i)
		j.nested(i)
	}
	j.together()
}

// report adds a finding about call i. docs is the severity in documentation;
// what runs unread is an error.
func (j *judge) report(rule string, i int, inDocs, unread skill.Severity, message string) {
	at := j.base
	if j.Script != nil && j.deep == 0 {
		at += j.Calls[i].Offset
	}
	j.reportAt(rule, at, inDocs, unread, message)
}

func (j *judge) reportAt(rule string, at int, inDocs, unread skill.Severity, message string) {
	sev := unread
	if j.m == docs || j.m == span {
		sev = inDocs
		if j.f.warns(j.b, min(at, len(j.f.text))) {
			sev = skill.Info
		}
	}
	j.f.add(rule, sev, at, message)
}

// A program is a call without what only wraps it.
type program struct {
	name    string // plain, in lower case; empty when only known at run time
	args    []permission.Arg
	xargs   bool // gets its arguments from its input
	dynamic bool
}

func (j *judge) program(c permission.Call) program {
	var p program
	words := c.Words
	for len(words) > 0 {
		if !words[0].Static {
			p.dynamic, p.args = true, words[1:]
			return p
		}
		p.name, p.args = programName(words[0].Value), words[1:]
		if !j.lex.wrappers[p.name] {
			return p
		}
		p.xargs = p.xargs || p.name == "xargs"
		rest := skipOptions(p.name, words[1:])
		if len(rest) == 0 {
			return p
		}
		words = rest
	}
	return p
}

// skipOptions drops the options of a wrapper, and what belongs to them.
func skipOptions(name string, words []permission.Arg) []permission.Arg {
	for len(words) > 0 {
		v := words[0].Value
		switch {
		case strings.HasPrefix(v, "-"):
			takes := map[string]string{"sudo": "-u -g -h -p -C", "xargs": "-I -n -P -L -d -s", "env": "-u -C", "nice": "-n", "timeout": "-s -k"}[name]
			if slices.Contains(strings.Fields(takes), v) && len(words) > 1 {
				words = words[1:]
			}
		case strings.Contains(v, "=") && !strings.Contains(v, "://"), name == "timeout" && v != "" && strings.Trim(v, "0123456789.smhd") == "":
		default:
			return words
		}
		words = words[1:]
	}
	return words
}

// feeders returns the calls whose output call i is given, through pipes and
// redirections.
func (j *judge) feeders(i int) []int {
	var out []int
	seen := map[int]bool{i: true}
	queue := []int{i}
	for len(queue) > 0 {
		from := j.Calls[queue[0]].From
		queue = queue[1:]
		if len(from) == 0 {
			continue
		}
		for k := range j.Calls {
			if !seen[k] && slices.ContainsFunc(j.Calls[k].To, func(p int) bool { return slices.Contains(from, p) }) {
				seen[k] = true
				out = append(out, k)
				out = append(out, j.inside(k)...)
				queue = append(queue, k)
			}
		}
	}
	return out
}

// inside returns the calls that stand in the words of call i.
func (j *judge) inside(i int) []int {
	var out []int
	for k := i + 1; k < len(j.Calls); k++ {
		for w := j.Calls[k].Within; w >= 0; w = j.Calls[w].Within {
			if w == i {
				out = append(out, k)
				break
			}
		}
	}
	return out
}

// source returns call i as written, without quotes and backslashes.
func (j *judge) source(i int) string {
	c := j.Calls[i]
	return plain.Replace(j.text[c.Offset:c.End])
}

var plain = strings.NewReplacer(`"`, "", `'`, "", "\\", "")

// nested judges what the call hands to another shell or interpreter as text.
func (j *judge) nested(i int) {
	if j.deep >= maxNested {
		return
	}
	p, c := j.programs[i], j.Calls[i]
	inner := func(text string) {
		k := &judge{f: j.f, b: j.b, m: j.m, base: j.base + c.Offset, deep: j.deep + 1, lex: j.lex, credentials: j.credentials}
		if j.deep > 0 {
			k.base = j.base
		}
		k.read(text)
	}
	switch {
	case j.lex.shells[p.name], p.name == "su":
		for n, a := range p.args {
			if a.Static && strings.HasPrefix(a.Value, "-") && !strings.HasPrefix(a.Value, "--") && strings.Contains(a.Value, "c") && n+1 < len(p.args) {
				inner(p.args[n+1].Value)
			}
		}
		if c.Input != "" {
			inner(c.Input)
		}
	case p.name == "eval":
		var words []string
		for _, a := range p.args {
			words = append(words, a.Value)
		}
		inner(strings.Join(words, " "))
	case j.lex.interpreters[p.name]:
		code := c.Input
		for _, a := range p.args {
			code += "\n" + a.Value
		}
		if rule, message := codeRule(code); rule != "" {
			j.report(rule, i, skill.Warning, skill.Error, message)
		}
	}
}
