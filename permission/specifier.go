package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A specKind says how a Bash specifier is compared.
type specKind int

const (
	exactSpec  specKind = iota // these words and no more
	prefixSpec                 // these words first: "git commit:*", "git commit *"
	globSpec                   // * is any text within the simple command
)

// A bashSpec is a Bash specifier taken apart.
type bashSpec struct {
	kind specKind
	text string // without the ":*" or " *" of a prefix
	home string
}

func readSpec(spec, home string) bashSpec {
	s := bashSpec{text: spec, home: home}
	star := strings.IndexByte(spec, '*')
	switch {
	case star < 0:
	case star == len(spec)-1 && star > 0 && (spec[star-1] == ':' || spec[star-1] == ' '):
		s.kind, s.text = prefixSpec, strings.TrimRight(spec[:star-1], " ")
	default:
		s.kind = globSpec
		if strings.HasSuffix(spec, ":*") {
			// "npm * test:*" is a glob that ends at a word.
			s.text = strings.TrimSuffix(spec, ":*") + " *"
		}
	}
	return s
}

// covers compares the specifier with one form of a command.
func (s bashSpec) covers(form []word, c *command, l list) bool {
	if l == allowList {
		if s.kind != exactSpec && c.unknown {
			return false // a program nobody knows is never allowed by a pattern
		}
		if !c.demand.metBy(s) {
			return false
		}
		for _, action := range c.actions {
			if !strings.Contains(s.text, action) {
				return false
			}
		}
	}
	switch s.kind {
	case globSpec:
		return s.coversText(form, c, l)
	case prefixSpec:
		if s.text == "" {
			return false
		}
	}
	if s.coversWords(form) {
		return true
	}
	// A refusal of rm means /bin/rm as well.
	if l != allowList && form[0].static && strings.Contains(form[0].value, "/") {
		named := append([]word{{text: base(form[0].value), value: base(form[0].value), static: true}}, form[1:]...)
		return s.coversWords(named)
	}
	return false
}

// coversWords compares word by word, each as written and unquoted, so that
// "git commit" in quotes is not git, and git commits is not git commit.
func (s bashSpec) coversWords(form []word) bool {
	if hasQuote(s.text) {
		return s.coversQuoted(form)
	}
	rest := s.text
	for i := 0; ; i++ {
		for rest != "" && isBlank(rest[0]) {
			rest = rest[1:]
		}
		if rest == "" {
			return s.kind == prefixSpec || i == len(form)
		}
		if i == len(form) {
			return false
		}
		end := 0
		for end < len(rest) && !isBlank(rest[end]) {
			end++
		}
		if !sameWord(form[i], rest[:end], s.home) {
			return false
		}
		rest = rest[end:]
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func hasQuote(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '"', '\\', '$', '`':
			return true
		}
	}
	return false
}

func sameWord(w word, want, home string) bool {
	if want[0] == '~' && home != "" {
		return w.static && w.value == expandHome(want, home)
	}
	return w.text == want || w.static && w.value == want
}

// coversQuoted compares a specifier that holds quotes: both sides are read as
// shell words. A specifier whose quotes do not pair is compared as text.
func (s bashSpec) coversQuoted(form []word) bool {
	want, ok := shellWords(s.text, s.home)
	if !ok {
		text := writtenText(form)
		rest, has := strings.CutPrefix(text, s.text)
		return has && (rest == "" || s.kind == prefixSpec && rest[0] == ' ')
	}
	if len(want) > len(form) || s.kind == exactSpec && len(want) != len(form) {
		return false
	}
	for i, w := range want {
		if f := form[i]; f.text != w.text && !(f.static && w.static && f.value == w.value) {
			return false
		}
	}
	return true
}

// shellWords reads text as one simple command without redirections; ok is
// false when it is anything else.
func shellWords(text, home string) (words []word, ok bool) {
	file, err := parse(text)
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background {
		return nil, false
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return nil, false
	}
	for _, a := range call.Assigns {
		t := source(text, a)
		words = append(words, word{text: t, value: t, static: true})
	}
	for _, w := range call.Args {
		words = append(words, readWord(text, home, w))
	}
	return words, true
}

// coversText matches a specifier with * against the text of a command, as
// written and unquoted.
func (s bashSpec) coversText(form []word, c *command, l list) bool {
	pattern := expandHomes(s.text, s.home)
	if l == allowList {
		head, _, _ := strings.Cut(pattern, " ")
		if c.runner != "" && strings.Contains(head, "*") {
			return false // "* --version" must not allow sudo or bash -c
		}
		if !strings.Contains(pattern, "..") && climbs(form) {
			return false // "scripts/*" must not allow scripts/../../other
		}
	}
	matches := func(text string) bool {
		bare, tail := strings.CutSuffix(pattern, " *")
		return glob(pattern, text) || tail && strings.Contains(bare, "*") && glob(bare, text)
	}
	if matches(plainText(form)) || matches(writtenText(form)) {
		return true
	}
	if pattern, ok := withoutQuotes(pattern); ok {
		return glob(pattern, valueText(form))
	}
	return false
}

// A quotedBlank stands for a blank inside a word, which is no end of a word.
const quotedBlank = "\x00"

// withoutQuotes resolves the quotes of a pattern; ok is false if there are none,
// or not only quotes around plain text.
func withoutQuotes(pattern string) (plain string, ok bool) {
	var b strings.Builder
	for pattern != "" {
		i := strings.IndexAny(pattern, "'\"\\$`")
		if i < 0 {
			break
		}
		b.WriteString(pattern[:i])
		text, quote := pattern[i+1:], pattern[i]
		switch end := strings.IndexByte(text, quote); {
		case quote == '\\' && text != "":
			text, pattern = text[:1], text[1:]
		case quote != '\'' && quote != '"' || end < 0:
			return "", false
		default:
			text, pattern = text[:end], text[end+1:]
		}
		if strings.ContainsAny(text, "*\x00") || quote == '"' && strings.ContainsAny(text, "\\$`") {
			return "", false
		}
		b.WriteString(strings.ReplaceAll(text, " ", quotedBlank))
		ok = true
	}
	return b.String() + pattern, ok
}

// valueText joins the words as the program receives them, as far as that is
// known, with the blanks inside of words marked.
func valueText(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		text := w.text
		if w.static && w.value != "" {
			text = w.value
		}
		b.WriteString(strings.ReplaceAll(text, " ", quotedBlank))
	}
	return b.String()
}

// climbs reports whether a word leads upwards through "..".
func climbs(form []word) bool {
	for _, w := range form {
		if strings.Contains(w.value, "../") || strings.HasSuffix(w.value, "/..") || w.value == ".." {
			return true
		}
	}
	return false
}

// expandHome resolves a leading "~" as a shell does: before a slash, whatever
// separates names on this system.
func expandHome(s, home string) string {
	if home != "" && (s == "~" || strings.HasPrefix(s, "~/")) {
		return home + s[1:]
	}
	return s
}

// expandHomes resolves "~" and "$HOME" at the beginning of every word.
func expandHomes(s, home string) string {
	if home == "" || !strings.ContainsAny(s, "~$") {
		return s
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		for _, v := range []string{"$HOME", "${HOME}"} {
			if rest, ok := strings.CutPrefix(w, v); ok && (rest == "" || rest[0] == '/') {
				w = home + rest
			}
		}
		words[i] = expandHome(w, home)
	}
	return strings.Join(words, " ")
}
