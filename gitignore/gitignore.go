// Package gitignore matches paths against gitignore patterns, as git does
// (spec S-8, D-1, D-4). Values are immutable and safe for concurrent use.
//
// It matches bytes, and upper and lower case differ, as in git with its default
// settings; [CompileFileFold] is for core.ignoreCase. Reading .gitignore files,
// and stacking those of several directories, is left to the caller (see
// [Matcher.MatchSelf]).
package gitignore

import (
	"slices"
	"strings"
)

// A Matcher is a list of patterns; the last one that matches a path decides.
type Matcher struct {
	patterns []pattern // last of the file first: the first hit decides
	fold     bool      // patterns are in lower case, and paths have to be
}

// Compile reads patterns, one each, as lines of a .gitignore file. A pattern
// that is not well formed matches nothing. Nothing is ever an error.
func Compile(patterns ...string) *Matcher { return compile(patterns, false) }

func compile(patterns []string, fold bool) *Matcher {
	m := &Matcher{patterns: make([]pattern, 0, len(patterns)), fold: fold}
	for _, line := range slices.Backward(patterns) {
		if p, ok := parse(line, fold); ok {
			m.patterns = append(m.patterns, p)
		}
	}
	return m
}

// CompileFile reads the text of a .gitignore file: lines, comments, escapes,
// trailing blanks.
func CompileFile(text string) *Matcher { return compile(lines(text), false) }

// CompileFileFold is [CompileFile] for a repository in which upper and lower
// case of ASCII are the same (core.ignoreCase).
func CompileFileFold(text string) *Matcher { return compile(lines(text), true) }

func lines(text string) []string {
	return strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
}

// Match reports whether path (slash-separated, relative to the directory the
// patterns belong to, no leading slash) is matched, and by which pattern. A
// pattern that matches a parent directory matches what is below it. Paths that
// leave the directory ("../x") never match.
//
// A path below a matched directory cannot be taken out again by a "!" pattern,
// as in git. When a "!" pattern decides, it is returned and ok is false. A
// slash at the end of path is the same as isDir. A path that is empty,
// absolute, or has an empty, "." or ".." segment matches nothing. The pattern
// comes back as written, without a line end and the blanks that do not count.
func (m *Matcher) Match(path string, isDir bool) (pattern string, ok bool) {
	path, isDir, ok = clean(path, isDir)
	if !ok || len(m.patterns) == 0 {
		return "", false
	}
	path = m.folded(path)
	base := 0 // where the last segment of the prefix looked at begins
	for i := 0; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if p := m.decide(path[:i], base, true); p != nil && !p.negated {
			return p.text, true
		}
		base = i + 1
	}
	return verdict(m.decide(path, base, isDir))
}

// MatchSelf is [Matcher.Match] without the parent directories: only path itself
// is compared. It is for callers that stack several files (spec D-1): walking
// down from the top, for each directory on the way and then the path, the
// deepest file that returns a pattern decides, and an ignored directory ends
// the walk.
func (m *Matcher) MatchSelf(path string, isDir bool) (pattern string, ok bool) {
	path, isDir, ok = clean(path, isDir)
	if !ok {
		return "", false
	}
	path = m.folded(path)
	return verdict(m.decide(path, strings.LastIndexByte(path, '/')+1, isDir))
}

// folded is path as the patterns compare it.
func (m *Matcher) folded(path string) string {
	if !m.fold {
		return path
	}
	return lower(path)
}

// lower changes the letters of ASCII, and no others, as git does.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// decide returns the pattern that speaks last about path, or nil. base is the
// offset of the last segment.
func (m *Matcher) decide(path string, base int, isDir bool) *pattern {
	for i := range m.patterns {
		if p := &m.patterns[i]; p.match(path, base, isDir) {
			return p
		}
	}
	return nil
}

func verdict(p *pattern) (text string, ok bool) {
	if p == nil {
		return "", false
	}
	return p.text, !p.negated
}

// clean drops a slash at the end and refuses paths that are not below the
// directory in plain form.
func clean(path string, isDir bool) (string, bool, bool) {
	if n := len(path); n > 1 && path[n-1] == '/' {
		path, isDir = path[:n-1], true
	}
	start := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		switch path[start:i] {
		case "", ".", "..":
			return "", false, false
		}
		start = i + 1
	}
	return path, isDir, true
}
