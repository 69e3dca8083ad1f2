package gitignore

import "strings"

// match reports whether tokens match all of s.
//
// It remembers two places to try again from: the last star, and the last "**".
// Earlier ones need no second try: whatever follows a later one was reached at
// the first place possible, and a longer earlier match leaves it less to work
// with. A star that meets a slash, or the end, gives the turn to the "**"
// before it, which moves on by whole directories. So time grows with the product
// of the lengths of pattern and path, times the segments of the path at worst.
func match(tokens []token, s string) bool {
	var (
		t, i         int
		starT, starI = -1, 0 // the token after the star, where it was tried
		deepT, deepI = -1, 0 // the token after the "**", where it was tried
	)
	for {
		ok := false
		switch {
		case t == len(tokens):
			if i == len(s) {
				return true
			}
		case tokens[t].op == all:
			return true
		case tokens[t].op == star:
			t++
			starT, starI, ok = t, i, true
		case tokens[t].op == dirs:
			t++
			deepT, deepI, starT, ok = t, i, -1, true
		case tokens[t].op == dirsMin:
			// It has not matched yet: the first try is the first slash.
			deepT, deepI, starT = t+1, i, -1
		case i < len(s) && tokens[t].matches(s[i]):
			t++
			i++
			ok = true
		}
		if ok {
			continue
		}
		if starT >= 0 {
			if next, found := nextTry(tokens[starT:], s, starI); found {
				starI = next
				t, i = starT, starI
				continue
			}
			starT = -1
		}
		if deepT < 0 {
			return false
		}
		slash := strings.IndexByte(s[deepI:], '/')
		if slash < 0 {
			return false
		}
		deepI += slash + 1
		t, i = deepT, deepI
	}
}

// nextTry returns the next place at which what follows a star may begin, when
// it was tried at i.
func nextTry(rest []token, s string, i int) (next int, ok bool) {
	if i == len(s) || s[i] == '/' {
		return 0, false
	}
	i++
	if len(rest) == 0 || rest[0].op != literal {
		return i, true
	}
	for ; i < len(s); i++ {
		if s[i] == rest[0].b {
			return i, true
		}
		if s[i] == '/' {
			break
		}
	}
	return 0, false
}

// matches is for tokens that stand for one byte.
func (t token) matches(c byte) bool {
	switch t.op {
	case literal:
		return c == t.b
	case anyByte:
		return c != '/'
	}
	return t.set.has(c)
}
