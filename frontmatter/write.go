package frontmatter

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// Quote returns s as a YAML value that every reader gives back as s (spec
// F-10): in double quotes, with the escapes that JSON has. Invalid UTF-8
// becomes U+FFFD.
func Quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// A Change is one repair that [Fix] made.
type Change struct {
	Line   int
	Reason string
	Old    string // the lines as they were, without the last line end
	New    string
}

// Fix rewrites only the faulty lines of the frontmatter (spec F-10), keeping
// comments, order, line ends, byte order mark and body bytes. It is idempotent,
// and the result reads to the same values without recovery.
//
// Left alone is what only the author can decide: merge conflicts, duplicate
// keys, aliases, missing fences, and the security fields whose value cannot be
// read (quoting them would turn a refusal into a value). Files that are not
// UTF-8 or whose fix would change a value are returned as they are.
func Fix(data []byte) ([]byte, []Change) {
	if !utf8.Valid(data) {
		return data, nil
	}
	doc, problems := Parse("", data)
	if doc.Refused != "" || hasCode(problems, "merge-conflict") {
		return data, nil
	}
	src := string(data)
	c := cut(src)
	if !c.closed || c.headEnd-c.head > MaxFrontmatter {
		return data, nil
	}
	f := fixer{src: src[c.head:c.headEnd], doc: doc, recovered: doc.recovered}
	fixed := f.run()
	if len(f.changes) == 0 {
		return data, nil
	}
	result := []byte(src[:c.head] + fixed + src[c.headEnd:])
	if !sameValues(data, result) {
		return data, nil
	}
	return result, f.changes
}

func hasCode(problems []skill.Problem, code string) bool {
	return slices.ContainsFunc(problems, func(p skill.Problem) bool { return p.Code == code })
}

// fixer is one run of [Fix].
type fixer struct {
	src       string
	doc       *Document
	byLine    map[int]*entry
	recovered bool
	changes   []Change
}

// run returns the frontmatter with its faulty pieces replaced.
func (f *fixer) run() string {
	var b strings.Builder
	pieces := cutPieces(f.src)
	if len(pieces) == 0 {
		return f.src
	}
	f.byLine = make(map[int]*entry, len(f.doc.entries))
	for i := range f.doc.entries {
		f.byLine[f.doc.entries[i].line] = &f.doc.entries[i]
	}
	rest := f.src
	first := pieces[0].text
	at := strings.Index(rest, first)
	f.stray(&b, rest[:at])
	for i := range pieces {
		p := &pieces[i]
		value, ending := trimPiece(p.text)
		fixed, reason := f.piece(p, value)
		if reason != "" && fixed != value {
			f.changes = append(f.changes, Change{Line: p.line, Reason: reason, Old: value, New: fixed})
		} else {
			fixed = value
		}
		b.WriteString(fixed)
		b.WriteString(ending)
	}
	return b.String()
}

// stray copies the lines before the first key. What is no comment there
// belongs to nothing, and keeps YAML from reading the rest.
func (f *fixer) stray(b *strings.Builder, s string) {
	for l := newLines(s); ; {
		line, at, ok := l.next()
		if !ok {
			return
		}
		if text := strings.TrimSpace(line); f.recovered && text != "" && text[0] != '#' {
			fixed := "# " + text
			f.changes = append(f.changes, Change{Line: l.n + 1, Reason: "this line belongs to no key", Old: line, New: fixed})
			b.WriteString(fixed + s[at+len(line):l.pos])
			continue
		}
		b.WriteString(s[at:l.pos])
	}
}

// trimPiece cuts a piece behind its value: blank lines and full-line comments
// below it stay as they are.
func trimPiece(text string) (value, ending string) {
	end := 0
	for l := newLines(text); ; {
		line, at, ok := l.next()
		if !ok {
			return text[:end], text[end:]
		}
		if trimmed := strings.Trim(line, " \t"); at == 0 || trimmed != "" && trimmed[0] != '#' {
			end = at + len(line)
		}
	}
}

// piece returns what to write instead of the value of p, and why.
func (f *fixer) piece(p *piece, old string) (fixed, reason string) {
	e := f.byLine[p.line]
	if e == nil || e.key != p.key {
		return "", ""
	}
	known := lookup(e.key)
	isText := known != nil && known.kind == textKind
	switch {
	case e.refused:
		return "", ""
	case e.lost && known != nil && known.kind == rulesKind, e.lost && known != nil && known.kind == patternsKind:
		return f.listOf(e, known, old)
	case e.lost && known != nil && known.security:
		return "", ""
	case e.lost:
		return prefix(old, e.key) + Quote(lostText(e.raw)), "YAML cannot read this value"
	case isText:
		text, changed := e.plainText()
		if changed && (e.val.kind == null || e.val.kind == scalar || bracketsAreOdd(e.key)) {
			return prefix(old, e.key) + Quote(text), "YAML would read something else than this text"
		}
	}
	if f.recovered && untab(old) != old {
		return untab(old), "YAML allows no tabs in indentation"
	}
	return "", ""
}

// listOf writes rules and patterns as one quoted text, which reads to the same
// list.
func (f *fixer) listOf(e *entry, known *field, old string) (fixed, reason string) {
	var s skill.Skill
	run := filler{d: f.doc, s: &s}
	known.set(&run, e)
	if s.Trigger.HiddenFromModel { // it cannot be read
		return "", ""
	}
	got := itemsOf(e)
	return prefix(old, e.key) + Quote(strings.Join(got.all(new([1]string)), ", ")), "YAML cannot read this value"
}

// prefix is the key as it is written, with its colon and one blank.
func prefix(old, key string) string {
	line := firstLine(old)
	if _, rest, ok := keyLine(line); ok {
		return line[:len(line)-len(rest)] + " "
	}
	return key + ": "
}

// sameValues reports whether both files load to the same skill.
func sameValues(before, after []byte) bool {
	a, _ := Parse("", before)
	b, _ := Parse("", after)
	if a.Body != b.Body || b.recovered && !b.keepsLost() {
		return false
	}
	x, y := loaded(a), loaded(b)
	return slices.Equal(x, y)
}

// keepsLost reports whether d holds a value that Fix does not touch.
func (d *Document) keepsLost() bool {
	return slices.ContainsFunc(d.entries, func(e entry) bool {
		known := lookup(e.key)
		return e.refused || e.lost && known != nil && known.security
	})
}

// loaded lists what a document loads to, as texts.
func loaded(d *Document) []string {
	var s skill.Skill
	d.Fill(&s, false)
	all := []string{fmt.Sprintf("%+v %+v %+v %+v", s.Summary, s.Trigger, s.Run, s.Content.Arguments)}
	for _, f := range d.Fields() {
		all = append(all, f.Key)
		if known := lookup(f.Key); known == nil || known.kind == textKind || known.kind == wordKind {
			all = append(all, f.Value)
		}
	}
	return all
}
