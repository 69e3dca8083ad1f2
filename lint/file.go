package lint

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
)

// A file is one skill file with what the checks need to point into it.
type file struct {
	*skill.Skill
	doc      *frontmatter.Document
	loaded   []skill.Problem // of reading the fields; not repeated
	lines    []string        // of the whole file, without line ends
	body     string
	bodyLine int                  // line of the file on which body starts, from 1
	bodySkip int                  // characters before body on that line
	refs     []prompt.Placeholder // what the body refers to
	keys     map[string]span      // by canonical key; the last of equal keys, as in loading (spec F-4)
}

// A span is the place of one frontmatter entry.
type span struct {
	line   int // of the key
	column int // of the value, or of the key when the value is on later lines
	end    int // first line after the entry
}

// read prepares data. The problems are those of the whole file, of which
// loading saw the head only (spec F-7, F-9); with a nil file they refuse it.
func read(s *skill.Skill, data []byte) (*file, []skill.Problem) {
	doc, problems := frontmatter.Parse(s.Origin.Path, data)
	body, line, err := frontmatter.SplitBody(data)
	if doc.Refused != "" || err != nil {
		return nil, problems
	}
	problems = slices.DeleteFunc(problems, func(p skill.Problem) bool { return p.Code != "invalid-utf8" })
	f := &file{Skill: s, doc: doc, body: body, bodyLine: line, refs: prompt.Placeholders(s, body)}
	f.loaded = doc.Fill(new(skill.Skill), s.Origin.Source == skill.Legacy)
	f.lines = splitLines(string(bytes.TrimPrefix(data, []byte("\uFEFF"))))
	if first := splitLines(body)[0]; first != "" && line <= len(f.lines) {
		f.bodySkip = max(0, utf8.RuneCountInString(f.lines[line-1])-utf8.RuneCountInString(first))
	}
	f.findKeys()
	return f, problems
}

// findKeys records where each key of the frontmatter stands. It reads no
// values: those come from loading.
func (f *file) findKeys() {
	f.keys = map[string]span{}
	open := ""
	for i := 1; i < f.bodyLine && i < len(f.lines); i++ {
		line := f.lines[i]
		if strings.HasPrefix(line, "---") {
			break
		}
		key, column, ok := cutKey(line)
		if !ok {
			if open != "" && strings.TrimSpace(line) != "" {
				s := f.keys[open]
				s.end = i + 2
				f.keys[open] = s
			}
			continue
		}
		open = canonical(key)
		f.keys[open] = span{line: i + 1, column: column, end: i + 2}
	}
}

// cutKey reads "key: value" at column 0. column is that of the value.
func cutKey(line string) (key string, column int, ok bool) {
	key, rest, ok := strings.Cut(line, ":")
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", 0, false
	}
	name := strings.Trim(strings.TrimRight(key, " \t"), `"'`)
	if name == "" || strings.TrimLeft(key, " \t#-") != key || strings.ContainsAny(name, " \t") {
		return "", 0, false
	}
	value := strings.TrimLeft(rest, " \t")
	if value == "" {
		return name, 1, true
	}
	return name, 1 + utf8.RuneCountInString(line[:len(line)-len(value)]), true
}

// canonical writes a key in kebab case, so that the spellings of one field
// (when_to_use, when-to-use, whenToUse) are one key.
func canonical(key string) string {
	var b strings.Builder
	for i, r := range key {
		switch {
		case r == '_':
			b.WriteByte('-')
		case unicode.IsUpper(r):
			if i > 0 && key[i-1] != '-' && key[i-1] != '_' {
				b.WriteByte('-')
			}
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// field returns the place of a frontmatter field, or zeros.
func (f *file) field(key string) (line, column int) {
	s := f.keys[key]
	return s.line, s.column
}

// item returns the place of text within the value of key: that of its first
// occurrence, else that of the field.
func (f *file) item(key, text string) (line, column int) {
	s, ok := f.keys[key]
	if !ok {
		return 0, 0
	}
	for n := s.line; n < s.end && text != ""; n++ {
		line, from := f.lines[n-1], 0
		if n == s.line {
			from = strings.IndexByte(line, ':') + 1
		}
		if i := strings.Index(line[from:], text); i >= 0 {
			return n, 1 + utf8.RuneCountInString(line[:from+i])
		}
	}
	return s.line, s.column
}

// told reports whether loading has a problem of this code that speaks of text.
func (f *file) told(code, text string) bool {
	return slices.ContainsFunc(f.loaded, func(p skill.Problem) bool {
		return p.Code == code && strings.Contains(p.Message, text)
	})
}

// inBody turns a position in the body, both from 1, into one in the file.
func (f *file) inBody(line, column int) (int, int) {
	if line == 1 && column > 0 {
		column += f.bodySkip
	}
	return f.bodyLine + line - 1, column
}

// splitLines splits at LF, CRLF and lone CR (spec F-2). It returns at least
// one line.
func splitLines(s string) []string {
	if strings.ContainsRune(s, '\r') {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	}
	return strings.Split(s, "\n")
}
