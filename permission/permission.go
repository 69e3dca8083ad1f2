// Package permission decides what may run: rules, their order, and shell lines
// read by a real parser (spec chapter 6). Deciding is pure: nothing is asked,
// stored or run here.
package permission

import "github.com/knack-skills/knack/skill"

// A Verdict is a decision. The zero value is Ask: nothing is allowed by
// accident.
type Verdict int

// The verdicts.
const (
	Ask Verdict = iota
	Allow
	Deny
)

func (v Verdict) String() string { panic("to be written") }

// A Rule is one parsed line of a list, such as "Bash(git log:*)" (spec S-1).
type Rule struct {
	Text      string // as written
	Tool      string
	Specifier string // without the parentheses
	HasSpec   bool
	From      string // settings file or "skill deploy", "--allowedTools", ...
	Scope     string // managed, command-line, local, project, user, skill, session, built-in
	Root      string // directory that "/x" in a path specifier is relative to
}

// ParseRule reads one rule. The error says what is wrong and how to write it.
func ParseRule(text string) (Rule, error) { panic("to be written") }

// Rules are the three lists in force (spec S-1). The caller has merged all
// levels and left out what trust forbids (spec S-9).
type Rules struct {
	Deny, Ask, Allow []Rule
}

// With returns r with more rules allowed; r is not changed.
func (r Rules) With(allow ...Rule) Rules { panic("to be written") }

// A Request is one thing somebody wants to do.
type Request struct {
	Tool  string
	Input Input
	// WorkDir and Home resolve relative and "~" paths in commands and rules.
	WorkDir, Home string
}

// Input is the part of a tool's input that rules speak of. Only the fields of
// the tool in question are set.
type Input struct {
	Command string   // Bash
	Path    string   // Read, Edit, Write, ...
	URL     string   // WebFetch
	Skill   string   // Skill: catalog id
	Aliases []string // Skill: display name, qualified ids and other names; deny rules see them
	Args    string   // Skill
	Agent   string   // Agent
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
	Tried   []Try
}

// Decide applies deny, then ask, then allow, then the built-in read-only table
// (spec S-1, S-7). It is total: every request gets a decision.
func (r Rules) Decide(req Request) Decision { panic("to be written") }

// UnsafeProperties returns the names of the properties of s that keep it from
// being allowed without asking (spec S-4), in the spelling of frontmatter. A
// property that nobody listed as safe is unsafe.
func UnsafeProperties(s *skill.Skill) []string { panic("to be written") }

// NeverMatches reports why a rule can match nothing, or "" (spec F-6).
func NeverMatches(r Rule) string { panic("to be written") }
