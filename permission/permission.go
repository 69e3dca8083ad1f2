// Package permission decides what may run: rules, their order, and shell lines
// read by a real parser (spec chapter 6). Deciding is pure: nothing is asked,
// stored or run here, and no file is looked at; the caller says where links
// lead ([Request.Links], [Input.RealPath]).
//
// Rules about Bash are compared with simple commands, word by word after their
// quotes are resolved. "git commit:*" and "git commit *" mean these words first;
// a * anywhere else is any text of the command; everything else is exact. Allow
// rules see what stands there; deny and ask rules also see what sudo, bash -c
// and the like are told to run, a program by its plain name, and a skill by all
// its names. What cannot be seen is never allowed by a rule about one command,
// and asks when some other rule could refuse it.
//
// Rules about text are no sandbox: an allowed interpreter or build tool runs
// what it likes, and so does a file that is allowed to be written.
//
// All values are data. Nothing here is shared between calls, so everything is
// safe for concurrent use as long as nobody changes a Rules while it decides.
package permission

import (
	"slices"
)

// A Verdict is a decision. The zero value is Ask: nothing is allowed by
// accident.
type Verdict int

// The verdicts.
const (
	Ask Verdict = iota
	Allow
	Deny
)

// String returns ask, allow or deny, the words of spec K-8.
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Deny:
		return "deny"
	}
	return "ask"
}

// A Rule is one parsed line of a list, such as "Bash(git log:*)" (spec S-1).
type Rule struct {
	Text      string // as written
	Tool      string
	Specifier string // without the parentheses
	HasSpec   bool
	From      string // settings file or "skill deploy", "--allowedTools", ...
	Scope     string // managed, command-line, local, project, user, skill, session, built-in
	Root      string // directory that "/x" in a path specifier is relative to; empty means the working directory
}

// Rules are the three lists in force (spec S-1). The caller has merged all
// levels and left out what trust forbids (spec S-9).
type Rules struct {
	Deny, Ask, Allow []Rule
}

// With returns r with more rules allowed; r is not changed.
func (r Rules) With(allow ...Rule) Rules {
	r.Allow = slices.Concat(r.Allow, allow)
	return r
}

// A Request is one thing somebody wants to do.
type Request struct {
	Tool  string
	Input Input
	// WorkDir and Home resolve relative and "~" paths in commands and rules.
	WorkDir, Home string
	// MoreDirs are further directories that belong to the workspace, absolute,
	// links followed and not: what may be read in WorkDir may be read there.
	// Relative paths and rules do not see them.
	MoreDirs []string
	// Links returns where an absolute path leads once its links are followed
	// (spec S-8); it is asked about the files that the request names, those in a
	// shell line included. Nil takes every path for what it says.
	Links func(path string) string
}

// Input is the part of a tool's input that rules speak of. Only the fields of
// the tool in question are set.
type Input struct {
	Command string // Bash
	Path    string // Read, Edit, Write, ...
	// RealPath is where Path leads once links are followed (spec S-8); empty
	// leaves the question to Links.
	RealPath string
	URL      string   // WebFetch
	Skill    string   // Skill: catalog id
	Aliases  []string // Skill: display name, qualified ids and other names; deny rules see them
	Args     string   // Skill
	Agent    string   // Agent
}

// A Try is one rule that was looked at (spec K-8).
type Try struct {
	List    string // deny, ask or allow
	Rule    Rule
	Matched bool
	Part    string // the simple command or path it was tried on
}

// A Decision is a verdict with its reasons.
type Decision struct {
	Verdict Verdict
	Rule    *Rule    // the rule that decided; nil when none did
	Part    string   // Bash: the simple command that decided
	Reason  string   // a sentence for a person: what, where, and the rule that would allow it
	Suggest []string // rules that would allow it
	// Firm marks an Ask that no permission mode may skip: an ask rule, a
	// protected path, the removal of a directory one stands in (spec S-10).
	Firm bool
	// Tried holds the rules for this tool in the order they were tried: every
	// one that matched, and the first 32 that did not.
	Tried []Try
}
