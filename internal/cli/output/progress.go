package output

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A Progress shows how far a command has come, on a terminal, once it has taken
// longer than a second.
type Progress struct {
	w     io.Writer
	verb  string
	shown bool
	start time.Time
	last  time.Time
}

// NewProgress returns a progress line such as "checked 3 of 10". It stays silent
// when w is no terminal.
func NewProgress(w io.Writer, verb string) *Progress {
	p := &Progress{verb: verb, start: time.Now()}
	if f := terminal(w); f != nil {
		p.w = w
	}
	return p
}

// Step says that i of n are done.
func (p *Progress) Step(i, n int) {
	now := time.Now()
	if p.w == nil || now.Sub(p.start) < time.Second || now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.w, "\r%s %d of %d", p.verb, i, n)
}

// Done removes the line.
func (p *Progress) Done() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// Waiting tells what a command waits for, once it has taken longer than a second:
// on a terminal in a line that goes away, else once. stop ends it and waits until
// nothing more is written.
func Waiting(w io.Writer, what string) (stop func()) {
	var mu sync.Mutex
	shown, done := false, false
	timer := time.AfterFunc(time.Second, func() {
		mu.Lock()
		defer mu.Unlock()
		if done {
			return
		}
		shown = true
		if terminal(w) != nil {
			fmt.Fprintf(w, "%s ...", what)
		} else {
			fmt.Fprintf(w, "%s ...\n", what)
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if done = true; shown && terminal(w) != nil {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}
