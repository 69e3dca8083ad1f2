package frontmatter

import (
	"strings"
)

// A fallback description is cut at maxFallback characters; maxParagraph bytes
// are more than these can take.
const (
	maxFallback  = 1024
	maxParagraph = 5 << 10
)

// A paragraph is what the description falls back to.
type paragraph struct {
	text     string // first paragraph that is no heading, on one line
	heading  string // first heading
	complete bool   // more of the body cannot change text
}

// skipper walks the lines of Markdown and steps over comments and code.
type skipper struct {
	comment bool
	fence   string // that closes the code block we are in
}

// skip reports whether the trimmed line is not text.
func (k *skipper) skip(line string) bool {
	switch {
	case k.comment:
		k.comment = !strings.Contains(line, "-->")
	case k.fence != "":
		if strings.HasPrefix(line, k.fence) && strings.Trim(line, k.fence[:1]) == "" {
			k.fence = ""
		}
	case strings.HasPrefix(line, "<!--"):
		k.comment = !strings.Contains(line[4:], "-->")
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		k.fence = line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	default:
		return false
	}
	return true
}

// firstParagraph finds the first paragraph of a body that is no heading. HTML
// comments, code blocks and rules are not paragraphs.
func firstParagraph(body string) paragraph {
	var p paragraph
	var b strings.Builder
	var k skipper
	for l := newLines(body); ; {
		line, at, ok := l.next()
		if !ok {
			p.text = b.String()
			return p
		}
		whole := l.pos > at+len(line) // the line has its end
		line = strings.TrimSpace(line)
		wasInside := k.comment || k.fence != ""
		skipped := k.skip(line)
		ends := line == "" || skipped || isHeading(line) || isRule(line, "*_")
		switch {
		case b.Len() > 0 && isRule(line, "-="): // underlined: it was a heading
			p.setHeading(b.String())
			b.Reset()
		case b.Len() > 0 && ends || b.Len() > maxParagraph:
			p.text, p.complete = b.String(), whole || b.Len() > maxParagraph
			return p
		case wasInside, ends, isRule(line, "-="):
			if !skipped && isHeading(line) {
				p.setHeading(strings.Trim(line, "# \t"))
			}
		default:
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(line)
		}
	}
}

func (p *paragraph) setHeading(s string) {
	if p.heading == "" {
		p.heading = s
	}
}

// isHeading reports whether line is "# heading".
func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	n := len(line) - len(rest)
	return n >= 1 && n <= 6 && (rest == "" || isBlank(rest[0]))
}

// isRule reports whether line is three or more of one of the marks.
func isRule(line, marks string) bool {
	return len(line) >= 3 && strings.IndexByte(marks, line[0]) >= 0 && strings.Trim(line, line[:1]) == ""
}

var missedMessage = map[string]string{
	"no-opening-fence": "the file seems to have frontmatter, but its first line is not ---, so all of it is body",
	"outer-code-fence": "the whole file is wrapped in a code fence, so its frontmatter is body",
}

var missedFix = map[string]string{
	"no-opening-fence": "make --- the first line of the file",
	"outer-code-fence": "remove the code fence around the file",
}

// missedFence finds frontmatter that its author thinks is there (spec F-6):
// keys without an opening fence, a fence after blank lines or comments, a fence
// with more on its line, or a code fence around the file.
func missedFence(body string) (code string, line int) {
	l := newLines(body)
	var k skipper
	for {
		s, _, ok := l.next()
		if !ok {
			return "", 0
		}
		s = strings.TrimSpace(s)
		first := k.fence == "" && !k.comment
		if skipped := k.skip(s); s == "" || skipped && k.fence == "" {
			continue
		}
		at := l.n
		switch {
		case first && k.fence != "":
			if s, _, _ = l.next(); strings.TrimRight(s, " \t") == fence {
				return "outer-code-fence", at
			}
		case strings.HasPrefix(s, fence):
			if s, _, _ = l.next(); knownKeyLine(s) {
				return "no-opening-fence", at
			}
		case knownKeyLine(s):
			if s, _, ok = l.next(); ok && (strings.HasPrefix(s, fence) || knownKeyLine(s)) {
				return "no-opening-fence", at
			}
		}
		return "", 0
	}
}

// knownKeyLine reports whether line is "field: value" with a known field.
func knownKeyLine(line string) bool {
	key, _, ok := keyLine(line)
	return ok && lookup(key) != nil
}
