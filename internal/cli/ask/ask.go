// Package ask puts questions to the person, line by line, on a terminal that is
// not the program's own input: that one may carry the prompt of `knack -p`.
//
// What others wrote is shown harmless and whole: control characters and what
// cannot be seen are spelled out, since hiding a part of a command would be
// hiding what is asked for. An empty line, the end of input and Ctrl-C mean no.
package ask

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/knack-skills/knack/internal/cli/output"
	"github.com/knack-skills/knack/invoke"
)

// A Terminal asks on one terminal, one question at a time. It is safe for
// concurrent use. It implements invoke.Asker; [Terminal.Questions] is for the
// tool AskUserQuestion.
type Terminal struct {
	out   io.Writer
	style output.Style
	close func() error

	flush func() // drops what was typed before the question
	// hide keeps what is typed from being shown until restore; ok is false when
	// this terminal cannot.
	hide func() (restore func(), ok bool)

	turn  chan struct{} // holds one token: whose turn it is to ask
	want  chan struct{} // one line is to be read
	lines chan string   // closed at the end of input
	owed  bool          // a line was wanted and has not come; belongs to whoever has the turn
}

// New asks on in and out. Reading begins with the first question.
func New(in io.Reader, out io.Writer, style output.Style) *Terminal {
	if style.Width <= 0 || style.Width > maxWidth {
		style.Width = maxWidth
	}
	t := &Terminal{out: out, style: style, flush: func() {}, hide: func() (func(), bool) { return func() {}, true },
		turn: make(chan struct{}, 1), want: make(chan struct{}, 1), lines: make(chan string, 1)}
	t.turn <- struct{}{}
	// A read cannot be interrupted, and a question has to end with its context.
	go t.read(in)
	return t
}

const (
	maxWidth = 80
	maxLine  = 64 << 10 // bytes of one answer
)

// Open asks on the terminal of the process. It is nil when there is none, or
// when messages go somewhere else, so that nobody would see that a question
// waits.
func Open(stderr io.Writer, noColor bool) *Terminal {
	if f, ok := stderr.(*os.File); !ok || !isTerminal(f) {
		return nil
	}
	in, out, err := openTerminal()
	if err != nil {
		return nil
	}
	t := New(in, out, output.NewStyle(out, noColor))
	t.flush, t.hide = func() { flush(in) }, func() (func(), bool) { return hide(in) }
	t.close = func() error {
		if in == out {
			return in.Close()
		}
		return errors.Join(in.Close(), out.Close())
	}
	return t
}

// Close gives the terminal back. A nil Terminal has none.
func (t *Terminal) Close() error {
	if t == nil || t.close == nil {
		return nil
	}
	return t.close()
}

// read reads one line for each that is wanted, and nothing ahead: a line that
// was typed before a question is no answer to it.
func (t *Terminal) read(in io.Reader) {
	defer close(t.lines)
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	for range t.want {
		if !s.Scan() {
			return
		}
		t.lines <- s.Text()
	}
}

// errEnd is the end of input: the person will not answer any more.
var errEnd = errors.New("end of input")

// prompt shows a line and waits for the answer.
func (t *Terminal) prompt(ctx context.Context, text string) (string, error) {
	for {
		// A read that a question before has left behind is that question's: what
		// it brings was not typed for this one.
		stale := t.owed
		t.flush()
		if _, err := io.WriteString(t.out, text); err != nil {
			return "", err
		}
		if !stale {
			t.want <- struct{}{}
			t.owed = true
		}
		select {
		case <-ctx.Done():
			fmt.Fprintln(t.out)
			return "", ctx.Err()
		case line, more := <-t.lines:
			if !more {
				fmt.Fprintln(t.out)
				return "", errEnd
			}
			if t.owed = false; !stale {
				return strings.TrimSpace(line), nil
			}
		}
	}
}

// hold waits until no other question is on the terminal.
func (t *Terminal) hold(ctx context.Context) (release func(), err error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.turn:
		return func() { t.turn <- struct{}{} }, nil
	}
}

// Ask implements [invoke.Asker].
func (t *Terminal) Ask(ctx context.Context, q invoke.Question) (invoke.Answer, error) {
	release, err := t.hold(ctx)
	if err != nil {
		return invoke.Answer{}, err
	}
	defer release()
	if _, err := io.WriteString(t.out, t.describe(q)); err != nil {
		return invoke.Answer{}, fmt.Errorf("asking on the terminal: %w", err)
	}
	for range maxTries {
		line, err := t.prompt(ctx, t.style.Bold(choices(q)))
		switch {
		case errors.Is(err, errEnd):
			return invoke.Answer{Reason: "no answer"}, nil
		case err != nil:
			return invoke.Answer{}, err
		}
		if a, ok := answer(line, q); ok {
			return a, nil
		}
		fmt.Fprintf(t.out, "%s\n", t.style.Wrap("Type one of the letters; after \"n\" you can say why.", 0, 0))
	}
	return invoke.Answer{Reason: "no clear answer"}, nil
}

// maxTries is how often a line that is no answer is asked about again.
const maxTries = 3

// letters are what a person types.
var letters = map[invoke.Keep]string{invoke.ForSession: "s", invoke.Always: "a"}

func choices(q invoke.Question) string {
	s := "y once"
	for _, k := range q.Keeps {
		switch k {
		case invoke.ForSession:
			s += " / s this session"
		case invoke.Always:
			s += " / a always"
		}
	}
	return s + " / n no, why [n]: "
}

// answer reads a line. ok is false for what means nothing: a yes is never
// guessed.
func answer(line string, q invoke.Question) (a invoke.Answer, ok bool) {
	word, rest, _ := strings.Cut(line, " ")
	word = strings.ToLower(strings.TrimRight(word, ",:;."))
	rest = strings.TrimSpace(rest)
	switch word {
	case "", "n", "no":
		return invoke.Answer{Reason: rest}, true
	case "y", "yes":
		return invoke.Answer{Allow: true}, rest == ""
	}
	for _, k := range q.Keeps {
		if word == letters[k] || word == string(k) {
			return invoke.Answer{Allow: true, Keep: k}, rest == ""
		}
	}
	return invoke.Answer{}, false
}

// Confirm asks a question with yes or no. known is false when the person did
// not answer.
func (t *Terminal) Confirm(ctx context.Context, text, question string) (yes, known bool, err error) {
	release, err := t.hold(ctx)
	if err != nil {
		return false, false, err
	}
	defer release()
	if _, err := io.WriteString(t.out, text); err != nil {
		return false, false, fmt.Errorf("asking on the terminal: %w", err)
	}
	for range maxTries {
		line, err := t.prompt(ctx, t.style.Bold(question+" y / n: "))
		switch {
		case errors.Is(err, errEnd):
			return false, false, nil
		case err != nil:
			return false, false, err
		}
		switch strings.ToLower(line) {
		case "y", "yes":
			return true, true, nil
		case "n", "no":
			return false, true, nil
		}
	}
	return false, false, nil
}
