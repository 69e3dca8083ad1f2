package prompt

import "strings"

// A writer builds the final text and its trace (spec P-14). The spans follow
// each other without a gap and cover the text.
type writer struct {
	body   string
	at     position
	line   int // line of the file on which the body begins
	done   int // offset in the body up to which it is written or left out
	copied int // offset in the body up to which the last copy went
	b      strings.Builder
	spans  []Span
}

// copy writes the body up to offset end as it is.
func (w *writer) copy(end int) {
	if end <= w.done {
		return
	}
	text := w.body[w.done:end]
	if n := len(w.spans); n > 0 && w.spans[n-1].Kind == "body" && w.copied == w.done {
		w.b.WriteString(text)
		w.spans[n-1].End = w.b.Len()
	} else {
		w.place(text, Span{Kind: "body"})
	}
	w.done, w.copied = end, end
}

// skip leaves the body out up to offset end.
func (w *writer) skip(end int) { w.done = end }

// insert writes text in place of the body up to offset end.
func (w *writer) insert(end int, text string, s Span) {
	w.place(text, s)
	w.done = end
}

// place writes text, which comes from the present place in the body.
func (w *writer) place(text string, s Span) {
	line, column := w.at.advance(w.done)
	s.Line, s.Column = w.line+line-1, column
	w.add(text, s)
}

// add writes text that has no place in the body.
func (w *writer) add(text string, s Span) {
	s.Start = w.b.Len()
	w.b.WriteString(text)
	s.End = w.b.Len()
	w.spans = append(w.spans, s)
}

// blankLine returns what has to follow so that the next text stands after one
// blank line.
func (w *writer) blankLine() string {
	switch text := w.b.String(); {
	case text == "" || strings.HasSuffix(text, "\n\n"):
		return ""
	case strings.HasSuffix(text, "\n"):
		return "\n"
	}
	return "\n\n"
}
