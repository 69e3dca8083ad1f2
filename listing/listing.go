// Package listing writes what a model is told of the skills that exist, within
// a budget (spec chapter 3). It decides nothing about who may see what: its
// callers pass the entries to list. All functions are pure.
package listing

import "github.com/knack-skills/knack/skill"

// A Mode says how an over-full budget is shared (spec L-3, L-5).
type Mode string

// The modes.
const (
	Equal  Mode = "equal"  // the default
	Ranked Mode = "ranked" // by Entry.Rank
)

// Options is the budget policy. The zero value is the default (spec L-2).
type Options struct {
	ContextTokens int     // size of the context window; zero means unknown
	Fraction      float64 // share of the window in (0,1]; zero means 0.01
	Chars         int     // fixed budget in characters; zero derives it from the window
	MaxDescChars  int     // cap of each entry's text in characters; zero means 250
	Mode          Mode    // empty means Equal
	CharsOnly     bool    // switches the token-true mode (spec L-4) off
}

// BudgetChars returns the budget in characters (spec L-2).
func (o Options) BudgetChars() int { panic("to be written") }

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
	Line      string `json:"line"`
	Shortened bool   `json:"shortened"`
	Reason    string `json:"reason"`
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

// Format lists entries, in the order given.
func Format(entries []Entry, o Options) Listing { panic("to be written") }

// Names writes what is sent after compaction (spec L-7): one line per ten names
// within an eighth of the budget, highest rank first, then how many more.
func Names(entries []Entry, o Options) Listing { panic("to be written") }

// A Delta is the difference between what an agent was told and what is true
// now (spec L-6).
type Delta struct {
	New, Changed []Entry
	Removed      []string // ids
}

// Empty reports that there is nothing to tell.
func (d Delta) Empty() bool { panic("to be written") }

// Diff compares told (summary by id) with now.
func Diff(told map[string]skill.Summary, now []Entry) Delta { panic("to be written") }

// FormatDelta writes a delta as a reminder message; "" when it is empty. The
// budget applies to the new and changed entries together.
func FormatDelta(d Delta, o Options) Listing { panic("to be written") }

// ToolName and ToolDescription are the constant part of the two channels (spec
// L-1): no skill names in it, ever.
const ToolName = "Skill"

// ToolDescription returns the fixed instructions of the Skill tool.
func ToolDescription() string { panic("to be written") }
