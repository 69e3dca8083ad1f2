package gitignore

import "strings"

// special are the bytes that end the literal beginning of a pattern.
const special = `*?[\`

// A pattern is one line, ready to be compared.
type pattern struct {
	text     string // the line without its end and trailing blanks
	negated  bool   // "!": takes out again
	dirOnly  bool   // a slash at the end: directories only
	baseOnly bool   // no other slash: compared with the last segment, at any depth
	prefix   string // the literal beginning
	suffix   bool   // "*" + rest, where the rest is literal: tokens are not used
	rest     string // with suffix: what the last segment ends in
	tokens   []token
}

// parse reads one line. ok is false for a line that can match nothing: blank,
// a comment, or not well formed. fold makes a pattern for paths in lower case.
func parse(line string, fold bool) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimBlanks(strings.TrimSuffix(line, "\r"))
	p.text = line
	line, p.negated = strings.CutPrefix(line, "!")
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.baseOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if rest, star := strings.CutPrefix(line, "*"); star && p.baseOnly && !strings.ContainsAny(rest, special) {
		p.suffix, p.rest = true, rest
		if fold {
			p.rest = lower(rest)
		}
		return p, true
	}
	n := strings.IndexAny(line, special)
	if n < 0 {
		n = len(line)
	}
	// What follows the literal beginning is read as if it stood at the start of
	// a pattern. That is how git does it, and why "foo**/bar" matches foo/x/bar.
	p.prefix = line[:n]
	if fold {
		p.prefix = lower(p.prefix)
	}
	p.tokens, ok = scan(line[n:], !p.baseOnly, fold)
	return p, ok
}

// trimBlanks drops blanks at the end, but not one behind a backslash. Only the
// space counts as a blank here.
func trimBlanks(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	if end == len(line) {
		return line
	}
	slashes := 0
	for end-slashes > 0 && line[end-slashes-1] == '\\' {
		slashes++
	}
	if slashes%2 == 1 { // the last backslash belongs to the first blank
		end++
	}
	return line[:end]
}

// match compares one path, and does not look at its parents. base is the
// offset of its last segment.
func (p *pattern) match(path string, base int, isDir bool) bool {
	if p.dirOnly && !isDir {
		return false
	}
	name := path
	if p.baseOnly {
		name = path[base:]
	}
	if p.suffix {
		return strings.HasSuffix(name, p.rest)
	}
	if !strings.HasPrefix(name, p.prefix) {
		return false
	}
	return match(p.tokens, name[len(p.prefix):])
}
