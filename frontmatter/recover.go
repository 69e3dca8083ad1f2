package frontmatter

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
)

// maxStrict bounds how many texts of one file are given to the YAML library;
// more of them are taken as written.
const maxStrict = 200

// reader reads one header.
type reader struct {
	path     string
	conflict bool // lines of a merge conflict were dropped
	texts    int  // given to the YAML library so far
	nodes    int  // at most as many were in them
	keyed    keyed
	anchors  map[string]bool // of the whole header, once somebody asks
	problems []skill.Problem
}

func (r *reader) report(sev skill.Severity, code string, line, col int, message, fix string) {
	r.problems = append(r.problems, finding(r.path, sev, code, line, col, message, fix))
}

// read reads the text between the fences, which starts on line 2 of the file.
func (d *Document) read(src string, problems []skill.Problem) []skill.Problem {
	if src == "" {
		return problems
	}
	if entries, ok := fast(src, make([]entry, 0, min(1+strings.Count(src, "\n"), 16))); ok {
		d.entries, d.ascii = entries, isASCII(src)
		return problems
	}
	r := reader{path: d.Path, problems: problems}
	if strings.Contains(src, "<<<<<<<") {
		src = r.withoutConflict(src)
	}
	if empty(src) {
		return r.problems
	}
	entries, fault := r.strict(src, 2)
	if d.entries = entries; fault != nil {
		d.recovered = true
		d.recover(&r, src, fault)
	}
	return folded(r.problems)
}

// afford reports whether the YAML library may have src: its time grows with
// the nodes, so they are counted before, roughly, and never too few.
func (r *reader) afford(src string) bool {
	r.texts++
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\n', '\r', ',', ':', '[', '{':
			r.nodes++
		case '-', '?':
			if i+1 < len(src) && isBlank(src[i+1]) {
				r.nodes++
			}
		}
	}
	return r.nodes <= maxNodes && r.texts <= maxStrict
}

// unreadSecurity lists the security fields of a header that is too large to
// read. What they say is lost (spec F-3, third step).
func unreadSecurity(src string) []entry {
	var k keyed
	for l := newLines(src); ; {
		line, _, ok := l.next()
		if !ok {
			return k.all()
		}
		key, ok := pieceKey(line)
		if known := lookup(key); ok && known != nil && known.security && k.find(key) < 0 {
			k.add(entry{key: key, line: l.n + 1, lost: true, unread: true})
		}
	}
}

// empty reports whether there is nothing but blank lines and comments.
func empty(src string) bool {
	for l := newLines(src); ; {
		line, _, ok := l.next()
		if !ok {
			return true
		}
		if line = strings.TrimLeft(line, " \t"); line != "" && line[0] != '#' {
			return false
		}
	}
}

// withoutConflict blanks the marker lines of a merge conflict (spec F-4).
func (r *reader) withoutConflict(src string) string {
	var b strings.Builder
	for l := newLines(src); ; {
		line, at, ok := l.next()
		if !ok {
			return b.String()
		}
		if !isMarker(line) || line[0] != '<' && !r.conflict {
			b.WriteString(src[at:l.pos])
			continue
		}
		b.WriteString(src[at+len(line) : l.pos])
		if !r.conflict {
			r.conflict = true
			r.report(skill.Error, "merge-conflict", l.n+1, 1,
				"the frontmatter holds an unresolved merge conflict; its marker lines are ignored and the last value of a key wins",
				"resolve the conflict")
		}
	}
}

func isMarker(line string) bool {
	if len(line) < 7 || strings.IndexByte("<=>|", line[0]) < 0 {
		return false
	}
	return line[:7] == strings.Repeat(line[:1], 7) && (len(line) == 7 || line[7] == ' ')
}

// A piece is the source of one key.
type piece struct {
	key  string
	line int // in the file
	text string
}

// recover is the second step of spec F-3: the text is cut at its keys and each
// piece is read alone, so that one bad key never costs another.
func (d *Document) recover(r *reader, src string, f *fault) {
	pieces := cutPieces(src)
	before := src
	if len(pieces) > 0 {
		before = src[:strings.Index(src, pieces[0].text)]
	}
	stray := !empty(before) && !r.readBefore(before)
	var bad *piece
	lost := 0
	for i := range pieces {
		p := &pieces[i]
		for _, e := range r.readPiece(p, src) {
			if e.lost {
				lost++
			}
			if bad == nil && e.lost || e.lost && p.line <= f.line {
				bad = p
			}
			r.put(e)
		}
	}
	d.entries = r.keyed.all()
	if lost == 1 && d.unusable(bad) {
		d.fault = f.reason
		return
	}
	r.reportRecovered(f, bad, len(d.entries), stray)
}

// unusable reports whether Fill will say that the entry of p cannot be used.
func (d *Document) unusable(p *piece) bool {
	run := filler{d: d, s: new(skill.Skill)}
	for i := range d.entries {
		if e := &d.entries[i]; e.lost && e.line == p.line && lookup(e.key) != nil {
			run.entry(e, nil)
		}
	}
	return hasCode(run.problems, "bad-value") || hasCode(run.problems, "security-field-lost")
}

// put adds e; the last of several entries with one key wins (spec F-4).
func (r *reader) put(e entry) {
	// Unknown keys that repeat in a broken header are mostly prose
	// (`user: ...`), and one file has one diagnostic.
	if earlier := r.keyed.add(e); earlier > 0 && !r.conflict && lookup(e.key) != nil {
		r.problems = append(r.problems, duplicateKey(r.path, e.key, e.line, 1, earlier))
	}
}

// readBefore reads what stands before the first key that is one word: keys of
// several words, if it is anything.
func (r *reader) readBefore(src string) bool {
	entries, f := r.strict(src, 2)
	for _, e := range entries {
		r.put(e)
	}
	return f == nil
}

func duplicateKey(path, key string, line, col, earlier int) skill.Problem {
	return skill.Problem{Code: "duplicate-key", Severity: skill.Warning, Path: path, Line: line, Column: col,
		Message: fmt.Sprintf("`%s` is given again; this value replaces the one on line %d", key, earlier),
		Fix:     "remove one of them"}
}

// reportRecovered says once per file what was wrong with the YAML and where.
func (r *reader) reportRecovered(f *fault, bad *piece, keys int, stray bool) {
	line, col := f.line, f.col
	fix := "make every line `key: value`; indent the lines that continue a value"
	message := "YAML cannot read the frontmatter (" + f.reason + "); its keys were read one by one"
	if bad != nil {
		end := bad.line + len(lineStarts(bad.text)) - 1
		switch {
		case line >= bad.line && line < end:
		case f.startLine >= bad.line && f.startLine < end:
			line, col = f.startLine, f.startCol
		default:
			line, col = bad.line, 1
		}
		message = "YAML cannot read `" + bad.key + "` (" + f.reason + "); its text was taken as written"
		fix = "put the value of `" + bad.key + "` in double quotes, or run knack check --fix"
	} else if keys == 0 {
		message = "YAML cannot read the frontmatter (" + f.reason + "), and it has no keys"
	}
	if stray && keys > 0 {
		message += "; the text before the first key is ignored"
	}
	r.report(skill.Warning, "yaml-recovered", line, col, message, fix)
}

// cutPieces cuts src at its column-0 key lines. What stands before the first
// belongs to no key.
func cutPieces(src string) []piece {
	var pieces []piece
	var starts []int
	for l := newLines(src); ; {
		line, at, ok := l.next()
		if !ok {
			break
		}
		if key, ok := pieceKey(line); ok {
			pieces = append(pieces, piece{key: key, line: l.n + 1})
			starts = append(starts, at)
		}
	}
	for i := range pieces {
		end := len(src)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		pieces[i].text = src[starts[i]:end]
	}
	return pieces
}

// pieceKey returns the key of a line that starts a piece: one word, or a text
// in quotes, and a colon. A known key counts even without a blank behind the
// colon, and with blanks before it.
func pieceKey(line string) (string, bool) {
	if key, rest, ok := keyLine(line); ok {
		if line[0] == '"' || line[0] == '\'' {
			written := strings.TrimRight(line[:len(line)-len(rest)-1], " \t")
			return key, len(written) == len(key)+2 && strings.IndexByte(key, line[0]) < 0
		}
		n := keyLen(key)
		for n > 0 && n < len(key) && (key[n] == '.' || key[n] == '-' || isWord(key[n])) {
			n++
		}
		if n > 0 && n == len(key) {
			return key, true
		}
	}
	n := keyLen(line)
	rest := strings.TrimLeft(line[n:], " \t")
	if n > 0 && len(rest) > 1 && rest[0] == ':' && rest[1] != '/' && rest[1] != ':' && lookup(line[:n]) != nil {
		return line[:n], true
	}
	return "", false
}

// readPiece reads one piece: as YAML, as YAML with its tabs made blanks, and
// last as text. YAML may find more keys in it, which are no single words.
func (r *reader) readPiece(p *piece, src string) []entry {
	if entries, ok := fast(p.text, make([]entry, 0, 1)); ok && len(entries) == 1 {
		entries[0].move(p.line - 2)
		return entries
	}
	e := entry{key: p.key, line: p.line, raw: pieceValue(p)}
	var f *fault
	for _, text := range []string{p.text, untab(p.text)} {
		var entries []entry
		if entries, f = r.strict(text, p.line); f == nil && len(entries) > 0 && entries[0].key == p.key {
			return entries
		}
		if text == untab(text) {
			break
		}
	}
	if r.refusesAlias(f, p.text, src) {
		e.refused = true
		r.problems = refusedAlias(r.problems, r.path, p.key, p.line, 1)
		return []entry{e}
	}
	e.lost = true
	e.val = value{kind: scalar, line: int32(p.line), col: p.col(), text: e.raw}
	return []entry{e}
}

// col is the column of the value on the key line, or of the key.
func (p *piece) col() int32 {
	line := firstLine(p.text)
	rest := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(line[len(p.key):], " \t\"'"), ":"), " \t")
	if rest == "" || len(rest) == len(line) {
		return 1
	}
	return int32(utf8.RuneCountInString(line[:len(line)-len(rest)]) + 1)
}

// pieceValue is rawValue for pieces, whose colon may be glued to the value.
func pieceValue(p *piece) string {
	if raw := rawValue(p.text); raw != "" {
		return raw
	}
	if _, _, ok := keyLine(firstLine(p.text)); ok {
		return ""
	}
	_, value, _ := strings.Cut(p.text, ":")
	return rawValue(p.key + ": " + value)
}

func firstLine(s string) string {
	l := newLines(s)
	line, _, _ := l.next()
	return line
}

// move shifts the lines of an entry.
func (e *entry) move(by int) {
	e.line += by
	e.val.line += int32(by)
	for i := range e.val.items {
		e.val.items[i].line += int32(by)
	}
}

// untab replaces tabs in indentation by two blanks (spec F-4).
func untab(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	for l := newLines(s); ; {
		line, at, ok := l.next()
		if !ok {
			return b.String()
		}
		rest := strings.TrimLeft(line, " \t")
		b.WriteString(strings.ReplaceAll(line[:len(line)-len(rest)], "\t", "  "))
		b.WriteString(rest)
		b.WriteString(s[at+len(line) : l.pos])
	}
}
