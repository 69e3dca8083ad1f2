package lint

import (
	"strings"
	"unicode/utf8"
)

// A link is one [text](target) outside code.
type link struct {
	target       string
	line, column int // of the target in the body, from 1, in characters
}

// links returns the inline links of a Markdown body, images included.
func links(body string) []link {
	var found []link
	for n, line := range prose(body) {
		for from := 0; ; {
			i := strings.Index(line[from:], "](")
			if i < 0 {
				break
			}
			at := from + i
			from = at + 2
			if !strings.Contains(line[:at], "[") || strings.HasSuffix(line[:at], `\`) {
				continue
			}
			target, ok := cutTarget(line[from:])
			if !ok {
				continue
			}
			start := from + strings.Index(line[from:], target)
			found = append(found, link{target, n + 1, 1 + utf8.RuneCountInString(line[:start])})
		}
	}
	return found
}

// cutTarget reads the target of a link up to its closing parenthesis, without
// angle brackets and title.
func cutTarget(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t")
	if rest, ok := strings.CutPrefix(s, "<"); ok {
		target, _, ok := strings.Cut(rest, ">")
		return target, ok && target != ""
	}
	depth := 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ' ', '\t':
			// A title may follow; anything else is no link.
			rest := strings.TrimLeft(s[i:], " \t")
			return s[:i], i > 0 && rest != "" && strings.ContainsRune(`"'()`, rune(rest[0]))
		case ')':
			if depth--; depth < 0 {
				return s[:i], i > 0
			}
		}
	}
	return "", false
}

// prose returns the lines of a body with code fences, code spans and comments
// blanked, so that positions stay as they are.
func prose(body string) []string {
	lines := splitLines(body)
	fence, comment := "", false
	for i, line := range lines {
		switch mark := fenceMark(line); {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(line, " \t>") == mark {
				fence = ""
			}
			lines[i] = ""
		case mark != "" && !comment:
			fence, lines[i] = mark, ""
		default:
			lines[i], comment = blankComments(blankSpans(line), comment)
		}
	}
	return lines
}

// fenceMark returns the run of backquotes or tildes that makes line a fence.
func fenceMark(line string) string {
	s := strings.TrimLeft(line, " \t>")
	for _, c := range []string{"`", "~"} {
		mark := s[:len(s)-len(strings.TrimLeft(s, c))]
		if len(mark) >= 3 && (c == "~" || !strings.Contains(s[len(mark):], "`")) {
			return mark
		}
	}
	return ""
}

// blankSpans replaces code spans that end on the same line.
func blankSpans(line string) string {
	for from := 0; ; {
		i := strings.IndexByte(line[from:], '`')
		if i < 0 {
			return line
		}
		start := from + i
		rest := strings.TrimLeft(line[start:], "`")
		mark := line[start : len(line)-len(rest)]
		end := closing(rest, mark)
		if end < 0 {
			from = start + len(mark)
			continue
		}
		end += start + len(mark)
		line = line[:start] + blanks(line[start:end]) + line[end:]
		from = start
	}
}

// closing returns the offset behind the run of backquotes in s that is exactly
// mark, or -1.
func closing(s, mark string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '`')
		if i < 0 {
			return -1
		}
		start := from + i
		run := len(s[start:]) - len(strings.TrimLeft(s[start:], "`"))
		if run == len(mark) {
			return start + run
		}
		from = start + run
	}
}

// blankComments replaces HTML comments; open tells whether one is open at the
// start of the line, and is returned for the next.
func blankComments(line string, open bool) (string, bool) {
	for from := 0; ; {
		if !open {
			i := strings.Index(line[from:], "<!--")
			if i < 0 {
				return line, false
			}
			from, open = from+i, true
		}
		i := strings.Index(line[from:], "-->")
		if i < 0 {
			return line[:from] + blanks(line[from:]), true
		}
		end := from + i + len("-->")
		line = line[:from] + blanks(line[from:end]) + line[end:]
		open = false
	}
}

// blanks returns as many blanks as s has characters.
func blanks(s string) string { return strings.Repeat(" ", utf8.RuneCountInString(s)) }
