package frontmatter

import "strings"

// tooManyParts is the fault of a text that the YAML library may not have.
const tooManyParts = "the frontmatter has too many parts"

// refusesAlias reports whether a piece that could not be read, for f, uses an
// anchor of the document. Alone it has no anchors, so YAML calls the alias
// unknown, or does not get to see it at all.
func (r *reader) refusesAlias(f *fault, text, src string) bool {
	switch {
	case f == nil:
		return false
	case f.reason == tooManyParts:
		return r.usesAnchor(text, src)
	}
	_, rest, _ := strings.Cut(f.reason, "unknown anchor '")
	name, _, ok := strings.Cut(rest, "'")
	return ok && r.hasAnchor(src, name)
}

// usesAnchor looks for aliases in text without YAML: a star where a value
// begins, and behind it the name of an anchor.
func (r *reader) usesAnchor(text, src string) bool {
	for at := 0; ; at++ {
		n := strings.IndexByte(text[at:], '*')
		if n < 0 {
			return false
		}
		at += n
		before := strings.TrimRight(text[:at], " \t\r\n")
		if before != "" && strings.IndexByte("[{,:-?", before[len(before)-1]) < 0 {
			continue
		}
		if r.hasAnchor(src, anchorName(text[at+1:])) {
			return true
		}
	}
}

// hasAnchor reports whether the header src defines the anchor, seen as text. It
// looks once for all of them: a header can ask for thousands.
func (r *reader) hasAnchor(src, name string) bool {
	if r.anchors == nil {
		r.anchors = map[string]bool{}
		for rest := src; ; {
			_, after, ok := strings.Cut(rest, "&")
			if !ok {
				break
			}
			r.anchors[anchorName(after)] = true
			rest = after
		}
		delete(r.anchors, "")
	}
	return r.anchors[name]
}

// anchorName is the name that s starts with, or "". One with an ampersand in it
// is none, which keeps a line of ampersands from being read for each of them.
func anchorName(s string) string {
	n := strings.IndexAny(s, " \t\r\n,[]{}&*")
	switch {
	case n < 0:
		return s
	case s[n] == '&' || s[n] == '*':
		return ""
	}
	return s[:n]
}
