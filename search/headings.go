package search

import "strings"

// Headings returns the headings of a Markdown body ("# …" to "###### …"), one
// per line, outside code fences. It reads each line once, and the result does
// not hold on to the body.
func Headings(body string) string {
	var out []string
	fence := "" // the fence that is open
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\r\n")
		content := strings.TrimLeft(line, " ")
		if len(line)-len(content) > 3 || content == "" {
			continue // indented code
		}
		switch content[0] {
		case '`', '~':
			fence = nextFence(fence, content)
		case '#':
			if fence == "" {
				if h := heading(content); h != "" {
					out = append(out, h)
				}
			}
		}
	}
	if len(out) == 1 {
		return strings.Clone(out[0]) // Join would return a part of the body
	}
	return strings.Join(out, "\n")
}

// nextFence returns the fence that is open after a line that begins with a
// fence's character.
func nextFence(open, line string) string {
	n := len(line) - len(strings.TrimLeft(line, line[:1]))
	switch {
	case n < 3:
		return open
	case open == "":
		if line[0] == '`' && strings.Contains(line[n:], "`") {
			return "" // code in a line
		}
		return line[:n]
	case line[0] == open[0] && n >= len(open) && n == len(line):
		return ""
	}
	return open
}

// heading returns the text of a line that begins with "#", or "" when it is
// not a heading.
func heading(line string) string {
	text := strings.TrimLeft(line, "#")
	if level := len(line) - len(text); level > 6 || text == "" || text[0] != ' ' && text[0] != '\t' {
		return ""
	}
	text = strings.TrimSpace(text)
	if closed := strings.TrimRight(text, "#"); closed == "" || strings.HasSuffix(closed, " ") {
		text = strings.TrimSpace(closed)
	}
	return text
}
