package frontmatter

import (
	"slices"
	"strings"

	"github.com/knack-skills/knack/skill"
)

// proseWords show that `arguments` is a sentence, not a list of names.
var proseWords = map[string]bool{
	"a": true, "an": true, "and": true, "any": true, "as": true, "by": true, "e.g.": true, "for": true,
	"from": true, "if": true, "in": true, "is": true, "of": true, "on": true, "or": true, "the": true,
	"to": true, "with": true,
}

// arguments reads the declared names. Names must be identifiers; a sentence
// declares nothing, because each of its words would become a placeholder.
func (f *filler) arguments(e *entry) {
	f.s.Content.Arguments = nil
	if e.val.kind == null {
		return
	}
	f.s.Content.Positional = true
	seen := map[string]bool{}
	for _, name := range f.argumentNames(e) {
		name = strings.Trim(name, "[]<>{}$?.")
		switch {
		case name == "" || seen[name]:
		case name == "ARGUMENTS":
			f.report(skill.Info, "bad-argument", e, "`$ARGUMENTS` needs no declaration", "remove it")
		case keyLen(name) != len(name):
			f.report(skill.Warning, "bad-argument", e, "`"+name+"` cannot be the name of an argument",
				"use letters, digits, _ and -, and start with a letter")
		default:
			seen[name] = true
			f.s.Content.Arguments = append(f.s.Content.Arguments, name)
		}
	}
}

func (f *filler) argumentNames(e *entry) []string {
	switch e.val.kind {
	case list:
		return listNames(&e.val)
	case mapping:
		names := make([]string, 0, len(e.val.items))
		for i := range e.val.items {
			names = append(names, e.val.items[i].name)
		}
		return names
	}
	got := itemsOf(e)
	if got.lost {
		f.bad(e, "a list of names", "no argument is declared")
		return nil
	}
	var names []string
	var one [1]string
	for _, part := range got.all(&one) {
		if part = strings.TrimSpace(part); got.list {
			names = append(names, part)
			continue
		}
		words := strings.FieldsFunc(part, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
		if slices.ContainsFunc(words, func(w string) bool { return proseWords[strings.ToLower(w)] }) {
			f.report(skill.Warning, "arguments-prose", e, "`arguments` is a sentence; no argument is declared",
				"list names, such as arguments: [file, mode], and move the sentence to argument-hint")
			return nil
		}
		names = append(names, words...)
	}
	return names
}

// listNames reads a list whose items are names, or maps with a name.
func listNames(v *value) []string {
	names := make([]string, 0, len(v.items))
	for i := range v.items {
		switch item := &v.items[i]; item.kind {
		case scalar:
			names = append(names, strings.TrimSpace(item.text))
		case mapping:
			if name, ok := item.at("name"); ok {
				names = append(names, strings.TrimSpace(name.text))
			} else if len(item.items) == 1 {
				names = append(names, item.items[0].name)
			}
		case list: // [file] in a block list
			names = append(names, listNames(item)...)
		}
	}
	return names
}
