// Package skill defines what a skill is. It is pure vocabulary: no files are
// read, nothing is run, and no other stage of the pipeline is known here.
//
// A [Skill] is data in five parts; every stage reads only the parts it needs.
// Values are immutable once a source has returned them, so all types here are
// safe to share between goroutines.
package skill

import (
	"context"

	"github.com/knack-skills/knack/hook"
)

// A Skill is one reusable instruction package (spec F-1).
type Skill struct {
	Summary         // what is it?         read by every stage
	Trigger Trigger // who may start it?   read by listing, discovery, invoke
	Run     Run     // how does it run?    read by permission, invoke
	Origin  Origin  // where is it from?   read by catalog, permission, prompt
	Content Content // what does it say?   read by prompt, only when invoked
}

// Summary is the cheap part, always in memory, shown in listings. Two equal
// summaries tell a model the same thing (spec L-6).
type Summary struct {
	ID                  string // unique key, usually the directory name (spec C-6)
	Name                string // display name; empty when the author gave none
	Description         string // author's text or the fallback from the body
	DescriptionFallback bool   // Description was taken from the body
	WhenToUse           string
	ArgumentHint        string
	Version             string
}

// Label returns the display name, or the id when there is none.
func (s Summary) Label() string {
	if s.Name != "" {
		return s.Name
	}
	return s.ID
}

// Trigger says who can start the skill, and when it is visible.
type Trigger struct {
	HiddenFromUser  bool // user-invocable: false
	HiddenFromModel bool // disable-model-invocation: true, or a security field was lost (spec F-3)

	// Conditional is set when the skill is bound to paths (spec D-3). It may be
	// set with no usable pattern: then nothing activates the skill.
	Conditional bool
	Paths       []string // gitignore patterns, braces already expanded

	// Enabled is asked each time a list is built (spec C-9); nil means always.
	Enabled func() bool
}

// A Mode says where the skill's instructions run.
type Mode string

// The two modes (spec I-5, I-8).
const (
	Inline Mode = "inline" // expanded into the current conversation (default)
	Fork   Mode = "fork"   // run by a subagent; only its result comes back
)

// Run is the run-time contract the author asks for. A new field here needs
// approval for every skill that sets it until permission/safe.go lists it
// (spec S-4).
type Run struct {
	Mode            Mode        // empty means Inline
	Agent           string      // subagent type for Fork; empty means general-purpose
	Model           string      // empty inherits
	Effort          string      // low, medium, high, xhigh, max or a number of thinking tokens; empty inherits
	Background      bool        // Fork only: do not wait for the result
	AllowedTools    []string    // permission rules to add, such as "Bash(git *)"
	DisallowedTools []string    // tools refused while the skill is active
	Shell           string      // interpreter of inline commands; empty means bash
	Hooks           hook.Config // registered when the skill is invoked
	Requires        []string    // other skills this one needs (spec G-1)
}

// A Field is one frontmatter entry as the author wrote it.
type Field struct {
	Key   string
	Value string // source text of the value; block scalars folded
}

// Content leads to the expensive part.
type Content struct {
	Arguments []string // declared argument names, in order
	// Positional reports that the author declared arguments or argument-hint,
	// or that the file is a legacy command, so that $1 in code is meant as a
	// placeholder (spec P-4).
	Positional bool
	Bytes      int64   // size of the body in bytes, an estimate from the file size
	Extra      []Field // unknown keys, kept and ignored (spec F-6)
	Body       Body
}

// Instructions are what a skill says, loaded.
type Instructions struct {
	Text string // body, without frontmatter
	Line int    // line of the file on which Text begins, from 1
	Dir  string // directory of the skill's files on this machine; empty if none
	// Note is what the person who invokes the skill should be told, such as that
	// its files could not be extracted (spec B-2); empty if nothing.
	Note string
	// Source is the whole file that Text was read from, with its frontmatter, so
	// that what is approved is what runs (spec S-14); empty when there is none.
	Source string
	// Filled says that the arguments of the call are in Text already: nothing in
	// it is a placeholder for one (see [ArgumentBody]).
	Filled bool
}

// A Body yields the instructions. It is called once per invocation, so edits
// to a file are seen by the next call (spec F-9), and a bundled skill can
// extract its files first. Implementations are safe for concurrent use.
type Body interface {
	Load(ctx context.Context) (Instructions, error)
}

// An ArgumentBody is a [Body] whose text depends on the arguments of the call,
// such as a prompt that a server fills in.
type ArgumentBody interface {
	Body
	LoadFor(ctx context.Context, words []string) (Instructions, error)
}

// BodyFunc is a function used as a [Body].
type BodyFunc func(ctx context.Context) (Instructions, error)

// Load calls f.
func (f BodyFunc) Load(ctx context.Context) (Instructions, error) { return f(ctx) }

// Text is a constant [Body] without files.
type Text string

// Load returns the text.
func (t Text) Load(context.Context) (Instructions, error) {
	return Instructions{Text: string(t), Line: 1}, nil
}
