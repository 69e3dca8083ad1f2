package gitignore

// A Key is what a path must have for a pattern to match it or a directory above
// it. It is for callers that hold many patterns and look only at those that can
// match (spec D-4). Empty fields demand nothing.
type Key struct {
	Dir  string // the path begins with this directory, whole segments of it
	Name string // below Dir, a segment is exactly this
	Head string // below Dir, a segment begins with this
	Tail string // below Dir, a segment ends in this
}

// Keys returns the key of each pattern that can make the matcher match: a path
// that has none of them is not matched. Patterns that take out again have none.
func (m *Matcher) Keys() []Key {
	var out []Key
	for i := range m.patterns {
		if p := &m.patterns[i]; !p.negated {
			out = append(out, p.key())
		}
	}
	return out
}

func (p *pattern) key() (k Key) {
	if p.suffix {
		return Key{Tail: p.rest}
	}
	rest := p.prefix
	if !p.baseOnly {
		for i := len(rest) - 1; i >= 0; i-- {
			if rest[i] == '/' {
				k.Dir, rest = rest[:i], rest[i+1:]
				break
			}
		}
	}
	steps := make([]token, 0, len(rest)+len(p.tokens))
	for i := range len(rest) {
		steps = append(steps, token{op: literal, b: rest[i]})
	}
	steps = append(steps, p.tokens...)
	// What stands behind "**/" begins a segment, unless the "**/" follows part
	// of a name: "foo**/bar" matches foobar.
	begins := func(i int) bool {
		if i == 0 {
			return true
		}
		switch before := steps[i-1]; before.op {
		case literal:
			return before.b == '/'
		case dirs:
			return i == 1 || steps[i-2].op == literal && steps[i-2].b == '/'
		case dirsMin:
			return true
		}
		return false
	}
	end := len(steps)
	start := end
	for start > 0 && named(steps[start-1]) {
		start--
	}
	k.Tail = textOf(steps[start:end])
	if k.Tail != "" && begins(start) {
		k.Name, k.Tail = k.Tail, ""
		return k
	}
	for start = end; start > 0 && !begins(start); start-- {
	}
	for end = start; end < len(steps) && named(steps[end]); end++ {
	}
	k.Head = textOf(steps[start:end])
	return k
}

// named reports whether t is a letter of a name.
func named(t token) bool { return t.op == literal && t.b != '/' }

func textOf(steps []token) string {
	b := make([]byte, len(steps))
	for i, t := range steps {
		b[i] = t.b
	}
	return string(b)
}
