// Package listing writes what a model is told of the skills that exist, within
// a budget (spec chapter 3). It decides nothing about who may see what: its
// callers pass the entries to list. All functions are pure and safe for
// concurrent use.
package listing

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// The policy of spec L-2 and L-3.
const (
	charsPerToken   = 4
	defaultFraction = 0.01
	defaultBudget   = 8000 // characters, when the context window is unknown
	defaultMaxDesc  = 250  // characters of one entry's text
	minShare        = 20   // characters: a share below shows nothing useful
	rankedFloor     = 60   // characters everybody gets before rank counts (Ranked)
	namesOverBudget = 2    // times the budget that bare names may take
	compactedPart   = 8    // part of the budget for names after compaction (L-7)
	namesPerLine    = 10   // after compaction (L-7)
)

// A Mode says how an over-full budget is shared (spec L-3, L-5).
type Mode string

// The modes.
const (
	Equal  Mode = "equal"  // the default
	Ranked Mode = "ranked" // by Entry.Rank
)

// Options is the budget policy. The zero value is the default (spec L-2).
// Negative numbers and fractions outside (0,1] count as zero.
type Options struct {
	ContextTokens int     // size of the context window; zero means unknown
	Fraction      float64 // share of the window in (0,1]; zero means 0.01
	Chars         int     // fixed budget in characters; zero derives it from the window
	MaxDescChars  int     // cap of each entry's text in characters; zero means 250
	Mode          Mode    // empty means Equal
	CharsOnly     bool    // switches the token-true mode (spec L-4) off
}

// BudgetChars returns the budget in characters (spec L-2).
func (o Options) BudgetChars() int {
	if o.Chars > 0 {
		return o.Chars
	}
	if o.ContextTokens <= 0 {
		return defaultBudget
	}
	fraction := o.Fraction
	if !(fraction > 0 && fraction <= 1) {
		fraction = defaultFraction
	}
	// The small addend makes 0.29 of 100 what people expect of decimal numbers.
	return int(math.Floor(float64(o.ContextTokens)*charsPerToken*fraction + 1e-6))
}

// maxDesc returns the cap of each entry's text in characters.
func (o Options) maxDesc() int {
	if o.MaxDescChars > 0 {
		return o.MaxDescChars
	}
	return defaultMaxDesc
}

// An Entry is one skill to list.
type Entry struct {
	skill.Summary
	Pinned   bool    // bundled: never shortened
	NameOnly bool    // skillOverrides: name-only
	Rank     float64 // Ranked mode and name-only overflow: higher is kept longer
}

// A Line is one printed entry and what happened to it (spec L-10, K-4).
type Line struct {
	ID        string `json:"id"`
	Line      string `json:"line"`      // as printed, without the newline
	Shortened bool   `json:"shortened"` // less is printed than the author wrote
	Reason    string `json:"reason"`    // why; empty when the entry is complete
}

// A Listing is the result.
type Listing struct {
	BudgetChars int             // characters allowed
	UsedChars   int             // entry lines with their newlines, without the wrapper
	EstTokens   int             // estimated tokens of Text
	Step        int             // 1, 2 or 3 (spec L-3)
	Text        string          // exactly what is sent; empty when there are no entries
	Lines       []Line          // the printed lines, in order
	Omitted     int             // entries that not even their name was printed of
	Problems    []skill.Problem // one per kind of shortening, with how to fix it
}

// Format lists entries, in the order given. Each skill has one line,
//
//   - id: description - when to use
//
// or "- id" alone; what does not fit is degraded as spec L-3 says. A bigger
// budget never shows less of any skill.
func Format(entries []Entry, o Options) Listing {
	if len(entries) == 0 {
		return Listing{BudgetChars: o.BudgetChars(), Step: 1}
	}
	p := newPlan(entries, o)
	l := p.listing()
	wrap(&l, listingIntro, body(l.Lines)+more(l.Omitted))
	return l
}

// body joins the printed lines.
func body(lines []Line) string {
	size := 0
	for i := range lines {
		size += len(lines[i].Line) + 1
	}
	var b strings.Builder
	b.Grow(size)
	for i := range lines {
		b.WriteString(lines[i].Line)
		b.WriteByte('\n')
	}
	return b.String()
}

// wrap completes l with the text that is sent.
func wrap(l *Listing, intro, body string) {
	l.Text = reminderOpen + intro + "\n" + body + reminderClose
	l.EstTokens = text.Tokens(l.Text)
}

// count returns the characters of lines, with newlines.
func count(lines []Line) int {
	n := 0
	for i := range lines {
		n += utf8.RuneCountInString(lines[i].Line) + 1
	}
	return n
}
