package lint

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/knack-skills/knack/gitignore"
	"github.com/knack-skills/knack/permission"
	"github.com/knack-skills/knack/skill"
	"github.com/knack-skills/knack/text"
)

// visible returns what a listing would say of s, whole and cut to limit
// characters (spec L-1, L-2). Bundled skills are never shortened (spec L-3).
func visible(s skill.Summary, from skill.Source, limit int) (whole, shown string) {
	whole = text.Line(s.Description)
	if when := text.Line(s.WhenToUse); when != "" {
		if whole != "" {
			whole += " - "
		}
		whole += when
	}
	if from == skill.Bundled {
		return whole, whole
	}
	return whole, text.Cut(whole, limit)
}

// descriptionMissing reports a skill that its author did not describe, so that
// a model reads whatever stands first in the body.
func descriptionMissing(f *file, _ Options) []skill.Problem {
	if f.Description != "" && !f.DescriptionFallback {
		return nil
	}
	p := skill.Problem{
		Code: "description-missing", Severity: skill.Warning, Path: f.Origin.Path,
		Message: "no description: a model cannot tell when to use this skill",
		Fix:     `add description: "what it does. Use when ..." to the frontmatter`,
	}
	if f.Description != "" {
		p.Message = fmt.Sprintf("no description: a model reads %q from the body instead", text.Cut(text.Terminal(f.Description), 60))
	}
	if f.Trigger.HiddenFromModel {
		p.Severity = skill.Info
	}
	p.Line, p.Column = f.field("description")
	return []skill.Problem{p}
}

// triggerWords are the usual ways to say when a skill applies. A description
// that is cut before them loses what chooses the skill.
var triggerWords = regexp.MustCompile(`(?i)\b(use (this|it|when|for|if|to|after|before)|used (when|for|to)|when (the|a|an|you|user|users|asked|working)\b|whenever|trigger|triggers|invoke|applies to|asks? (for|to|about)|mentions?)`)

// descriptionCut reports text that no model sees, because a listing stops
// before it (spec L-2). when_to_use stands behind the description, so it goes
// first.
func descriptionCut(f *file, o Options) []skill.Problem {
	if f.Trigger.HiddenFromModel || f.DescriptionFallback {
		return nil
	}
	whole, shown := visible(f.Summary, f.Origin.Source, o.maxDescChars())
	if whole == shown {
		return nil
	}
	seen := utf8.RuneCountInString(shown)
	lost := whole[len(strings.TrimSuffix(shown, "…")):]
	p := skill.Problem{
		Code: "description-cut", Severity: skill.Info, Path: f.Origin.Path,
		Message: fmt.Sprintf("a model sees %d of %d characters, up to %q", seen, utf8.RuneCountInString(whole), tail(shown, 40)),
		Fix:     "put the words that should choose the skill first, and shorten the rest",
	}
	switch {
	case f.WhenToUse != "":
		p.Severity = skill.Warning
		p.Message += "; when_to_use is cut, as it stands behind the description"
	case triggerWords.MatchString(lost):
		p.Severity = skill.Warning
		p.Message += "; the words that say when to use it are cut"
	}
	p.Line, p.Column = f.field("description")
	if p.Line == 0 {
		p.Line, p.Column = f.field("when-to-use")
	}
	return []skill.Problem{p}
}

// tail returns the last n characters of s.
func tail(s string, n int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-n):])
}

// nameDiffers reports a display name other than the directory, by which the
// skill is called (spec C-6).
func nameDiffers(f *file, _ Options) []skill.Problem {
	if f.Name == "" || f.Origin.Dir == "" || f.Origin.Source == skill.Legacy {
		return nil
	}
	dir := filepath.Base(f.Origin.Dir)
	if f.Name == dir {
		return nil
	}
	line, column := f.field("name")
	return []skill.Problem{{
		Code: "name-differs-from-directory", Severity: skill.Info,
		Path: f.Origin.Path, Line: line, Column: column,
		Message: fmt.Sprintf("the name is %q, but the skill is called by its directory, /%s", f.Name, dir),
		Fix:     "rename the directory, or remove the name",
	}}
}

// oddTool finds what the name of a tool cannot hold. Wildcards can, and so can
// the colons inside the names of servers of plugins.
var oddTool = regexp.MustCompile(`[;=<>{}\[\]!&|#]|:$`)

// ruleProblems reports permission rules that cannot be read or can match
// nothing (spec F-6).
func ruleProblems(f *file, _ Options) []skill.Problem {
	var found []skill.Problem
	for _, list := range []struct {
		key   string
		rules []string
	}{{"allowed-tools", f.Run.AllowedTools}, {"disallowed-tools", f.Run.DisallowedTools}} {
		for _, rule := range list.rules {
			line, column := f.item(list.key, rule)
			p := skill.Problem{Path: f.Origin.Path, Line: line, Column: column}
			parsed, err := permission.ParseRule(rule)
			if err != nil && f.told("unclosed-rule", rule) {
				continue // one fault, one problem
			}
			if err != nil {
				p.Code, p.Severity = "rule-syntax", skill.Error
				p.Message = fmt.Sprintf("%s: %q is no rule: %v", list.key, rule, err)
				p.Fix = "write Tool or Tool(specifier), such as Bash(git log:*)"
				found = append(found, p)
				continue
			}
			why := permission.NeverMatches(parsed)
			if odd := oddTool.FindString(parsed.Tool); why == "" && odd != "" {
				why = fmt.Sprintf("no tool has %q in its name", odd)
			}
			if why != "" && !f.told("rule-never-matches", rule) {
				p.Code, p.Severity = "rule-never-matches", skill.Warning
				p.Message = fmt.Sprintf("%s: %q can match nothing: %s", list.key, rule, why)
				p.Fix = "correct the rule, or remove it"
				found = append(found, p)
			}
		}
	}
	return found
}

// pathProblems reports patterns of paths that no file can match, so that they
// never activate the skill (spec D-4).
func pathProblems(f *file, _ Options) []skill.Problem {
	var found []skill.Problem
	positive := false
	for _, pattern := range f.Trigger.Paths {
		if strings.HasPrefix(pattern, "!") {
			continue
		}
		why := patternNeverMatches(pattern)
		if why == "" {
			positive = true
			continue
		}
		line, column := f.item("paths", pattern)
		found = append(found, skill.Problem{
			Code: "pattern-never-matches", Severity: skill.Warning,
			Path: f.Origin.Path, Line: line, Column: column,
			Message: fmt.Sprintf("paths: %q can match no file: %s", pattern, why),
			Fix:     "write a gitignore pattern relative to the project, such as src/**/*.ts",
		})
	}
	if len(f.Trigger.Paths) > 0 && !positive && len(found) == 0 {
		line, column := f.field("paths")
		found = append(found, skill.Problem{
			Code: "pattern-never-matches", Severity: skill.Warning,
			Path: f.Origin.Path, Line: line, Column: column,
			Message: "paths: all patterns exclude files, so no file activates the skill",
			Fix:     `start with a pattern that includes, such as "**"`,
		})
	}
	return found
}

var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// patternNeverMatches says why a pattern matches no path below the project,
// or "".
func patternNeverMatches(pattern string) string {
	switch {
	case strings.TrimSpace(pattern) == "":
		return "it is empty"
	case strings.HasPrefix(pattern, "#"):
		return "it is a comment"
	case strings.HasPrefix(pattern, "~"):
		return "~ is not expanded, and files outside the project are never matched"
	case drive.MatchString(pattern):
		return "it is an absolute path"
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		if segment == "." || segment == ".." {
			return fmt.Sprintf("no path contains %q", segment)
		}
	}
	if opened := strings.LastIndexByte(pattern, '['); opened >= 0 {
		if !strings.Contains(pattern[opened:], "]") {
			return `"[" is not closed`
		}
		return "" // classes have no simple example to try
	}
	example := strings.NewReplacer(`\`, "", "**", "a", "*", "a", "?", "a").Replace(strings.Trim(pattern, "/"))
	if _, ok := gitignore.Compile(pattern).Match(example, strings.HasSuffix(pattern, "/")); !ok {
		return "it is not a well-formed gitignore pattern"
	}
	return ""
}
