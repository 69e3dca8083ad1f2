// Package scan looks for what a skill could do to the person who installs it
// (spec S-16): hidden text, instructions against the person, commands that fetch
// and run, secrets, grants, hooks, links and names. rules.go is the policy.
//
// It reads and never runs, follows no link, and asks no network. Shell text is
// judged as a shell would read it, so quotes do not hide a command; other
// languages are judged by patterns. A scanner finds carelessness and plain
// attacks. Text that says nothing suspicious can still do harm: a clean report
// is no proof.
//
// What only explains a command, or quotes an attack to warn of it, is graded
// lower (info) and still reported; what runs without anybody reading it (inline
// commands, hooks, scripts) is never excused.
package scan

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/knack-skills/knack/catalog"
	"github.com/knack-skills/knack/frontmatter"
	"github.com/knack-skills/knack/skill"
)

// A Finding is one thing that a rule found.
type Finding struct {
	Rule     Rule
	Severity skill.Severity // may be lower than that of the rule
	Path     string
	Line     int    // from 1; 0 when the finding is about the whole file
	Column   int    // from 1, in characters
	Where    string // one of the places of the rules
	Message  string // one sentence about this place
	Excerpt  string // the line, safe for a terminal; empty for whole files
}

// Problem returns f in the form of all problems (spec K-6).
func (f Finding) Problem() skill.Problem {
	message := f.Message
	if f.Excerpt != "" {
		message += ": " + f.Excerpt
	}
	return skill.Problem{Code: f.Rule.Name, Severity: f.Severity, Message: message,
		Path: f.Path, Line: f.Line, Column: f.Column, Fix: f.Rule.Fix}
}

// Options say what a scan may compare with.
type Options struct {
	// Catalog holds the skills whose names must not be imitated; nil compares
	// with none.
	Catalog *catalog.Snapshot
	// Boundary is how far links of a skill may lead, such as the root of its
	// plugin; empty means the skill's own directory.
	Boundary string
}

// A Scanner scans skills. It is safe for concurrent use.
type Scanner struct {
	opts  Options
	names func() *names
}

// New returns a scanner.
func New(opts Options) *Scanner {
	s := &Scanner{opts: opts}
	s.names = sync.OnceValue(func() *names { return newNames(opts.Catalog) })
	return s
}

// Skill scans one skill of this machine: its file, and the files beside it
// unless it is a command file. The error is only that of ctx.
func (s *Scanner) Skill(ctx context.Context, sk *skill.Skill) ([]Finding, error) {
	var found []Finding
	path := sk.Origin.Path
	if path != "" {
		data, note := readFile(path)
		switch {
		case note != "":
			found = append(found, whole(notScanned, skill.Warning, path, InBody, note))
		default:
			found = append(found, s.skillFile(sk, data)...)
		}
	}
	found = append(found, s.names().check(sk)...)
	if dir := sk.Origin.Dir; dir != "" && sk.Origin.Source != skill.Legacy {
		more, err := s.tree(ctx, dir, cmp.Or(s.opts.Boundary, dir), func(p string) bool { return p == path })
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return sorted(found), ctx.Err()
}

// Tree scans the files below dir that are not skills, such as the hooks and
// scripts of a plugin. skip leaves out files and directories. The error is only
// that of ctx.
func (s *Scanner) Tree(ctx context.Context, dir string, skip func(path string) bool) ([]Finding, error) {
	found, err := s.tree(ctx, dir, cmp.Or(s.opts.Boundary, dir), skip)
	return sorted(found), err
}

// Text scans the text of one file; what the file is follows from its name.
// Nothing is read from disk.
func (s *Scanner) Text(path, text string) []Finding {
	if isSkillFile(path) {
		return sorted(s.skillFile(fromText(path, text), []byte(text)))
	}
	return sorted(scanFile(path, []byte(text), 0))
}

// fromText makes a skill of text alone.
func fromText(path, text string) *skill.Skill {
	d, _ := frontmatter.Parse(path, []byte(text))
	sk := &skill.Skill{Origin: skill.Origin{Path: path}}
	d.Fill(sk, false)
	return sk
}

// skillFile scans SKILL.md or a command file.
func (s *Scanner) skillFile(sk *skill.Skill, data []byte) []Finding {
	f := newFile(sk.Origin.Path, data)
	if note := unreadable(data); note != "" {
		return []Finding{whole(notScanned, skill.Warning, f.path, InBody, note)}
	}
	f.body = bodyOffset(f.text)
	f.hidden()
	f.markdown()
	f.inlineCommands()
	f.grants(sk)
	f.hooks(sk.Run.Hooks)
	return f.findings()
}

// bodyOffset returns where the body begins.
func bodyOffset(text string) int {
	_, line, err := frontmatter.SplitBody([]byte(text))
	if err != nil {
		return 0
	}
	at := 0
	for range line - 1 {
		i := strings.IndexAny(text[at:], "\r\n")
		if i < 0 {
			break
		}
		at += i + 1
		if text[at-1] == '\r' && at < len(text) && text[at] == '\n' {
			at++
		}
	}
	return at
}

// whole is a finding about a whole file.
func whole(rule string, sev skill.Severity, path, where, message string) Finding {
	return Finding{Rule: ruleNamed(rule), Severity: sev, Path: path, Where: where, Message: message}
}

// sorted orders findings by place and drops repetitions.
func sorted(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			strings.Compare(a.Rule.ID, b.Rule.ID), rank(a.Severity)-rank(b.Severity), cmp.Compare(a.Column, b.Column))
	})
	// One rule says one thing about one line: the worst.
	return slices.CompactFunc(found, func(a, b Finding) bool {
		return a.Path == b.Path && a.Line == b.Line && a.Rule.ID == b.Rule.ID && (a.Line > 0 || a.Message == b.Message)
	})
}

func rank(s skill.Severity) int {
	return slices.Index([]skill.Severity{skill.Error, skill.Warning, skill.Info}, s)
}

// lower returns the severity one step below s.
func lower(s skill.Severity) skill.Severity {
	if s == skill.Error {
		return skill.Warning
	}
	return skill.Info
}

func isSkillFile(path string) bool {
	return strings.EqualFold(filepath.Base(path), "SKILL.md")
}

// maxPerRule is how many findings of one rule are told of one file.
const maxPerRule = 20

// capped folds what one rule says too often about one file.
func capped(found []Finding) []Finding {
	count := map[string]int{}
	kept := found[:0:0]
	for _, f := range found {
		if count[f.Rule.ID]++; count[f.Rule.ID] <= maxPerRule {
			kept = append(kept, f)
		}
	}
	for i := range kept {
		r := kept[i].Rule.ID
		if more := count[r] - maxPerRule; more > 0 && !slices.ContainsFunc(kept[i+1:], func(f Finding) bool { return f.Rule.ID == r }) {
			kept[i].Message += fmt.Sprintf(" (and %d more of this kind in this file)", more)
		}
	}
	return kept
}
