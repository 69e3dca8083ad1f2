package frontmatter

import (
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// rejoin puts items together again that YAML split at a comma inside brackets.
func rejoin(parts []string, open, shut byte) []string {
	var joined []string
	depth, from := 0, 0
	for i, p := range parts {
		if depth = max(depth+balance(p, open, shut), 0); depth > 0 && i+1 < len(parts) {
			continue
		}
		joined = append(joined, strings.Join(parts[from:i+1], ", "))
		from = i + 1
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
		if e.lost || f.restricts || strings.HasPrefix(strings.ToLower(e.key), "dis") {
			f.lose(e)
		} else {
			f.bad(e, "a list of tools", "no tool is approved")
		}
		return nil
	}
	all, closed := splitRules(&got)
	if !closed && !e.lost && e.val.style == plain {
		// YAML may have cut the rule at a #, and all that follows.
		source := itemsOfSource(e.raw)
		if more, whole := splitRules(&source); whole && !source.lost {
			f.report(skill.Warning, "text-shortened", e, "YAML would cut a rule of `"+e.key+"` at its `#`; the whole line was taken", "put the rule in double quotes")
			all, closed = more, true
		}
	}
	for i, rule := range all {
		all[i] = bare(rule)
		if neverMatches(all[i]) {
			f.report(skill.Warning, "rule-never-matches", e, "the rule `"+all[i]+"` can match no command: its first word holds a colon",
				"write blanks between the words: "+strings.Replace(all[i], ":", " ", 1))
		}
	}
	switch {
	case e.lost && slices.ContainsFunc(all, func(rule string) bool { return rule == "" || rule[0] == '[' }):
		f.lose(e) // [a] [b]
		return nil
	case !closed:
		open := slices.IndexFunc(all, func(rule string) bool { return balance(rule, '(', ')') > 0 })
		f.report(skill.Warning, "unclosed-rule", e,
			"a parenthesis in `"+e.key+"` is never closed; the rest is taken as one rule: `"+all[max(open, 0)]+"`", "close it")
	}
	return all
}

// splitRules cuts text at commas and blanks outside parentheses. closed is
// false when a parenthesis stays open.
func splitRules(got *items) (all []string, closed bool) {
	var one [1]string
	parts := got.all(&one)
	if got.list {
		parts = rejoin(parts, '(', ')')
	}
	if len(parts) == 1 {
		all = make([]string, 0, 1+strings.Count(parts[0], ","))
	}
	closed = true
	for _, part := range parts {
		from, ok := len(all), false
		all, ok = splitDepth(part, '(', ')', ", \t\r\n", all)
		all, closed = attach(all, from), closed && ok
	}
	return all, closed
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

// allowedTools keeps an empty list apart from none: it limits a fork to tools
// that change nothing (spec I-9).
func (f *filler) allowedTools(e *entry) {
	f.s.Run.AllowedTools = f.rules(e)
	if f.s.Run.AllowedTools == nil && e.val.kind == list && !e.lost {
		f.s.Run.AllowedTools = []string{}
	}
}

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
	f.s.Run.Requires = names(&got)
}

// names splits what itemsOf has read into names: at commas or, in a text
// without any, at blanks.
func names(got *items) (all []string) {
	var one [1]string
	for _, part := range got.all(&one) {
		seps := ",\r\n"
		if !got.list && !strings.Contains(part, ",") {
			seps = " \t\r\n"
		}
		all, _ = splitDepth(part, '(', ')', seps, all)
	}
	return all
}
