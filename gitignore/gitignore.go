// Package gitignore matches paths against gitignore patterns, as git does
// (spec S-8, D-1, D-4). Values are immutable and safe for concurrent use.
package gitignore

// A Matcher is a list of patterns; the last one that matches a path decides.
type Matcher struct{}

// Compile reads patterns, one each, as lines of a .gitignore file. A pattern
// that is not well formed matches nothing. Nothing is ever an error.
func Compile(patterns ...string) *Matcher { panic("to be written") }

// CompileFile reads the text of a .gitignore file: lines, comments, escapes,
// trailing blanks.
func CompileFile(text string) *Matcher { panic("to be written") }

// Match reports whether path (slash-separated, relative to the directory the
// patterns belong to, no leading slash) is matched, and by which pattern. A
// pattern that matches a parent directory matches what is below it. Paths that
// leave the directory ("../x") never match.
func (m *Matcher) Match(path string, isDir bool) (pattern string, ok bool) { panic("to be written") }

// ExpandBraces expands {a,b} in pattern, at most max results; over it the
// pattern is returned as it is and ok is false.
func ExpandBraces(pattern string, max int) (patterns []string, ok bool) { panic("to be written") }
