// Package discovery answers what follows from a touched file: in which
// directories on the way to it skills of their own lie (spec D-1, D-2), and which
// conditional skills it activates (spec D-3, D-4).
//
// What git ignores is found out from git's own files; no process is started.
// Loading what was found is left to a source and the catalog, and remembering
// what is active to the session. [Nested] remembers directories; all else is
// immutable. Everything is safe for concurrent use.
package discovery

import (
	"path/filepath"
	"strings"

	"github.com/knack-skills/knack/gitignore"
	"github.com/knack-skills/knack/skill"
)

// Activates reports whether touching file activates s, and by which pattern.
// base is the directory that the skill's patterns are relative to, and both are
// absolute. Files outside base activate nothing; the file need not exist.
func Activates(s *skill.Skill, base, file string) (pattern string, ok bool) {
	if !s.Trigger.Conditional {
		return "", false
	}
	rel, inside := Relative(base, file)
	if !inside {
		return "", false
	}
	return gitignore.Compile(s.Trigger.Paths...).Match(rel, false)
}

// Relative returns file relative to base with forward slashes; inside is false
// for base itself and for anything that is not below it.
func Relative(base, file string) (rel string, inside bool) {
	rel, err := filepath.Rel(base, file)
	if err != nil {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	if rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return rel, true
}
