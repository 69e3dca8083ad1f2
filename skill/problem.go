package skill

import (
	"cmp"
	"fmt"
	"strings"
)

// A Severity grades a [Problem].
type Severity string

// The severities. An Error means that something was lost or refused, a Warning
// that the author probably meant something else, Info is a hint.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// A Problem is a finding about one file that does not stop the rest from
// loading (spec F-3). Problems are data: they are listed, not returned as
// errors. Code is a stable word such as "yaml-recovered" (spec K-1).
type Problem struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`   // from 1; 0 when the finding is about the whole file
	Column   int      `json:"column"` // from 1, in characters; 0 when unknown
	Fix      string   `json:"fix"`    // what to do about it
}

// String renders p on one line: path:line:column: severity: message [code]. A
// problem of no file starts with its severity.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: %s [%s]", p.Severity, p.Message, p.Code)
	return b.String()
}

// CompareProblems orders problems by path, line, column and code, so that the
// same tree gives the same report on every run (spec C-11).
func CompareProblems(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
	)
}
