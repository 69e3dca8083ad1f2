package settings

import (
	"slices"
)

// held takes a file as it was before, if it is to stay so.
func (l *loader) held(level Level, path string) bool {
	if l.src.Before == nil || level == ManagedLevel || !slices.Contains(l.src.Held, path) {
		return false
	}
	for _, f := range l.src.Before.Files {
		if f.Level == level && f.Path == path {
			l.again(f)
			return true
		}
	}
	return false
}

// kept takes, instead of a file that cannot be read, what it said before. Else
// a half-written file would lift what it forbids.
func (l *loader) kept(bad File) bool {
	if l.src.Before == nil || !bad.Exists {
		return false
	}
	for _, f := range l.src.Before.Files {
		if f.Level == bad.Level && f.Path == bad.Path && f.Exists && !f.refused {
			l.files = append(l.files, f)
			return true
		}
	}
	return false
}

// again takes a file and its problems as they were before.
func (l *loader) again(f File) {
	l.files = append(l.files, f)
	for _, p := range l.src.Before.found {
		if p.Path == f.Path {
			l.problems = append(l.problems, p)
		}
	}
}
