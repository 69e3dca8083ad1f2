package frontmatter

import (
	"encoding/json"
	"strings"
)

// items are the parts of a list-like value in all the shapes that people write
// (spec chapter 1, allowed-tools): a list, a JSON array as text, separated
// text, a list that starts on the key line, a literal block.
type items struct {
	text  string   // one text, still to be split
	parts []string // several
	list  bool     // parts are the items of a list; else texts still to be split
	// lost: the source looks like a list or map that does not end, or the value
	// is a map.
	lost bool
}

// all returns the parts; one is room for a single text.
func (it *items) all(one *[1]string) []string {
	if it.text == "" {
		return it.parts
	}
	one[0] = it.text
	return one[:]
}

// itemsOf reads e. What YAML takes for a map, a tag or an anchor is text in
// these fields: then the source of the whole value counts.
func itemsOf(e *entry) items {
	switch {
	case e.val.kind == list:
		parts, ok := scalars(make([]string, 0, len(e.val.items)), e.val.items)
		if !ok {
			return itemsOfSource(e.raw)
		}
		return items{parts: parts, list: true}
	case e.val.kind == mapping:
		return items{lost: true}
	case e.val.kind != scalar:
		return items{}
	case e.lost, e.val.marked && e.raw != "":
		return itemsOfSource(e.raw)
	case e.val.style == block, strings.HasPrefix(strings.TrimSpace(e.val.text), "["):
		return itemsOfSource(e.val.text)
	}
	return items{text: strings.TrimSpace(e.val.text)}
}

// scalars appends the texts of a list, and of lists in it. It reports false
// when the list holds anything else.
func scalars(parts []string, all []value) ([]string, bool) {
	for i := range all {
		ok := true
		switch v := &all[i]; {
		case v.marked || v.kind == mapping:
			return nil, false
		case v.kind == scalar:
			parts = append(parts, strings.TrimSpace(v.text))
		case v.kind == list:
			parts, ok = scalars(parts, v.items)
		}
		if !ok {
			return nil, false
		}
	}
	return parts, true
}

// itemsOfSource reads source text that is not, or not usefully, YAML.
func itemsOfSource(raw string) items {
	raw = strings.TrimSpace(raw)
	if inner, ok := unquoted(raw); ok {
		raw = strings.TrimSpace(inner)
	}
	switch {
	case raw == "":
		return items{}
	case raw[0] == '[':
		var parts []string
		if json.Unmarshal([]byte(raw), &parts) == nil {
			return items{parts: parts, list: true}
		}
		end := closing(raw)
		if end < 0 {
			return items{lost: true}
		}
		if rest := strings.TrimLeft(raw[end+1:], " \t"); rest == "" || rest[0] == '#' {
			return items{text: fold(raw[1:end])}
		}
	case raw[0] == '{' && !strings.ContainsAny(raw, "/*,"):
		return items{lost: true}
	case strings.HasPrefix(raw, "- "):
		return items{parts: bullets(raw), list: true}
	}
	lines := strings.FieldsFunc(raw, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = uncommented(lines[i])
	}
	return items{parts: lines}
}

// closing returns where the bracket that s starts with is closed, or -1.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// uncommented cuts a comment off a line. Within parentheses a # is text.
func uncommented(line string) string {
	depth := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '#' && depth <= 0 && (i == 0 || isBlank(line[i-1])):
			return strings.TrimRight(line[:i], " \t")
		}
	}
	return line
}

// bare is s without the quotes around it, or the one that is left of them.
func bare(s string) string {
	if inner, ok := unquoted(s); ok {
		return inner
	}
	for _, q := range []string{`"`, "'"} {
		if strings.Count(s, q) == 1 {
			s = strings.TrimSuffix(strings.TrimPrefix(s, q), q)
		}
	}
	return s
}

// bullets reads lines that start with "- "; other lines continue the last one.
func bullets(raw string) []string {
	var parts []string
	for l := newLines(raw); ; {
		line, _, ok := l.next()
		if !ok {
			return parts
		}
		line = uncommented(strings.Trim(line, " \t"))
		switch {
		case line == "" || line == "-":
		case strings.HasPrefix(line, "- "):
			item := strings.TrimSpace(line[2:])
			if inner, ok := unquoted(item); ok {
				item = inner
			}
			parts = append(parts, item)
		case len(parts) > 0:
			parts[len(parts)-1] += " " + line
		}
	}
}
