package find

import (
	"fmt"
	"strings"

	"github.com/knack-skills/knack/gitignore"
)

// A filter says which files a search looks at, by their paths below the start.
// A matcher that is nil does not count.
type filter struct {
	hidden  bool // it names files that begin with a dot
	ofType  *gitignore.Matcher
	only    *gitignore.Matcher // a file must match
	not     *gitignore.Matcher // a file must not match
	written string             // for explanations
}

// maxBraces bounds what one glob with braces stands for.
const maxBraces = 256

// newFilter reads the glob and type of a search. Globs are patterns as in an
// ignore file, several separated by commas or blanks; "!" in front excludes.
func newFilter(glob, typ string) (filter, error) {
	var f filter
	if typ != "" {
		patterns, known := typePatterns(typ)
		if known != "" {
			return f, fmt.Errorf(`Grep: unknown type %q: use one of %s, or say it as a glob such as "*.%s"`, typ, known, typ)
		}
		f.ofType = gitignore.Compile(patterns...)
		f.written = "type " + typ
	}
	var only, not []string
	for _, one := range splitGlobs(glob) {
		bare, excludes := strings.CutPrefix(one, "!")
		expanded, ok := gitignore.ExpandBraces(bare, maxBraces)
		if !ok {
			return f, fmt.Errorf("Grep: the glob %q stands for more than %d patterns: write it shorter", one, maxBraces)
		}
		for i, e := range expanded {
			if strings.HasPrefix(e, "#") || strings.HasPrefix(e, "!") { // as such, no comment
				expanded[i] = `\` + e
			}
		}
		if excludes {
			not = append(not, expanded...)
			continue
		}
		only = append(only, expanded...)
		f.hidden = f.hidden || namesHidden(bare)
	}
	if len(only) > 0 {
		f.only = gitignore.Compile(only...)
	}
	if len(not) > 0 {
		f.not = gitignore.Compile(not...)
	}
	if len(only)+len(not) > 0 {
		f.written = strings.TrimPrefix(f.written+" and glob "+glob, " and ")
	}
	return f, nil
}

// splitGlobs cuts at commas and blanks outside braces and brackets.
func splitGlobs(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		return depth <= 0 && (r == ',' || r == ' ')
	})
}

func (f *filter) wants(rel string) bool {
	has := func(m *gitignore.Matcher) bool {
		_, ok := m.Match(rel, false)
		return ok
	}
	return (f.ofType == nil || has(f.ofType)) && (f.only == nil || has(f.only)) && (f.not == nil || !has(f.not))
}
