// Package output prints what commands have to say: JSON, tables, problems and
// errors with their exit codes (spec chapter 14). Text that other people wrote
// is cleaned before it reaches a terminal (spec F-7).
package output

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/knack-skills/knack/agent"
	"github.com/knack-skills/knack/invoke"
	"github.com/knack-skills/knack/prompt"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// The exit codes of every command.
const (
	ExitFine      = 0
	ExitFailed    = 1
	ExitUsage     = 2
	ExitDenied    = 3
	ExitCancelled = 130
)

// ErrFound ends a command with exit 1 after it has printed its findings.
var ErrFound = errors.New("problems found")

// A UsageError is a wrong use of a command or flag.
type UsageError struct{ Text string }

// Error returns the text.
func (e *UsageError) Error() string { return e.Text }

// Usagef returns a [*UsageError].
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// A DeniedError is something that a person or a policy did not allow.
type DeniedError struct{ Text string }

// Error returns the text.
func (e *DeniedError) Error() string { return e.Text }

// ExitCode returns the exit code that an error stands for.
func ExitCode(err error) int {
	var (
		usage   *UsageError
		refused *invoke.RefusedError
		denied  *prompt.DeniedError
		no      *DeniedError
		blocked *agent.BlockedError
	)
	switch {
	case err == nil:
		return ExitFine
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &refused), errors.As(err, &denied), errors.As(err, &blocked), errors.As(err, &no):
		return ExitDenied
	case errors.Is(err, context.Canceled):
		return ExitCancelled
	}
	return ExitFailed
}

// Explain writes an error for a person, on w.
func Explain(w io.Writer, err error) {
	if errors.Is(err, ErrFound) {
		return // the findings are the message
	}
	fmt.Fprintln(w, "knack: "+text.TerminalBlock(err.Error()))
}

// JSON writes v with a newline: a list with one element a line, which streams
// and compares well, and anything else indented. Lists must not be nil.
func JSON(w io.Writer, v any) error {
	b := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := encode(b, enc, reflect.ValueOf(v)); err != nil {
		return err
	}
	return b.Flush()
}

func encode(b *bufio.Writer, enc *json.Encoder, v reflect.Value) error {
	if v.Kind() != reflect.Slice || v.Len() == 0 {
		enc.SetIndent("", "  ")
		return enc.Encode(v.Interface())
	}
	for i := range v.Len() {
		b.WriteByte("[,"[min(i, 1)])
		// Encode ends the element with a newline.
		if err := enc.Encode(v.Index(i).Addr().Interface()); err != nil {
			return err
		}
	}
	_, err := b.WriteString("]\n")
	return err
}

// Problem renders a problem for a person, with its fix on a second line.
func Problem(p skill.Problem) string {
	s := Tilde(text.Terminal(p.String()))
	if p.Fix != "" {
		s += "\n    fix: " + Tilde(text.Terminal(p.Fix))
	}
	return s
}

// Tilde writes paths below the home directory as a shell would read them.
func Tilde(s string) string {
	home, err := os.UserHomeDir()
	if err != nil || len(home) < 2 {
		return s
	}
	return strings.ReplaceAll(s, home+string(os.PathSeparator), "~"+string(os.PathSeparator))
}

// Brief shortens a description for a menu.
func Brief(s string) string { return text.Fit(text.Terminal(s), 60) }

// A Style knows how wide an output is and whether it may use colour.
type Style struct {
	Colour bool
	Width  int // columns; 0 means no limit (no terminal, and no COLUMNS)
}

// NewStyle looks at w, NO_COLOR, TERM and COLUMNS.
func NewStyle(w io.Writer, noColor bool) Style {
	var s Style
	if f := terminal(w); f != nil {
		s.Colour = !noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if s.Width = columns(f); s.Width <= 0 {
			s.Width = 80
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	return s
}

// Bold, Dim, Red, Yellow and Green mark text where colour is on.
func (s Style) Bold(t string) string   { return s.mark("1", t) }
func (s Style) Dim(t string) string    { return s.mark("2", t) }
func (s Style) Red(t string) string    { return s.mark("31", t) }
func (s Style) Yellow(t string) string { return s.mark("33", t) }
func (s Style) Green(t string) string  { return s.mark("32", t) }

func (s Style) mark(code, t string) string {
	if !s.Colour || t == "" {
		return t
	}
	return "\x1b[" + code + "m" + t + "\x1b[0m"
}

// Wrap breaks t at blanks so that no line is wider than the terminal; lines
// after the first are indented. first is how many columns are used already.
func (s Style) Wrap(t string, first, indent int) string {
	if s.Width == 0 {
		return t
	}
	var b strings.Builder
	used := first
	for i, word := range strings.Fields(t) {
		w := text.Width(word)
		switch {
		case i == 0:
		case used+1+w > s.Width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += w
	}
	return b.String()
}

// Table writes rows in columns two blanks apart, cut to the width of the
// terminal: the last column first, then the widest. Cells must be clean (text.Terminal).
func (s Style) Table(w io.Writer, head []string, rows [][]string) error {
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = text.Width(h)
	}
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], text.Width(c))
		}
	}
	if s.Width > 0 {
		narrow(widths[:len(widths)-1], s.Width-minLast)
	}
	b := bufio.NewWriter(w)
	s.row(b, head, widths, s.Dim)
	for _, r := range rows {
		s.row(b, r, widths, func(t string) string { return t })
	}
	return b.Flush()
}

// minLast is what the last column of a table keeps, in columns.
const minLast = 10

// narrow takes from the widest columns until all of them, with the blanks after
// them, fit into room. Every column keeps a little.
func narrow(widths []int, room int) {
	const least = 4
	for {
		used, widest := 0, 0
		for i, w := range widths {
			used += w + 2
			if w > widths[widest] {
				widest = i
			}
		}
		if len(widths) == 0 || used <= room || widths[widest] <= least {
			return
		}
		widths[widest]--
	}
}

func (s Style) row(b *bufio.Writer, cells []string, widths []int, mark func(string) string) {
	var line strings.Builder
	used := 0
	for i, c := range cells {
		if i == len(cells)-1 {
			if s.Width > 0 {
				c = text.Fit(c, max(s.Width-used, minLast))
			}
			line.WriteString(c)
			break
		}
		if text.Width(c) > widths[i] {
			c = text.Fit(c, widths[i])
		}
		line.WriteString(c + strings.Repeat(" ", widths[i]-text.Width(c)+2))
		used += widths[i] + 2
	}
	b.WriteString(mark(strings.TrimRight(line.String(), " ")) + "\n")
}
