package file

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxLine is how much of one line is shown, in characters.
const maxLine = 2000

// A page writes numbered lines as "cat -n" does.
type page struct {
	b   strings.Builder
	cut int // how many lines were cut
}

// line adds one line, which is without its end.
func (p *page) line(n int, line string) {
	line = strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), string(utf8.RuneError))
	fmt.Fprintf(&p.b, "%6d\t", n)
	if len(line) > maxLine && utf8.RuneCountInString(line) > maxLine {
		p.cut++
		runes := []rune(line)
		fmt.Fprintf(&p.b, "%s… [%d more characters]", string(runes[:maxLine]), len(runes)-maxLine)
	} else {
		p.b.WriteString(line)
	}
	p.b.WriteByte('\n')
}

// linesOf splits text into lines without their ends. A newline at the end does
// not begin another line.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// around is how many lines a snippet shows before and after a change.
const around = 4

// maxSnippet is how many lines of a change a snippet shows.
const maxSnippet = 24

// snippet shows text[start:end] with the lines around it, numbered.
func snippet(text string, start, end int) string {
	all := linesOf(text)
	first := max(strings.Count(text[:start], "\n")-around, 0)
	last := min(strings.Count(text[:end], "\n")+around+1, len(all))
	var p page
	for i := first; i < last; i++ {
		if i-first == maxSnippet {
			fmt.Fprintf(&p.b, "[%d more lines]\n", last-i)
			break
		}
		p.line(i+1, all[i])
	}
	return p.b.String()
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
