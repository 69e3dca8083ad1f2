package scan

import (
	"strings"

	"github.com/knack-skills/knack/prompt"
)

type blockKind uint8

const (
	paragraphBlock blockKind = iota
	fenceBlock
	frontBlock
	dataBlock // the text of a file that is neither prose nor code
)

// A block is a paragraph, a list, a fence, or the frontmatter.
type block struct {
	kind     blockKind
	from, to int
	lang     string // of a fence
	heading  string // above it
	intro    string // the last sentence before it
	first    string // the last sentence of its first line, when that introduces the rest
	rest     int    // where the second line begins
}

// markdown scans the blocks of a Markdown text in which a keyword stands.
func (f *file) markdown() {
	if f.body > 0 {
		b := block{kind: frontBlock, to: f.body}
		f.prosePatterns(b)
		f.literals(0, f.body)
	}
	w := walker{f: f, at: f.body}
	for w.block() {
		if b := w.now; f.hitsIn(b.from, b.to, shellWord|codeWord|secretWord|proseWord) || strings.Contains(f.text[b.from:b.to], `\x`) {
			f.block(b)
		}
		if w.now.kind == paragraphBlock {
			f.links(w.now)
		}
	}
}

// block applies all rules to one block.
func (f *file) block(b block) {
	f.prosePatterns(b)
	f.literals(b.from, b.to)
	if b.kind != fenceBlock {
		if f.hitsIn(b.from, b.to, shellWord) {
			f.spans(b)
			f.proseCommands(b)
			f.proseCredentials(b)
		}
		return
	}
	f.codePatterns(docs, b)
	if shellLanguage(b.lang) && f.hitsIn(b.from, b.to, shellWord) {
		f.shell(unquote(f.text[b.from:b.to]), b.from, docs, b)
		return
	}
	f.strings(docs, b)
}

// shellLanguage reports whether a fence may hold shell commands.
func shellLanguage(lang string) bool {
	switch lang {
	case "", "sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "shellscript", "text", "txt", "cmd", "fish", "ksh", "dockerfile", "docker", "makefile", "make":
		return true
	}
	return false
}

// unquote blanks the marks of a block quotation and the prompts of a terminal,
// so that offsets stay.
func unquote(s string) string {
	if !strings.ContainsAny(s, ">$%") {
		return s
	}
	b := []byte(s)
	start := true
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n':
			start = true
		case start && c == '>':
			b[i] = ' '
		case start && (c == '$' || c == '%') && i+1 < len(b) && b[i+1] == ' ':
			b[i], start = ' ', false
		case c != ' ' && c != '\t':
			start = false
		}
	}
	return string(b)
}

// A walker cuts Markdown into blocks, in one pass.
type walker struct {
	f       *file
	at      int
	heading string
	last    string // the last line of prose
	now     block
}

// line returns the end of the line at i, and where the next begins.
func (w *walker) line(i int) (end, next int) {
	n := strings.IndexByte(w.f.text[i:], '\n')
	if n < 0 {
		return len(w.f.text), len(w.f.text)
	}
	return i + n, i + n + 1
}

// block moves to the next block.
func (w *walker) block() bool {
	text := w.f.text
	for w.at < len(text) {
		end, next := w.line(w.at)
		line := strings.TrimLeft(text[w.at:end], " \t>")
		switch mark := fenceMark(line); {
		case strings.TrimSpace(line) == "":
			w.at = next
		case mark != "":
			w.fence(mark, strings.ToLower(firstWord(line[len(mark):])), next)
			return true
		case strings.HasPrefix(line, "#"):
			w.now = block{from: w.at, to: next, heading: strings.Clone(line)}
			w.heading, w.last, w.at = line, "", next
			return true
		default:
			w.paragraph()
			return true
		}
	}
	return false
}

func firstWord(s string) string {
	s = strings.TrimLeft(s, " \t{.")
	if i := strings.IndexAny(s, " \t,{}:\r"); i >= 0 {
		s = s[:i]
	}
	return s
}

// fenceMark returns the run of marks that opens a fence, or "".
func fenceMark(line string) string {
	for _, c := range []byte{'`', '~'} {
		n := 0
		for n < len(line) && line[n] == c {
			n++
		}
		if n >= 3 && (c == '~' || strings.IndexByte(line[n:], '`') < 0) {
			return line[:n]
		}
	}
	return ""
}

// fence reads a fenced block whose content begins at i; one that is never
// closed goes on to the end.
func (w *walker) fence(mark, lang string, i int) {
	b := block{kind: fenceBlock, from: i, lang: lang, heading: w.heading, intro: w.last}
	for i < len(w.f.text) {
		end, next := w.line(i)
		line := strings.Trim(w.f.text[i:end], " \t>\r")
		if strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "" {
			b.to = i
			w.at, w.now = next, b
			return
		}
		i = next
	}
	b.to = len(w.f.text)
	w.at, w.now = b.to, b
}

// paragraph reads lines up to a blank one, a heading or a fence.
func (w *walker) paragraph() {
	b := block{from: w.at, heading: w.heading, intro: w.last}
	i := w.at
	for i < len(w.f.text) {
		end, next := w.line(i)
		line := strings.TrimLeft(w.f.text[i:end], " \t>")
		if i > w.at && (strings.TrimSpace(line) == "" || fenceMark(line) != "" || strings.HasPrefix(line, "#")) {
			break
		}
		w.last = line
		i = next
	}
	w.last = lastSentence(w.last)
	first, rest := w.line(b.from)
	if line := strings.TrimRight(w.f.text[b.from:first], " *_\r"); strings.HasSuffix(line, ":") {
		b.first, b.rest = lastSentence(line), rest
	}
	b.to = i
	w.at, w.now = i, b
}

// lastSentence returns what introduces what follows a line.
func lastSentence(line string) string {
	line = strings.TrimRight(line, " \t\r")
	if len(line) > 1000 {
		line = line[len(line)-1000:]
	}
	for i := len(line) - 2; i > 0; i-- {
		if line[i] == ' ' && strings.IndexByte(".!?", line[i-1]) >= 0 {
			return line[i+1:]
		}
	}
	return line
}

// spans judges the code spans of a paragraph as the lines of one script.
func (f *file) spans(b block) {
	text := f.text[b.from:b.to]
	if !strings.Contains(text, "`") {
		return
	}
	out := []byte(strings.Repeat(" ", len(text)))
	any := false
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			out[i] = '\n'
		}
		if text[i] != '`' {
			i++
			continue
		}
		n := runOf(text[i:])
		end := closeSpan(text, i+n, n)
		if end < 0 {
			i += n
			continue
		}
		copy(out[i+n:end], strings.ReplaceAll(text[i+n:end], "\n", " "))
		out[i], out[end] = '\n', '\n'
		any = true
		i = end + n
	}
	if any {
		f.shell(string(out), b.from, span, b)
	}
}

func runOf(s string) int {
	n := 0
	for n < len(s) && s[n] == '`' {
		n++
	}
	return n
}

// closeSpan returns where the run of n backquotes that closes a span begins.
func closeSpan(s string, i, n int) int {
	for i < len(s) {
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			return -1
		}
		i += j
		k := runOf(s[i:])
		if k == n {
			return i
		}
		i += k
	}
	return -1
}

// proseCommands judges commands that stand in a sentence without marks.
func (f *file) proseCommands(b block) {
	for _, word := range []string{"curl ", "wget ", "rm -rf ", "irm ", "iwr "} {
		for at := b.from; ; {
			i := strings.Index(f.text[at:b.to], word)
			if i < 0 {
				break
			}
			at += i
			line := f.text[at : at+strings.IndexByte(f.text[at:b.to]+"\n", '\n')]
			if !quoted(f.text[b.from:b.to], at-b.from) {
				f.shell(line, at, docs, b)
				(&judge{f: f, b: b, m: docs, base: at}).unparsed(line)
			}
			at += len(word)
		}
	}
}

// inlineCommands judges what runs before a model or a person has read a word.
func (f *file) inlineCommands() {
	at := f.body
	for _, s := range prompt.Parse(f.text[f.body:]) {
		if s.Command {
			from := at + max(0, strings.Index(s.Raw, s.Text))
			f.shell(s.Text, from, runs, block{})
			f.codePatterns(runs, block{from: at, to: at + len(s.Raw)})
		}
		at += len(s.Raw)
	}
}
