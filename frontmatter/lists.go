package frontmatter

import (
	"encoding/json"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// items are the parts of a list-like value in all the shapes that people write
// (spec chapter 1, allowed-tools): a list, a JSON array as text, separated
// text, a list that starts on the key line, a literal block.
type items struct {
	parts []string
	list  bool // a list, whose items are separate; else text still to be split
	// lost: the source looks like a list or map that does not end, or the value
	// is a map.
	lost bool
}

// itemsOf reads e. nested tells what to do with list items that YAML reads as
// maps or lists: take the source of the whole value instead.
func itemsOf(e *entry) items {
	switch e.val.kind {
	case list:
		parts := make([]string, 0, len(e.val.items))
		for i := range e.val.items {
			switch item := &e.val.items[i]; item.kind {
			case scalar:
				parts = append(parts, strings.TrimSpace(item.text))
			case list, mapping:
				return itemsOfSource(e.raw)
			}
		}
		return items{parts: parts, list: true}
	case mapping:
		return items{lost: true}
	case scalar:
		if e.lost {
			return itemsOfSource(e.raw)
		}
		if e.val.style == block || strings.HasPrefix(strings.TrimSpace(e.val.text), "[") {
			return itemsOfSource(e.val.text)
		}
		return items{parts: []string{strings.TrimSpace(e.val.text)}}
	}
	return items{}
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
		if raw[len(raw)-1] != ']' {
			return items{lost: true}
		}
		return items{parts: []string{fold(raw[1 : len(raw)-1])}}
	case raw[0] == '{' && !strings.ContainsAny(raw, "/*,"):
		return items{lost: true}
	case strings.HasPrefix(raw, "- "):
		return items{parts: bullets(raw), list: true}
	}
	return items{parts: strings.FieldsFunc(raw, func(r rune) bool { return r == '\n' || r == '\r' })}
}

// bullets reads lines that start with "- "; other lines continue the last one.
func bullets(raw string) []string {
	var parts []string
	for l := newLines(raw); ; {
		line, _, ok := l.next()
		if !ok {
			return parts
		}
		line = strings.Trim(line, " \t")
		switch {
		case line == "" || line[0] == '#' || line == "-":
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

// rejoin puts items together again that YAML split at a comma inside brackets.
func rejoin(parts []string, open, shut byte) []string {
	var joined []string
	depth := 0
	for _, p := range parts {
		if depth > 0 {
			joined[len(joined)-1] += ", " + p
		} else {
			joined = append(joined, p)
		}
		depth = max(depth+balance(p, open, shut), 0)
	}
	return joined
}

// balance counts opening minus closing brackets; escaped ones do not count.
func balance(s string, open, shut byte) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case open:
			n++
		case shut:
			n--
		}
	}
	return n
}

// splitDepth splits s at the separators outside brackets, and drops empty
// parts. closed is false when a bracket stays open.
func splitDepth(s string, open, shut byte, seps string, parts []string) (all []string, closed bool) {
	depth, from := 0, 0
	flush := func(to int) {
		if part := strings.TrimSpace(s[from:to]); part != "" {
			parts = append(parts, part)
		}
		from = to + 1
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == open:
			depth++
		case c == shut && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(seps, c) >= 0:
			flush(i)
		}
	}
	flush(len(s))
	return parts, depth == 0
}

// rules reads permission rules: allowed-tools and disallowed-tools.
func (f *filler) rules(e *entry) []string {
	got := itemsOf(e)
	if got.lost {
		if e.lost || strings.HasPrefix(strings.ToLower(e.key), "dis") {
			f.lose(e)
		} else {
			f.bad(e, "a list of tools", "no tool is approved")
		}
		return nil
	}
	parts := got.parts
	if got.list {
		parts = rejoin(parts, '(', ')')
	}
	var all []string
	if len(parts) == 1 {
		all = make([]string, 0, 1+strings.Count(parts[0], ","))
	}
	for _, part := range parts {
		var closed bool
		from := len(all)
		if all, closed = splitDepth(part, '(', ')', ", \t\r\n", all); !closed {
			f.report(skill.Warning, "unclosed-rule", e, "a parenthesis in `"+e.key+"` is never closed; the rest is taken as one rule", "close it")
		}
		all = attach(all, from)
	}
	for i, rule := range all {
		if inner, ok := unquoted(rule); ok {
			all[i] = inner
		}
		if neverMatches(all[i]) {
			f.report(skill.Warning, "rule-never-matches", e, "the rule `"+all[i]+"` can match no command: its first word holds a colon",
				"write blanks between the words: "+strings.Replace(all[i], ":", " ", 1))
		}
	}
	return all
}

// attach joins "Bash (git *)" again, from the given index on.
func attach(all []string, from int) []string {
	kept := all[:from]
	for _, s := range all[from:] {
		if n := len(kept); n > from && s[0] == '(' && strings.IndexByte(kept[n-1], '(') < 0 {
			kept[n-1] += s
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// neverMatches finds rules such as Bash(a:b:*): the name of the command would
// hold a colon (spec F-6).
func neverMatches(rule string) bool {
	spec, ok := strings.CutPrefix(rule, "Bash(")
	if !ok || !strings.HasSuffix(spec, ":*)") {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimSuffix(spec, ":*)"), " ")
	i := strings.IndexByte(word, ':')
	return i > 0 && !strings.ContainsAny(word, `$/\*"'=`)
}

func (f *filler) allowedTools(e *entry)    { f.s.Run.AllowedTools = f.rules(e) }
func (f *filler) disallowedTools(e *entry) { f.s.Run.DisallowedTools = f.rules(e) }

// requires reads names of skills, each with an optional range (spec G-1).
func (f *filler) requires(e *entry) {
	f.s.Run.Requires = nil
	got := itemsOf(e)
	if got.lost {
		// Other programs mean a map of programs and variables by it.
		f.bad(e, "a list of skills", "it is kept and ignored")
		f.s.Content.Extra = append(f.s.Content.Extra, e.field(false))
		return
	}
	for _, part := range got.parts {
		seps := ",\r\n"
		if !got.list && !strings.Contains(part, ",") {
			seps = " \t\r\n"
		}
		f.s.Run.Requires, _ = splitDepth(part, '(', ')', seps, f.s.Run.Requires)
	}
}
