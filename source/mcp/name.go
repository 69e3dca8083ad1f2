package mcp

import (
	"strconv"
	"strings"
	"unicode"
)

// maxName is the longest name that is used, in characters.
const maxName = 128

// identities returns, for prompts ordered by name, the last part of their ids.
// A name that can be typed stays as it is; others are made so, and get a
// number when the result is taken. Equal names get equal ids.
func identities(prompts []Prompt) []string {
	ids := make([]string, len(prompts))
	taken := make(map[string]bool, len(prompts))
	for i, p := range prompts { // first those that need no change, so that they lose nothing
		if id := promptName(p.Name); id == p.Name {
			ids[i], taken[id] = id, true
		}
	}
	for i, p := range prompts {
		switch {
		case ids[i] != "":
			continue
		case i > 0 && p.Name == prompts[i-1].Name:
			ids[i] = ids[i-1]
			continue
		}
		base := promptName(p.Name)
		id := base
		for n := 2; taken[id]; n++ {
			id = base + "-" + strconv.Itoa(n)
		}
		ids[i], taken[id] = id, true
	}
	return ids
}

// promptName makes a name that can be typed after a slash, as one word.
func promptName(name string) string {
	return clean(name, "-", "prompt", func(r rune) bool { return strings.ContainsRune("_-.:/", r) })
}

// ServerName makes the part of an id before the colon of a server's name.
func ServerName(name string) string {
	return clean(name, "_", "server", func(r rune) bool { return strings.ContainsRune("_-.", r) })
}

// clean replaces each run of characters other than letters, marks, digits and
// those that keep accepts by one sep, and drops sep at the ends of a changed
// name. If nothing is left, empty is the name.
func clean(name, sep, empty string, keep func(rune) bool) string {
	var b strings.Builder
	n, gap, changed := 0, false, false
	for _, r := range name {
		if n == maxName {
			changed = true
			break
		}
		if r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || keep(r)) {
			b.WriteRune(r)
			gap = false
			n++
			continue
		}
		changed = true
		if !gap {
			b.WriteString(sep)
			gap = true
			n++
		}
	}
	out := b.String()
	if changed {
		out = strings.Trim(out, sep)
	}
	if out == "" {
		return empty
	}
	return out
}
