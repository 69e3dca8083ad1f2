package memory

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Reference is one @path in a text.
type Reference struct {
	Path     string // as written, without quotes and escapes
	From, To int    // lines that were asked for, from 1; both zero for all
	Start    int    // offset of the @ in the text, in bytes
	End      int    // offset behind the reference
	Quoted   bool   // written as @"…", so certainly a path
}

// References finds the @path references of a text, in order. An @ counts at the
// start of a word only, and outside code spans, fenced code and HTML comments:
// mail addresses and packages in code are not meant. Whether a reference names
// a file is for the caller to find out; "@somebody" is one too.
//
// A path with blanks is written as @"my file.md" or @my\ file.md. Punctuation
// at the end belongs to the sentence. "#L3-9" and "#L3" select lines.
func References(text string) []Reference {
	var out []Reference
	code := codeIn(text)
	for i := 0; i < len(text); {
		at := strings.IndexByte(text[i:], '@')
		if at < 0 {
			break
		}
		at += i
		for len(code) > 0 && code[0].end <= at {
			code = code[1:]
		}
		if len(code) > 0 && code[0].start <= at {
			i = code[0].end
			continue
		}
		i = at + 1
		if !startsWord(text[:at]) {
			continue
		}
		if r, ok := reference(text, at); ok {
			out = append(out, r)
			i = r.End
		}
	}
	return out
}

// startsWord reports whether what follows before begins a word.
func startsWord(before string) bool {
	r, n := utf8.DecodeLastRuneInString(before)
	return n == 0 || unicode.IsSpace(r) || strings.ContainsRune("([{<\"'‘“«,;*", r)
}

// reference reads what follows the @ at offset at.
func reference(text string, at int) (Reference, bool) {
	r := Reference{Start: at}
	rest := text[at+1:]
	if strings.HasPrefix(rest, `"`) {
		end := strings.IndexAny(rest[1:], "\"\n")
		if end <= 0 || rest[1+end] != '"' {
			return r, false
		}
		r.Path, r.End, r.Quoted = rest[1:1+end], at+1+end+2, true
		selection := rest[end+2:]
		if from, to, n := lineRange(selection); n > 0 {
			r.From, r.To, r.End = from, to, r.End+n
		} else {
			r.Path, r.From, r.To = selected(r.Path)
		}
		return r, r.Path != ""
	}
	word := rest[:wordEnd(rest)]
	if len(word) > maxPath {
		return r, false
	}
	word = word[:trimmed(word)]
	r.End = at + 1 + len(word)
	r.Path, r.From, r.To = selected(strings.ReplaceAll(word, `\ `, " "))
	return r, r.Path != ""
}

// maxPath is longer than what systems take for a path.
const maxPath = 4096

// wordEnd is where the word that s begins with ends; an escaped blank is part
// of it.
func wordEnd(s string) int {
	for i, r := range s {
		switch {
		case r == ' ' && i > 0 && s[i-1] == '\\':
		case unicode.IsSpace(r), unicode.IsControl(r), strings.ContainsRune("\"'`<>|“”‘’«»", r), r == '@', r == utf8.RuneError:
			return i
		}
	}
	return len(s)
}

// trimmed is the length of word without the punctuation at its end. The dots of
// "." and ".." as last part of a path are no punctuation, and neither is a
// bracket that the word opens itself.
func trimmed(word string) int {
	for word != "" {
		r, n := utf8.DecodeLastRuneInString(word)
		if !strings.ContainsRune(`.,;:!?)]}*\…。、，`, r) {
			break
		}
		if last := word[strings.LastIndexByte(word, '/')+1:]; last == "." || last == ".." {
			break
		}
		if i := strings.IndexRune(")]}", r); i >= 0 {
			opening := "([{"[i : i+1]
			if strings.Count(word, opening) >= strings.Count(word, string(r)) {
				break
			}
		}
		word = word[:len(word)-n]
	}
	return len(word)
}

// selected takes a selection of lines off a path.
func selected(path string) (rest string, from, to int) {
	i := strings.LastIndexByte(path, '#')
	if i <= 0 {
		return path, 0, 0
	}
	if from, to, n := lineRange(path[i:]); n == len(path)-i {
		return path[:i], from, to
	}
	return path, 0, 0
}

// lineRange reads "#L3", "#L3-9" or "#L3-L9" at the start of s; n is its length,
// zero if there is none.
func lineRange(s string) (from, to, n int) {
	rest, ok := strings.CutPrefix(s, "#L")
	if !ok {
		return 0, 0, 0
	}
	from, rest, ok = number(rest)
	if !ok {
		return 0, 0, 0
	}
	to = from
	if more, dash := strings.CutPrefix(rest, "-"); dash {
		if end, after, ok := number(strings.TrimPrefix(more, "L")); ok {
			to, rest = end, after
		}
	}
	if to < from {
		from, to = to, from
	}
	return from, to, len(s) - len(rest)
}

// number reads a line number above 0.
func number(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	return n, s[i:], err == nil && n > 0
}

// looksLikePath reports whether a reference is certainly meant as a file, so
// that it is worth a notice when there is none: "@./x" and "@notes.md" are,
// "@somebody" and "@scope/package" are not.
func (r Reference) looksLikePath() bool {
	p := filepath.ToSlash(r.Path)
	for _, prefix := range []string{"./", "../", "/", "~/"} {
		if strings.HasPrefix(p, prefix) {
			return true
		}
	}
	return r.Quoted || r.From > 0 || strings.HasSuffix(p, "/") || len(filepath.Ext(p)) > 1 && !strings.HasPrefix(p, ".")
}

// A stretch is a part of a text, in bytes.
type stretch struct{ start, end int }

// A markdown is a text in which code is looked for.
type markdown struct {
	text  string
	found []stretch
	open  bool // a comment is never closed, so all that follows is one
}

// codeIn returns the parts of a Markdown text that are code or comments. They
// are ordered by where they start, and may lie in one another.
func codeIn(text string) []stretch {
	m := markdown{text: text}
	paragraph := 0 // where the current one starts
	for pos := 0; pos < len(text) && !m.open; {
		end := lineEnd(text, pos)
		line := strings.TrimSpace(text[pos:end])
		if fence := fenceOf(inItem(line)); fence != "" {
			m.spans(paragraph, pos)
			end = closing(text, end, fence)
			m.found = append(m.found, stretch{pos, end})
			paragraph = end
		} else if line == "" {
			m.spans(paragraph, pos)
			paragraph = end
		}
		pos = end
	}
	if !m.open {
		m.spans(paragraph, len(text))
	}
	return m.found
}

// lineEnd is where the line after the one at pos starts.
func lineEnd(text string, pos int) int {
	if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(text)
}

// inItem is a line without the marks of the lists and quotes that it stands in.
func inItem(line string) string {
	for {
		rest := strings.TrimLeft(line, "0123456789")
		rest, digits := strings.TrimLeft(rest, ".)"), len(rest) < len(line)
		if !digits {
			rest = strings.TrimLeft(line, "-*+>")
			if len(line)-len(rest) > 1 && line[0] != '>' { // a rule, not a list
				return line
			}
		}
		inner := strings.TrimLeft(rest, " \t")
		if inner == line || inner == "" || len(inner) == len(rest) && line[0] != '>' {
			return line
		}
		line = inner
	}
}

// fenceOf returns the marks of a line that opens fenced code.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return line[:n]
		}
	}
	return ""
}

// closing is where the code that fence opens ends: behind its closing line, or
// at the end of the text.
func closing(text string, pos int, fence string) int {
	for pos < len(text) {
		end := lineEnd(text, pos)
		line := strings.TrimSpace(strings.TrimLeft(text[pos:end], "> \t"))
		if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
			return end
		}
		pos = end
	}
	return pos
}

// spans finds the code spans and comments of one paragraph. A run of backticks
// that is never closed is text.
func (m *markdown) spans(from, to int) {
	text := m.text[:to]
	if strings.IndexByte(text[from:], '`') < 0 && !strings.Contains(text[from:], "<!--") {
		return
	}
	runs := map[int][]int{} // by length: where they start
	for i := from; i < to; {
		n := run(text, i)
		if n > 0 {
			runs[n] = append(runs[n], i)
		}
		i += max(n, 1)
	}
	for i := from; i < to; {
		if strings.HasPrefix(text[i:], "<!--") {
			i = m.comment(i)
			continue
		}
		n := run(text, i)
		if n == 0 {
			i++
			continue
		}
		same := runs[n]
		for len(same) > 0 && same[0] <= i {
			same = same[1:]
		}
		if runs[n] = same; len(same) == 0 {
			i += n
			continue
		}
		m.found = append(m.found, stretch{i, same[0] + n})
		i = same[0] + n
	}
}

// comment notes the comment at i, which may end in a later paragraph, and
// returns where it ends.
func (m *markdown) comment(i int) int {
	end := len(m.text)
	if j := strings.Index(m.text[i:], "-->"); j >= 0 {
		end = i + j + len("-->")
	} else {
		m.open = true
	}
	m.found = append(m.found, stretch{i, end})
	return end
}

// run is the number of backticks at i.
func run(text string, i int) int {
	n := 0
	for i+n < len(text) && text[i+n] == '`' {
		n++
	}
	return n
}
