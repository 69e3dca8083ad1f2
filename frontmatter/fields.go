package frontmatter

import (
	"strings"
	"unicode"

	"github.com/knack-skills/knack/text"
)

// A field is one line of the table of spec chapter 1.
type field struct {
	name string // canonical spelling
	kind fieldKind
	// security marks the fields that restrict or grant. One that cannot be read
	// hides the skill from the model (spec F-3).
	security bool
	set      setter // nil: kept in Content.Extra
}

type setter = func(*filler, *entry)

type fieldKind uint8

const (
	textKind fieldKind = iota + 1
	wordKind           // one scalar
	boolKind
	textsKind    // a list of words
	rulesKind    // permission rules
	patternsKind // gitignore patterns
	treeKind     // anything
)

// table holds every field the program knows. A new field is one line here.
var table = []field{
	{"name", textKind, false, (*filler).name},
	{"description", textKind, false, (*filler).description},
	{"when_to_use", textKind, false, (*filler).whenToUse},
	{"argument-hint", textKind, false, (*filler).argumentHint},
	{"arguments", textsKind, false, (*filler).arguments},
	{"allowed-tools", rulesKind, true, (*filler).allowedTools},
	{"disallowed-tools", rulesKind, true, (*filler).disallowedTools},
	{"model", wordKind, false, (*filler).model},
	{"effort", wordKind, false, (*filler).effort},
	{"context", wordKind, true, (*filler).context},
	{"agent", wordKind, false, (*filler).agent},
	{"background", boolKind, false, (*filler).background},
	{"paths", patternsKind, true, (*filler).paths},
	{"user-invocable", boolKind, false, (*filler).userInvocable},
	{"disable-model-invocation", boolKind, true, (*filler).disableModelInvocation},
	{"hooks", treeKind, true, (*filler).hooks},
	{"shell", wordKind, false, (*filler).shell},
	{"version", wordKind, false, (*filler).version},
	{"license", wordKind, false, nil},
	{"compatibility", wordKind, false, nil},
	{"metadata", treeKind, false, (*filler).metadata},
	{"requires", textsKind, false, (*filler).requires},
	{"composes", treeKind, false, nil},
	{"output_schema", treeKind, false, nil},
	{"max_attempts", wordKind, false, nil},
}

// confusions are keys of other programs, and ours that people misremember
// beyond one letter.
var confusions = map[string]string{
	"globs":         "paths",
	"glob":          "paths",
	"path-patterns": "paths",
	"file-patterns": "paths",
	"tools":         "allowed-tools",
	"allow-tools":   "allowed-tools",
	"triggers":      "when_to_use",
	"when":          "when_to_use",
	"args":          "arguments",
	"subagent":      "agent",
	"fork":          "context",
}

// synonyms are keys of other programs that mean just what one of ours means.
var synonyms = map[string]string{"agent": "agent-type"}

// A spelling is one accepted way to write a key.
type spelling struct {
	key   string
	field int // index in table
}

// spellings is sorted by length, so that a lookup compares few keys.
var spellings = func() [32][]spelling {
	var m [32][]spelling
	seen := make(map[string]bool)
	for i := range table {
		for _, name := range []string{table[i].name, synonyms[table[i].name]} {
			kebab := strings.ReplaceAll(name, "_", "-")
			for _, key := range []string{kebab, strings.ReplaceAll(kebab, "-", "_"), camel(kebab)} {
				if key != "" && !seen[key] {
					seen[key] = true
					m[len(key)] = append(m[len(key)], spelling{key, i})
				}
			}
		}
	}
	return m
}()

// lookup finds the field of a key in kebab, snake or camel case.
func lookup(key string) *field {
	if i := index(key); i >= 0 {
		return &table[i]
	}
	return nil
}

// index is lookup for the place in the table; -1 for unknown keys.
func index(key string) int {
	if len(key) >= len(spellings) {
		return -1
	}
	for _, s := range spellings[len(key)] {
		if s.key == key {
			return s.field
		}
	}
	return -1
}

func isTextField(key string) bool {
	f := lookup(key)
	return f != nil && f.kind == textKind
}

func camel(kebab string) string {
	var b strings.Builder
	up := false
	for _, r := range kebab {
		switch {
		case r == '-':
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// suggest returns the field that the author of an unknown key probably meant
// (spec F-6), or "".
func suggest(key string) string {
	key = strings.TrimRight(key, " :")
	if len(key) < 3 || len(key) > 40 {
		return ""
	}
	var b strings.Builder
	for i, r := range key {
		switch {
		case r == '_' || r == ' ':
			r = '-'
		case unicode.IsUpper(r):
			if i > 0 && strings.ToUpper(key) != key {
				b.WriteByte('-')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	normal := b.String()
	if name, ok := confusions[normal]; ok {
		return name
	}
	for i := range table {
		if oneEdit(normal, strings.ReplaceAll(table[i].name, "_", "-")) {
			return table[i].name
		}
	}
	return ""
}

// oneEdit reports whether a and b are equal or one edit apart.
func oneEdit(a, b string) bool { return text.Edits(a, b, 1) <= 1 }
