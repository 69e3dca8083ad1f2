package prompt

import "strings"

// SplitArgs splits an argument string as a shell would (spec P-3): blanks
// separate, quotes and backslashes protect. It never fails: the mark of an
// unbalanced quote is dropped and the rest is one argument, without escapes, so
// that "fix what doesn't work" still arrives. Only ASCII blanks separate; an
// ideographic space is part of its word.
func SplitArgs(s string) []string {
	var (
		out  []string
		word strings.Builder
		in   bool // inside a word, which may be empty: ""
	)
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case isBlank(c):
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
			i++
		case c == '\'' || c == '"':
			in = true
			end := closingQuote(s, i)
			if end < 0 {
				word.WriteString(s[i+1:])
				return append(out, word.String())
			}
			writeQuoted(&word, s[i+1:end], c)
			i = end + 1
		case c == '\\' && i+1 < len(s):
			in = true
			if s[i+1] != '\n' { // a continued line
				word.WriteByte(s[i+1])
			}
			i += 2
		default:
			in = true
			word.WriteByte(c)
			i++
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}

// closingQuote returns the index of the mark that closes the one at s[i], or -1.
func closingQuote(s string, i int) int {
	quote := s[i]
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == quote:
			return j
		case s[j] == '\\' && quote == '"':
			j++
		}
	}
	return -1
}

// writeQuoted writes what stands between two marks.
func writeQuoted(w *strings.Builder, s string, quote byte) {
	if quote == '\'' {
		w.WriteString(s)
		return
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '"', '\\', '$', '`':
				i++
			case '\n':
				i++
				continue
			}
		}
		w.WriteByte(s[i])
	}
}

// QuoteArg quotes s so that SplitArgs gives it back as one argument.
func QuoteArg(s string) string {
	switch {
	case s != "" && !strings.ContainsAny(s, " \t\n\r\v\f'\"\\"):
		return s
	case !strings.ContainsAny(s, "\"\\$`"):
		return `"` + s + `"`
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	}
	return `"` + escapeDouble.Replace(s) + `"`
}

// escapeDouble protects text inside double quotes, here and in bash.
var escapeDouble = strings.NewReplacer(`"`, `\"`, `\`, `\\`, `$`, `\$`, "`", "\\`")

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}
